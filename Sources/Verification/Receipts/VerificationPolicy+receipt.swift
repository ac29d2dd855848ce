import EntitlementDomain

extension VerificationPolicy {
  /// - Throws: ``Refusal`` with ``Verdict/wrongApp`` or, when the app is right,
  ///   ``Verdict/wrongEnvironment``.
  package func check(_ receipt: Receipt, under origin: TrustAnchors.Origin) throws(Refusal) {
    let isAppAccepted = StoreEnvironment.allCases.contains { environment in
      accepts(AppScope(bundleID: receipt.bundleID, environment: environment))
    }
    guard isAppAccepted else {
      throw Refusal(.wrongApp, "the bundle id is not one that is accepted")
    }
    let environment = try receipt.knownEnvironment()
    try Self.check(environment, under: origin)
    guard accepts(AppScope(bundleID: receipt.bundleID, environment: environment)) else {
      throw Refusal(.wrongEnvironment, "\(environment.rawValue) is not accepted here")
    }
  }
}
