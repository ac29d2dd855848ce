package import EntitlementDomain

/// The apps and environments that are accepted (R8, R9).
package struct VerificationPolicy: Hashable, Sendable {
  /// An app that the operator configured.
  package struct App: Hashable, Sendable {
    package var bundleID: BundleID
    /// Checked in Production, for kinds that have it; nil accepts any.
    package var appAppleID: Int64?
    package var environments: Set<StoreEnvironment>

    package init(
      bundleID: BundleID, appAppleID: Int64? = nil, environments: Set<StoreEnvironment>
    ) {
      self.bundleID = bundleID
      self.appAppleID = appAppleID
      self.environments = environments
    }
  }

  private enum Rule: Hashable, Sendable {
    case apps([BundleID: App])
    case expectation(bundleID: BundleID?, environment: StoreEnvironment?, appAppleID: Int64?)
  }

  private let rule: Rule

  /// Accepts payloads of `apps`. If two have the same bundle id, the later one applies.
  package init(apps: [App]) {
    rule = .apps(Dictionary(apps.map { ($0.bundleID, $0) }, uniquingKeysWith: { $1 }))
  }

  /// Accepts payloads with these values; nil accepts any value. For inspection, not for a service.
  package init(
    expectingBundleID bundleID: BundleID?, environment: StoreEnvironment?, appAppleID: Int64?
  ) {
    rule = .expectation(bundleID: bundleID, environment: environment, appAppleID: appAppleID)
  }

  /// Whether facts of this app and environment are accepted. Used for a renewal info, which is
  /// bound to an app after verification.
  package func accepts(_ scope: AppScope) -> Bool {
    switch rule {
    case .apps(let apps):
      apps[scope.bundleID]?.environments.contains(scope.environment) ?? false
    case .expectation(let bundleID, let environment, _):
      (bundleID ?? scope.bundleID) == scope.bundleID
        && (environment ?? scope.environment) == scope.environment
    }
  }

  /// Checks app and environment of a payload.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/wrongApp`` or, when the app is right,
  ///   ``Verdict/wrongEnvironment``.
  func check(_ claims: PayloadClaims, under anchor: TrustAnchor) throws(Refusal) {
    if claims.namesApp { try checkApp(claims) }
    try checkEnvironment(claims, under: anchor)
  }

  private func checkApp(_ claims: PayloadClaims) throws(Refusal) {
    let expectedAppAppleID: Int64?
    switch rule {
    case .apps(let apps):
      guard let bundleID = claims.bundleID else {
        throw Refusal(.wrongApp, "the \(claims.kind.label) has no bundle id")
      }
      guard let app = apps[bundleID] else {
        throw Refusal(.wrongApp, "the bundle id is not accepted")
      }
      expectedAppAppleID = app.appAppleID
    case .expectation(let bundleID, _, let appAppleID):
      guard bundleID == nil || claims.bundleID == bundleID else {
        throw Refusal(.wrongApp, "the bundle id is not the expected one")
      }
      expectedAppAppleID = appAppleID
    }
    // Sandbox payloads have 0 or no value, so only Production payloads are checked.
    guard let expectedAppAppleID, claims.namesAppAppleID,
      claims.environment == .known(.production)
    else { return }
    guard let appAppleID = claims.appAppleID else {
      throw Refusal(
        .wrongApp, "the \(claims.kind.label) is from Production and has no app Apple id")
    }
    guard appAppleID == expectedAppAppleID else {
      throw Refusal(.wrongApp, "the app Apple id is not the expected one")
    }
  }

  private func checkEnvironment(
    _ claims: PayloadClaims, under anchor: TrustAnchor
  ) throws(Refusal) {
    let environment: StoreEnvironment
    switch claims.environment {
    case .known(let known):
      environment = known
    case .absent:
      if case .expectation(_, nil, _) = rule { return }
      throw Refusal(.wrongEnvironment, "the \(claims.kind.label) has no environment")
    case .unknown:
      throw Refusal(.wrongEnvironment, "the environment is not known")
    }
    try anchor.check(environment)
    guard accepts(environment, for: claims.bundleID) else {
      throw Refusal(.wrongEnvironment, "\(environment.rawValue) is not accepted")
    }
  }

  /// - Parameter bundleID: nil for a renewal info. Then one of the apps must accept the
  ///   environment.
  private func accepts(_ environment: StoreEnvironment, for bundleID: BundleID?) -> Bool {
    switch rule {
    case .apps(let apps):
      if let bundleID { return apps[bundleID]?.environments.contains(environment) ?? false }
      return apps.values.contains { $0.environments.contains(environment) }
    case .expectation(_, let expected, _):
      return expected == nil || expected == environment
    }
  }
}

extension VerificationPolicy {
  /// Checks app and environment of a receipt.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/wrongApp`` or, when the app is right,
  ///   ``Verdict/wrongEnvironment``.
  package func check(_ receipt: Receipt, under anchor: TrustAnchor) throws(Refusal) {
    let isAppAccepted = StoreEnvironment.allCases.contains { environment in
      accepts(AppScope(bundleID: receipt.bundleID, environment: environment))
    }
    guard isAppAccepted else {
      throw Refusal(.wrongApp, "the bundle id is not accepted")
    }
    let environment = try receipt.knownEnvironment()
    try anchor.check(environment)
    guard accepts(AppScope(bundleID: receipt.bundleID, environment: environment)) else {
      throw Refusal(.wrongEnvironment, "\(environment.rawValue) is not accepted")
    }
  }
}
