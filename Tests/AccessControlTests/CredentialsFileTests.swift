import AccessControl
import Cryptography
import EntitlementDomain
import TestSupport
import Testing
import Wire

@Suite("Files of credentials")
struct CredentialsFileTests {
  static let first = String(repeating: "0a", count: 32)
  static let second = String(repeating: "0b", count: 32)

  static let valid = """
    version: 1
    callers:
      - name: billing
        roles: [submitter]
        permissions: [offers, app_store]
        apps:
          com.example.scribe: [Production, Sandbox]
          com.example.notes: [Sandbox]
        tokens:
          - id: k3Jd8sQz
            sha256: \(first)
            expires: 2027-01-31T00:00:00Z
          - id: p0Lm2xYw
            sha256: \(second)
            expires: never
        certificates: ["spiffe://example.com/Billing", "dns:Billing.example.com"]
        users: [1001, deploy]
        limits:
          reads_per_second: 5000
          expensive_reads_per_second: 10
          submissions_per_second: 300
          in_flight: 200
          connections: 16
      - name: otto@example.com
        roles: [operator, auditor]
        users: [0]
    """

  /// The machine has one user with a name.
  static func parse(_ text: String) throws(CredentialsFile.Invalid) -> CredentialsFile.Contents {
    try CredentialsFile.parse(text) { $0 == "deploy" ? 998 : nil }
  }

  @Test("A valid file gives its callers, with everything that it says of them")
  func accepted() throws {
    let contents = try Self.parse(Self.valid)
    #expect(contents.warnings.isEmpty)
    try #require(contents.callers.map(\.name) == ["billing", "otto@example.com"])
    let billing = contents.callers[0]
    #expect(billing.roles == [.submitter])
    #expect(
      billing.permissions.permissions == [
        .open, .identity, .read, .submit, .offers, .appStore, .fetch,
      ])
    #expect(
      billing.scopes.apps
        == ["com.example.scribe": [.production, .sandbox], "com.example.notes": [.sandbox]])
    #expect(billing.tokens.map(\.id) == ["k3Jd8sQz", "p0Lm2xYw"])
    #expect(
      billing.tokens.map(\.digest)
        == [SHA256Digest(hexadecimal: Self.first), SHA256Digest(hexadecimal: Self.second)])
    #expect(billing.tokens.map(\.expires) == [1_801_353_600_000, nil])
    #expect(
      billing.certificates == [.uri("spiffe://example.com/Billing"), .dns("billing.example.com")])
    #expect(billing.users == [1_001, 998])
    #expect(
      billing.limits
        == CallerLimits(
          readsPerSecond: 5_000, expensiveReadsPerSecond: 10, submissionsPerSecond: 300,
          inFlight: 200, connections: 16))
    let otto = contents.callers[1]
    #expect(otto.roles == [.operator, .auditor])
    #expect(
      otto.permissions
        == Role.operator.permissions.union(Role.auditor.permissions)
        .union(PermissionSet([.open, .identity])))
    #expect(otto.scopes.isUnlimited)
    #expect(otto.limits == CallerLimits())
    #expect(otto.users == [0])
  }

  @Test(
    "Other forms of valid files are read",
    arguments: [
      "version: 1\ncallers: [{name: a, permissions: [read], users: [1]}]",
      "version: 1\ncallers:\n- name: \"\(String(repeating: "a", count: 64))\"\n  roles: [admin]\n"
        + "  users: [4294967295]",
      // A token that has expired is not an error: it is removed when someone has the time.
      valid.replacing("2027-01-31T00:00:00Z", with: "2009-01-31T00:00:00+01:00"),
      valid.replacing("2027-01-31T00:00:00Z", with: "1801353600000"),
      valid.replacing("reads_per_second: 5000", with: "reads_per_second: 100000000"),
      valid.replacing("users: [1001, deploy]", with: "users: []"),
      valid.replacing("[Sandbox]", with: "[Xcode, LocalTesting]"),
    ])
  func forms(text: String) throws {
    let contents = try Self.parse(text)
    #expect(contents.warnings.isEmpty)
  }

  @Test("A caller without a proof is a warning, since nobody can be it")
  func proofless() throws {
    let contents = try Self.parse("version: 1\ncallers:\n  - name: a\n    roles: [reader]\n")
    #expect(contents.callers.map(\.name) == ["a"])
    #expect(
      contents.warnings == [
        FileIssue(
          severity: .warning, line: 3, column: 5, field: "callers[0]",
          message: "has no tokens, certificates or users: nobody can be this caller")
      ])
  }

  @Test("Every error is reported with its place, its field and what is expected", arguments: broken)
  func errors(change: Broken) throws {
    try #require(Self.valid.contains(change.text))
    let text = Self.valid.replacing(change.text, with: change.replacement, maxReplacements: 1)
    let error = #expect(throws: CredentialsFile.Invalid.self) { try Self.parse(text) }
    #expect(error?.issues == [change.issue])
  }

  @Test("All errors of a file are reported at once, in its order")
  func allErrors() throws {
    let text = Self.broken.filter(\.isIndependent).reduce(Self.valid) {
      $0.replacing($1.text, with: $1.replacement, maxReplacements: 1)
    }
    let error = #expect(throws: CredentialsFile.Invalid.self) { try Self.parse(text) }
    let issues = try #require(error?.issues)
    let expected = Self.broken.filter(\.isIndependent).map(\.issue)
    #expect(expected.count > 10)
    #expect(Set(issues.map(\.field)) == Set(expected.map(\.field)))
    #expect(issues.map(\.message) == expected.map(\.message))
    #expect(issues.map(\.line) == issues.map(\.line).sorted())
  }

  @Test(
    "What is not a file of credentials is refused as a whole",
    arguments: [
      ("", 1, 1, "the file is empty"), ("# nothing\n", 1, 1, "the file is empty"),
      ("version: 1\nversion: 1\n", 2, 1, "not YAML: the same key twice: version"),
      ("a: &b c\nd: *b\n", 2, 4, "not YAML: aliases are not supported"),
      ("a: b\n---\nc: d\n", 2, 1, "not YAML: another document; only one is allowed"),
      (
        "- a\n", 1, 1,
        "a mapping is expected, with the fields version, callers"
      ),
    ])
  func otherFiles(text: String, line: Int, column: Int, message: String) {
    let error = #expect(throws: CredentialsFile.Invalid.self) { try Self.parse(text) }
    #expect(
      error?.issues == [
        FileIssue(severity: .error, line: line, column: column, field: "", message: message)
      ])
  }
}
