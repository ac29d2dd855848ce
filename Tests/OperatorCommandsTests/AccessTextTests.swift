import AccessControl
import Cryptography
import EntitlementDomain
import Framing
import Programs
import RPCClient
import Testing
import Wire

@testable import OperatorCommands

@Suite("What is shown of callers and credentials")
struct AccessTextTests {
  private static let now = Milliseconds(rfc3339: "2026-11-21T09:30:00Z") ?? 0
  private static let day: Int64 = 86_400_000

  private static func token(_ id: String, days: Int64?) -> CallerToken {
    CallerToken(id: id, expires: days.map { now.advanced(by: $0 * day) })
  }

  private static let caller = CallerEntry(
    name: "billing", roles: ["reader", "submitter"], permissions: [.read, .submit],
    hasAllApps: false,
    apps: [PermittedApp(bundleID: "com.example.scribe", environments: [.production, .sandbox])],
    tokens: [token("aaaaaaaa", days: -1), token("bbbbbbbb", days: 13), token("cccccccc", days: 14)]
      + [token("dddddddd", days: nil)],
    certificates: ["spiffe://example.com/billing"], users: ["0"], limits: nil)

  @Test("Tokens that have expired or expire within 14 days are named")
  func expiring() {
    #expect(
      CredentialsText.expiring([Self.caller], now: Self.now) == [
        "token aaaaaaaa of billing expired 2026-11-20 09:30:00Z",
        "token bbbbbbbb of billing expires 2026-12-04 09:30:00Z",
      ])
  }

  @Test("The status has callers, proofs, and the last attempt with its issues")
  func status() {
    let issue = FileIssue(
      severity: .error, line: 3, column: 5, field: "callers[0].name", message: "missing")
    let text = CredentialsText.text(
      of: CredentialsResponse(
        isEnabled: true, digest: "d1", inForceSince: Self.now, callers: [Self.caller],
        warnings: [],
        lastAttempt: CredentialsAttempt(
          at: Self.now, isValid: false, digest: "d2", issues: [issue], failure: nil)),
      now: Self.now)
    for part in [
      "d1", "2026-11-21 09:30:00Z", "billing", "reader, submitter",
      "com.example.scribe (Production, Sandbox)", "aaaaaaaa, bbbbbbbb, cccccccc, dddddddd",
      "spiffe://example.com/billing, user 0", "not valid", "d2", "line 3, callers[0].name",
    ] {
      #expect(text.contains(part), "\(part) in \(text)")
    }
    let off = CredentialsResponse(
      isEnabled: false, digest: nil, inForceSince: 0, callers: [], warnings: [], lastAttempt: nil)
    #expect(CredentialsText.text(of: off, now: Self.now).contains("no credentials"))
  }

  @Test("whoami shows the proof, the end of the token, the scope and the limits")
  func whoAmI() {
    let text = AccessText.text(
      of: WhoAmIResponse(
        name: "billing", proof: .token, tokenID: "k3Jd8sQz", tokenExpires: Self.now,
        roles: ["reader"], permissions: [.read], hasAllApps: true, apps: [],
        limits: CallerLimits(readsPerSecond: 50, inFlight: 7)))
    for part in [
      "billing", "TOKEN", "k3Jd8sQz", "2026-11-21 09:30:00Z", "reader", "read", "all",
      "50 reads/s, 7 calls in flight",
    ] {
      #expect(text.contains(part), "\(part) in \(text)")
    }
  }

  @Test(
    "Refusals have their exit code and say what to do",
    arguments: [
      (RPCCode.unauthenticated, "CREDENTIAL_MISSING", 4, "--token-file"),
      (.unauthenticated, "CREDENTIAL_REFUSED", 4, "token create"),
      (.permissionDenied, "PERMISSION_MISSING", 4, "whoami"),
      (.permissionDenied, "APP_NOT_PERMITTED", 4, "whoami"),
      (.resourceExhausted, "RATE_LIMITED", 1, "limit of the caller"),
    ] as [(RPCCode, String, Int32, String)])
  func refusals(code: RPCCode, reason: String, exit: Int32, text: String) {
    var error = RPCClientError(.status(code), "refused")
    error.errorInfo = RPCStatus.ErrorInfo(reason: reason, domain: "entitle", metadata: [:])
    if reason == "RATE_LIMITED" { error.retryDelay = .milliseconds(1_450) }
    let failure = CommandFailure(error)
    #expect(failure.reason.exitCode == exit)
    #expect(failure.message?.contains(text) == true)
    #expect(failure.message?.contains("try again in 1.5 s") == (reason == "RATE_LIMITED"))
  }

  // MARK: token create

  private func stanza(
    name: String = "billing", roles: [Role] = [.reader], permissions: [Permission] = [.offers],
    apps: [(String, [StoreEnvironment])] = [("com.example.scribe", [.production])],
    expires: Milliseconds? = now
  ) throws -> CredentialsStanza {
    CredentialsStanza(
      name: name, roles: roles, permissions: permissions,
      apps: apps.map { (bundleID: $0.0, environments: $0.1) }, id: "k3Jd8sQz",
      digest: try SHA256.digest(of: [1]), expires: expires)
  }

  @Test("The lines are those of a caller, which the server accepts")
  func lines() throws {
    let stanza = try stanza()
    try stanza.check()
    let file = "version: 1\ncallers:\n" + stanza.text + "\n"
    let caller = try #require(try CredentialsFile.parse(file) { _ in nil }.callers.first)
    #expect(caller.name == "billing" && caller.roles == [.reader])
    #expect(caller.permissions.contains(.offers) && !caller.permissions.contains(.submit))
    #expect(caller.scopes == AppScopes(["com.example.scribe": [.production]]))
    #expect(caller.tokens.map(\.id) == ["k3Jd8sQz"])
    #expect(caller.tokens.first?.digest == stanza.digest)
    #expect(caller.tokens.first?.expires == Self.now)
    let endless = try self.stanza(expires: nil).text
    #expect(endless.hasSuffix("expires: never"))
    let tokenOnly = try self.stanza(roles: [], permissions: [], apps: [])
    try tokenOnly.check()
    #expect(!tokenOnly.text.contains("- name"))
    #expect(tokenOnly.text.contains("- id: \"k3Jd8sQz\""))
  }

  @Test("Lines that the server would refuse are not made", arguments: ["local", "a b", "'", ""])
  func refusedNames(name: String) throws {
    #expect(throws: (any Error).self) { try stanza(name: name).check() }
    #expect(throws: (any Error).self) {
      try stanza(name: name, roles: [], permissions: [], apps: []).check()
    }
  }

  @Test(
    "A token ends on a day, at a time, after a duration, or never",
    arguments: [
      ("2027-07-31", "2027-07-31T00:00:00Z"), ("2027-07-31T01:02:03.4Z", "2027-07-31T01:02:03Z"),
      ("P90D", "2027-02-19T09:30:00Z"), ("PT1H", "2026-11-21T10:30:00Z"),
    ])
  func expiry(argument: String, end: String) {
    #expect(TokenExpiry(argument: argument)?.end(from: Self.now)?.rfc3339 == end)
  }

  @Test("Other texts are no end of a token", arguments: ["", "soon", "90d", "P0D", "1", "Never"])
  func noExpiry(argument: String) {
    #expect(TokenExpiry(argument: argument) == nil)
    #expect(TokenExpiry(argument: "never")?.end(from: Self.now) == nil)
  }

  @Test("An app has the environments that are given, or all")
  func apps() {
    let some = PermittedAppArgument(argument: "com.example.scribe=Production,sandbox")
    #expect(some?.bundleID == "com.example.scribe")
    #expect(some?.environments == [.production, .sandbox])
    #expect(PermittedAppArgument(argument: "a")?.environments.count == 4)
    #expect(PermittedAppArgument(argument: "a=") == nil)
    #expect(PermittedAppArgument(argument: "a=moon") == nil)
  }
}
