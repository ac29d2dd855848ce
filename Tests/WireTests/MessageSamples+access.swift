import EntitlementDomain

@testable import Wire

extension MessageSample {
  static let access: [MessageSample] = [
    MessageSample("full", WhoAmIRequest()),
    MessageSample("full", WhoAmIResponse.full),
    MessageSample("bare", WhoAmIResponse(name: "local")),
    MessageSample("full", PermittedApp.full),
    MessageSample("bare", PermittedApp(bundleID: "a", environments: [])),
    MessageSample("full", CallerLimits.full),
    MessageSample("bare", CallerLimits()),
    MessageSample("full", GetCredentialsRequest()),
    MessageSample("full", ReloadCredentialsRequest(isDryRun: true, onBehalfOf: "émile")),
    MessageSample("bare", ReloadCredentialsRequest()),
    MessageSample("full", CredentialsResponse.full),
    MessageSample("bare", CredentialsResponse(isEnabled: false, inForceSince: 0)),
  ]
}

extension WhoAmIResponse {
  static let full = WhoAmIResponse(
    name: "billing", proof: .token, tokenID: "k3Jd8sQz", tokenExpires: 1_801_353_600_000,
    roles: ["submitter", "support"], permissions: [.open, .read, .appStore], hasAllApps: true,
    apps: [.full, PermittedApp(bundleID: "a", environments: [.xcode])], limits: .full)
}

extension PermittedApp {
  static let full = PermittedApp(
    bundleID: "com.example.scribe", environments: [.production, .sandbox])
}

extension CallerLimits {
  static let full = CallerLimits(
    readsPerSecond: 5_000, expensiveReadsPerSecond: 10, submissionsPerSecond: 300, inFlight: 200,
    connections: 16)
}

extension CredentialsResponse {
  static let full = CredentialsResponse(
    isEnabled: true, digest: "9f86d081", inForceSince: 1_700_000_000_000,
    callers: [
      CallerEntry(
        name: "billing", roles: ["submitter"], permissions: [.read, .submit, .offers],
        hasAllApps: false, apps: [.full],
        tokens: [
          CallerToken(id: "k3Jd8sQz", expires: 1_801_353_600_000), CallerToken(id: "p0Lm2xYw"),
        ],
        certificates: ["spiffe://example.com/billing", "dns:billing.example.com"],
        users: ["1001"], limits: CallerLimits(inFlight: 200)),
      CallerEntry(name: "otto", hasAllApps: true),
    ],
    warnings: [
      FileIssue(severity: .warning, line: 3, column: 5, field: "callers[0]", message: "m")
    ],
    lastAttempt: CredentialsAttempt(
      at: 1_700_000_000_001, isValid: false, digest: "60303ae2",
      issues: [
        FileIssue(
          severity: .error, line: 12, column: 5, field: "callers[1].name", message: "named twice")
      ], failure: "the file cannot be read"))
}
