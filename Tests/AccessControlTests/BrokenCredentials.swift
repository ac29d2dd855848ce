import EntitlementDomain
import Testing
import Wire

extension CredentialsFileTests {
  /// A text of the valid file, what replaces it, and the one issue that follows.
  struct Broken: Sendable, CustomTestStringConvertible {
    let text: String
    let replacement: String
    let issue: FileIssue
    /// Whether it can be combined with the others: at most one change of a line, and no line more or
    /// less.
    let isIndependent: Bool

    var testDescription: String {
      "\(text) → \(replacement)".replacing("\n", with: "⏎")
    }

    init(
      _ text: String, _ replacement: String, _ line: Int, _ column: Int, _ field: String,
      _ message: String, isIndependent: Bool = false
    ) {
      self.text = text
      self.replacement = replacement
      self.isIndependent = isIndependent
      issue = FileIssue(
        severity: .error, line: line, column: column, field: field, message: message)
    }
  }

  static let broken = general + names + permissions + apps + proofs + limits

  private static let token = "entl_k3Jd8sQz_" + String(repeating: "q", count: 49)
  private static let grantable =
    "read, list, submit, link, grant, import, export, erase, catalog, metrics, audit, "
    + "credentials, jobs, offers, app_store, fetch, consumption"
  private static let roles = "metrics, reader, submitter, support, auditor, operator, admin"
  private static let allowed =
    "unknown field; allowed: name, roles, permissions, apps, tokens, certificates, users, limits"

  private static let general: [Broken] = [
    Broken(
      "version: 1", "version: 2", 1, 10, "version", "only version 1 is supported",
      isIndependent: true),
    Broken("version: 1\n", "", 1, 1, "version", "missing; the supported version is 1"),
    Broken("    roles: [submitter]", "    role: [submitter]", 4, 5, "callers[0].role", allowed),
    Broken(
      "version: 1", "version: 1\nusers: [1]", 2, 1, "users",
      "unknown field; allowed: version, callers"),
    Broken(
      "  - name: otto@example.com\n    roles: [operator, auditor]\n    users: [0]", "  - otto", 24,
      5, "callers[1]",
      "a mapping is expected, with the fields name, roles, permissions, apps, tokens, "
        + "certificates, users, limits"),
  ]

  private static let names: [Broken] = [
    Broken("- name: otto@example.com\n    roles", "- roles", 24, 5, "callers[1].name", "missing"),
    Broken(
      "name: billing", "name: bill ing", 3, 11, "callers[0].name",
      "an identifier has 1 to 255 bytes, without blanks and control characters"),
    Broken(
      "name: billing", "name: bücher", 3, 11, "callers[0].name",
      "a name has at most 64 letters, digits and . _ - @"),
    Broken(
      "name: billing", "name: \(String(repeating: "a", count: 65))", 3, 11, "callers[0].name",
      "a name has at most 64 letters, digits and . _ - @"),
    Broken("name: billing", "name: [billing]", 3, 11, "callers[0].name", "text is expected"),
    Broken(
      "name: billing", "name: \(token)", 3, 11, "callers[0].name",
      "this is a token, not a name: replace it at once, as the file shows it"),
    Broken(
      "name: billing", "name: local", 3, 11, "callers[0].name", "this name is reserved",
      isIndependent: true),
    Broken("name: billing", "name: server", 3, 11, "callers[0].name", "this name is reserved"),
    Broken("name: otto@example.com", "name: billing", 24, 11, "callers[1].name", "named twice"),
  ]

