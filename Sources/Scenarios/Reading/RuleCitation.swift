/// How a scenario names a domain rule or a named case.
enum RuleCitation {
  /// R1 to R52.
  static func isRule(_ text: String) -> Bool { isNumber(after: "R", in: text, upTo: 52) }

  /// "case 1" to "case 26": those of §10.
  static func isCase(_ text: String) -> Bool { isNumber(after: "case ", in: text, upTo: 26) }

  private static func isNumber(after prefix: String, in text: String, upTo last: Int) -> Bool {
    (1...last).contains { text == "\(prefix)\($0)" }
  }
}
