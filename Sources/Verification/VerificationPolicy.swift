package import EntitlementDomain

/// Which authentic payloads are accepted: for which apps, from which environments (R8, R9).
package struct VerificationPolicy: Hashable, Sendable {
  /// An app that the operator configured.
  package struct App: Hashable, Sendable {
    package var bundleID: BundleID
    /// Checked in Production, where the payload's kind carries it; nil accepts any.
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

  /// Accepts what is for one of `apps`. Of two with the same bundle id the later one counts.
  package init(apps: [App]) {
    rule = .apps(Dictionary(apps.map { ($0.bundleID, $0) }, uniquingKeysWith: { $1 }))
  }

  /// Accepts what meets the expectations that are given; nil accepts anything. For looking at
  /// payloads, not for a service.
  package init(
    expectingBundleID bundleID: BundleID?, environment: StoreEnvironment?, appAppleID: Int64?
  ) {
    rule = .expectation(bundleID: bundleID, environment: environment, appAppleID: appAppleID)
  }

  /// Whether facts of this app and environment are accepted: the check for a renewal info that was
  /// bound to an app after it was verified.
  package func accepts(_ scope: AppScope) -> Bool {
    switch rule {
    case .apps(let apps):
      apps[scope.bundleID]?.environments.contains(scope.environment) ?? false
    case .expectation(let bundleID, let environment, _):
      (bundleID ?? scope.bundleID) == scope.bundleID
        && (environment ?? scope.environment) == scope.environment
    }
  }

  /// - Throws: ``Refusal`` with ``Verdict/wrongApp`` or, when the app is right,
  ///   ``Verdict/wrongEnvironment``.
  func check(_ claims: PayloadClaims, under origin: TrustAnchors.Origin) throws(Refusal) {
    if claims.namesApp { try checkApp(claims) }
    try checkEnvironment(claims, under: origin)
  }

  private func checkApp(_ claims: PayloadClaims) throws(Refusal) {
    let expectedAppAppleID: Int64?
    switch rule {
    case .apps(let apps):
      guard let bundleID = claims.bundleID else {
        throw Refusal(.wrongApp, "the \(claims.kind.label) names no bundle id")
      }
      guard let app = apps[bundleID] else {
        throw Refusal(.wrongApp, "the bundle id is not one that is accepted")
      }
      expectedAppAppleID = app.appAppleID
    case .expectation(let bundleID, _, let appAppleID):
      guard bundleID == nil || claims.bundleID == bundleID else {
        throw Refusal(.wrongApp, "the bundle id is not the one that is accepted")
      }
      expectedAppAppleID = appAppleID
    }
    // Sandbox payloads carry 0 or nothing, so only Production's are held to it.
    guard let expectedAppAppleID, claims.namesAppAppleID,
      claims.environment == .known(.production)
    else { return }
    guard let appAppleID = claims.appAppleID else {
      throw Refusal(.wrongApp, "the \(claims.kind.label) is of Production and has no app Apple id")
    }
    guard appAppleID == expectedAppAppleID else {
      throw Refusal(.wrongApp, "the app Apple id is not the one that is accepted")
    }
  }

  private func checkEnvironment(
    _ claims: PayloadClaims, under origin: TrustAnchors.Origin
  ) throws(Refusal) {
    let environment: StoreEnvironment
    switch claims.environment {
    case .known(let known):
      environment = known
    case .absent:
      if case .expectation(_, nil, _) = rule { return }
      throw Refusal(.wrongEnvironment, "the \(claims.kind.label) names no environment")
    case .unknown:
      throw Refusal(.wrongEnvironment, "the environment is not one that is known")
    }
    try Self.check(environment, under: origin)
    guard accepts(environment, for: claims.bundleID) else {
      throw Refusal(.wrongEnvironment, "\(environment.rawValue) is not accepted here")
    }
  }

  /// Apple's certificates vouch for the App Store alone (R9).
  ///
  /// - Throws: ``Refusal`` with ``Verdict/wrongEnvironment``.
  static func check(
    _ environment: StoreEnvironment, under origin: TrustAnchors.Origin
  ) throws(Refusal) {
    switch environment {
    case .production, .sandbox: break
    case .xcode, .localTesting:
      guard origin == .operatorNamed else {
        throw Refusal(
          .wrongEnvironment,
          "\(environment.rawValue) is accepted only under a root that the operator named")
      }
    }
  }

  /// - Parameter bundleID: nil for a renewal info: one of the apps must accept the environment.
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