  private static let permissions: [Broken] = [
    Broken(
      "[submitter]", "[writer]", 4, 13, "callers[0].roles[0]", "unknown role; allowed: \(roles)",
      isIndependent: true),
    Broken("[submitter]", "[reader, reader]", 4, 21, "callers[0].roles[1]", "named twice"),
    Broken("[submitter]", "submitter", 4, 12, "callers[0].roles", "a list is expected"),
    Broken(
      "app_store]", "write]", 5, 27, "callers[0].permissions[1]",
      "unknown permission; allowed: \(grantable)", isIndependent: true),
    Broken(
      "app_store]", "open]", 5, 27, "callers[0].permissions[1]",
      "unknown permission; allowed: \(grantable)"),
    Broken(
      "app_store]", "identity]", 5, 27, "callers[0].permissions[1]",
      "unknown permission; allowed: \(grantable)"),
    Broken("app_store]", "offers]", 5, 27, "callers[0].permissions[1]", "named twice"),
    Broken(
      "    roles: [operator, auditor]\n", "", 24, 5, "callers[1]",
      "roles, permissions or both are needed"),
  ]

  private static let apps: [Broken] = [
    Broken(
      "[Production, Sandbox]", "[Production, Moon]", 7, 40, "callers[0].apps.com.example.scribe[1]",
      "unknown environment; allowed: Production, Sandbox, Xcode, LocalTesting",
      isIndependent: true),
    Broken(
      "[Production, Sandbox]", "[Production, Production]", 7, 40,
      "callers[0].apps.com.example.scribe[1]", "named twice"),
    Broken(
      "[Production, Sandbox]", "[]", 7, 27, "callers[0].apps.com.example.scribe",
      "at least one is needed"),
    Broken(
      "[Production, Sandbox]", "Production", 7, 27, "callers[0].apps.com.example.scribe",
      "a list is expected"),
    Broken(
      "com.example.scribe:", "\"com.example scribe\":", 7, 7, "callers[0].apps.com.example scribe",
      "a bundle id has 1 to 255 bytes, without blanks and control characters"),
    Broken(
      "com.example.scribe:", "\"a\\tb\":", 7, 7, "callers[0].apps.a\\u{9}b",
      "a bundle id has 1 to 255 bytes, without blanks and control characters"),
    Broken(
      "apps:\n      com.example.scribe: [Production, Sandbox]\n      com.example.notes: [Sandbox]",
      "apps: {}", 6, 11, "callers[0].apps",
      "at least one app is needed; without apps, a caller may use all"),
    Broken(
      "apps:\n      com.example.scribe: [Production, Sandbox]\n      com.example.notes: [Sandbox]",
      "apps: [com.example.scribe]", 6, 11, "callers[0].apps",
      "a mapping of bundle ids to environments, such as com.example.scribe: [Production], is "
        + "expected"),
  ]

