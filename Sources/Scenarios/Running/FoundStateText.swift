import EntitlementDomain

/// Writes a state that was found in the form in which a scenario expects one.
enum FoundStateText {
  /// What a scenario need not say: it is the question's own, or counts changes.
  private static let passedOver: Set<String> = [
    "bundleId", "environment", "accountId", "revision", "evaluatedAtMs",
  ]

  /// - Parameter state: in the form of ``AnswerShape/state``.
  static func step(
    state: AnswerValue, at moment: Milliseconds, selector: CustomerSelector
  ) -> String {
    var lines = ["  - at: \(moment.exactRFC3339)", "    customer: \(selector.written)"]
    lines.append("    state:")
    guard case .object(let members) = state, case .object(let shapes) = AnswerShape.state else {
      return lines.joined(separator: "\n")
    }
    for (name, value) in members.sorted(by: { $0.key < $1.key }) where !passedOver.contains(name) {
      append(name, value, shapes[name] ?? .text, indent: 6, to: &lines)
    }
    return lines.joined(separator: "\n")
  }

  private static func append(
    _ name: String, _ value: AnswerValue, _ shape: AnswerShape, indent: Int,
    to lines: inout [String]
  ) {
    let margin = String(repeating: " ", count: indent)
    switch (shape, value) {
    case (.moment, .integer(let number)):
      let written = name.hasSuffix("Ms") ? String(name.dropLast(2)) : name
      lines.append("\(margin)\(written): \(Milliseconds(number).exactRFC3339)")
    case (.object(let shapes), .object(let members)):
      lines.append("\(margin)\(name):")
      for (name, value) in members.sorted(by: { $0.key < $1.key }) {
        append(name, value, shapes[name] ?? .text, indent: indent + 2, to: &lines)
      }
    case (.keyed(let key, .object(let shapes)), .list(let items)) where !items.isEmpty:
      lines.append("\(margin)\(name):")
      for item in items {
        guard case .object(var members) = item, let id = members.removeValue(forKey: key) else {
          continue
        }
        append(quoted(id.text), .object(members), .object(shapes), indent: indent + 2, to: &lines)
      }
    case (.list(.object(let shapes)), .list(let items)) where !items.isEmpty:
      lines.append("\(margin)\(name):")
      for case .object(let members) in items {
        var inner: [String] = []
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
          append(name, value, shapes[name] ?? .text, indent: indent + 4, to: &inner)
        }
        guard let first = inner.first else { continue }
        lines.append("\(margin)  - \(first.drop { $0 == " " })")
        lines += inner.dropFirst()
      }
    case (_, .list(let items)):
      lines.append("\(margin)\(name): [\(items.map { quoted($0.text) }.joined(separator: ", "))]")
    case (_, .text(let text)):
      lines.append("\(margin)\(name): \(quoted(text))")
    default:
      lines.append("\(margin)\(name): \(value.text)")
    }
  }

  /// Plain where YAML takes it for nothing but text.
  fileprivate static func quoted(_ text: String) -> String {
    let isPlain = text.wholeMatch(of: #/[A-Za-z][A-Za-z0-9_.-]*|\d+/#) != nil
    if isPlain, text != "null", text != "absent" { return text }
    var object = PayloadObject()
    object["text"] = .text(text)
    // JSON's strings are YAML's too.
    return String(object.text.dropFirst(#"{"text":"#.count).dropLast())
  }
}

extension CustomerSelector {
  /// As a scenario names it.
  fileprivate var written: String {
    let (name, id) =
      switch self {
      case .account(let id): ("account", id.rawValue)
      case .originalTransaction(let id): ("originalTransactionId", id.rawValue)
      case .transaction(let id): ("transactionId", id.rawValue)
      case .appTransaction(let id): ("appTransactionId", id.rawValue)
      case .appAccountToken(let id): ("appAccountToken", id.rawValue)
      }
    return "{\(name): \(FoundStateText.quoted(id))}"
  }
}
