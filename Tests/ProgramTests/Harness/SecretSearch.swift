import Testing

/// Finds what must never be in a log or an error: tokens, private keys, and payloads that Apple
/// signed. Every program that a test runs is searched when it has ended.
enum SecretSearch {
  private static var patterns: [(name: String, pattern: Regex<Substring>)] {
    [
      ("a token", /entl_[0-9A-Za-z]{8}_[0-9A-Za-z]{20,}/),
      ("a private key", /-----BEGIN [A-Z ]*PRIVATE KEY-----/),
      ("a signed payload", /eyJ[0-9A-Za-z_-]{40,}\.[0-9A-Za-z_-]{40,}/),
      ("a password", /postgres(?:ql)?:\/\/[^\s@:\/]+:[^\s@\/]+@/),
    ]
  }

  /// The kinds of secrets in a text.
  static func found(in text: String) -> [String] {
    patterns.compactMap { text.contains($0.pattern) ? $0.name : nil }
  }

  /// Records an issue for each kind of secret in what a program wrote to stderr, its log.
  static func check(errors: String, of program: String) {
    for name in found(in: errors) {
      // Without the text itself, which would be one more place.
      Issue.record("\(program) wrote \(name) to stderr")
    }
  }
}

@Suite("The search for secrets")
struct SecretSearchTests {
  @Test("It finds each kind, and nothing in ordinary lines")
  func kinds() {
    let texts = [
      ("token=entl_k3Jd8sQz_\(String(repeating: "a", count: 49))", ["a token"]),
      ("-----BEGIN EC PRIVATE KEY-----", ["a private key"]),
      (
        "payload eyJ\(String(repeating: "h", count: 60)).\(String(repeating: "b", count: 60)).x",
        ["a signed payload"]
      ),
      ("store postgresql://anna:secret@localhost/entitle", ["a password"]),
      ("store postgresql://anna@localhost/entitle", []),
      ("token_id=k3Jd8sQz digest=\(String(repeating: "0", count: 64))", []),
    ]
    for (text, expected) in texts { #expect(SecretSearch.found(in: text) == expected) }
  }
}