  private static let proofs: [Broken] = [
    Broken(
      "id: k3Jd8sQz", "id: k3Jd8sQ", 10, 13, "callers[0].tokens[0].id",
      "the id of a token has 8 letters and digits; make tokens with `entitlectl token create`",
      isIndependent: true),
    Broken(
      "id: k3Jd8sQz", "id: k3Jd8sQ-", 10, 13, "callers[0].tokens[0].id",
      "the id of a token has 8 letters and digits; make tokens with `entitlectl token create`"),
    Broken(
      "- id: k3Jd8sQz\n        sha256", "- sha256", 10, 9, "callers[0].tokens[0].id", "missing"),
    Broken("id: p0Lm2xYw", "id: k3Jd8sQz", 13, 13, "callers[0].tokens[1].id", "named twice"),
    Broken(
      "sha256: \(first)", "sha256: \(first)0", 11, 17, "callers[0].tokens[0].sha256",
      "64 hexadecimal digits are expected", isIndependent: true),
    Broken(
      "sha256: \(first)", "sha256: \(token)", 11, 17, "callers[0].tokens[0].sha256",
      "this is a token itself: replace it at once, as the file shows it; its SHA-256 belongs here"),
    Broken("        sha256: \(first)\n", "", 10, 9, "callers[0].tokens[0].sha256", "missing"),
    Broken(second, first, 14, 17, "callers[0].tokens[1].sha256", "the same token twice"),
    Broken(
      second, first.uppercased(), 14, 17, "callers[0].tokens[1].sha256", "the same token twice"),
    Broken(
      "        expires: never\n", "", 13, 9, "callers[0].tokens[1].expires",
      "missing: a moment such as 2027-01-31T00:00:00Z, or never"),
    Broken(
      "expires: never", "expires: soon", 15, 18, "callers[0].tokens[1].expires",
      "a moment such as 2024-03-01T00:00:00Z or 2024-03-01T00:00:00+01:00, or milliseconds since "
        + "1970, is expected", isIndependent: true),
    Broken(
      "expires: never", "expires: 1801353600", 15, 18, "callers[0].tokens[1].expires",
      "a moment from 2008-07-10, when the App Store opened, to the year 9999 is expected; "
        + "numbers are milliseconds"),
    Broken(
      "        expires: never", "        expires: never\n        name: x", 16, 9,
      "callers[0].tokens[1].name", "unknown field; allowed: id, sha256, expires"),
    Broken(
      "        expires: never", "        expires: never\n        \(token): x", 16, 9,
      "callers[0].tokens[1].(hidden)", "unknown field; allowed: id, sha256, expires"),
    Broken(
      "        expires: never", "        expires: never\n        \(first): x", 16, 9,
      "callers[0].tokens[1].(hidden)", "unknown field; allowed: id, sha256, expires"),
    Broken(
      "\"dns:Billing.example.com\"", "Billing", 16, 52, "callers[0].certificates[1]",
      "a URI such as spiffe://example.com/billing, or dns:NAME, is expected: a subject "
        + "alternative name, compared exactly", isIndependent: true),
    Broken(
      "\"dns:Billing.example.com\"", "\"dns:\"", 16, 52, "callers[0].certificates[1]",
      "a URI such as spiffe://example.com/billing, or dns:NAME, is expected: a subject "
        + "alternative name, compared exactly"),
    Broken(
      "\"spiffe://example.com/Billing\"", "\"dns:BILLING.EXAMPLE.COM\"", 16, 47,
      "callers[0].certificates[1]", "named twice"),
    Broken(
      "[1001, deploy]", "[1001, nobody-here]", 17, 19, "callers[0].users[1]",
      "no Unix user has this number or name", isIndependent: true),
    Broken(
      "[1001, deploy]", "[1001, 4294967296]", 17, 19, "callers[0].users[1]",
      "no Unix user has this number or name"),
    Broken(
      "[1001, deploy]", "[1001, 65534]", 17, 19, "callers[0].users[1]",
      "this user stands for all users of other user namespaces"),
    // By number and by name.
    Broken("[1001, deploy]", "[998, deploy]", 17, 18, "callers[0].users[1]", "named twice"),
    // A proof belongs to one caller.
    Broken("users: [0]", "users: [1001]", 26, 13, "callers[1].users[0]", "named twice"),
    Broken(
      "users: [0]", "certificates: [\"spiffe://example.com/Billing\"]", 26, 20,
      "callers[1].certificates[0]", "named twice"),
  ]

  private static let limits: [Broken] = [
    Broken(
      "\n      reads_per_second: 5000", "\n      reads_per_second: 0", 19, 25,
      "callers[0].limits.reads_per_second", "an integer from 1 to 100000000 is expected",
      isIndependent: true),
    Broken(
      "expensive_reads_per_second: 10", "expensive_reads_per_second: 0.5", 20, 35,
      "callers[0].limits.expensive_reads_per_second", "an integer from 1 to 100000000 is expected",
      isIndependent: true),
    Broken(
      "submissions_per_second: 300", "submissions_per_second: -1", 21, 31,
      "callers[0].limits.submissions_per_second", "an integer from 1 to 100000000 is expected",
      isIndependent: true),
    Broken(
      "in_flight: 200", "in_flight: 100000001", 22, 18, "callers[0].limits.in_flight",
      "an integer from 1 to 100000000 is expected", isIndependent: true),
    Broken(
      "connections: 16", "connections: [16]", 23, 20, "callers[0].limits.connections",
      "an integer from 1 to 100000000 is expected", isIndependent: true),
    Broken(
      "connections: 16", "sockets: 16", 23, 7, "callers[0].limits.sockets",
      "unknown field; allowed: reads_per_second, expensive_reads_per_second, "
        + "submissions_per_second, in_flight, connections"),
  ]
}
