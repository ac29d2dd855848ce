extension PayloadClaims {
  /// - Parameter outer: the claims of the notification around this payload.
  /// - Throws: ``Refusal`` with ``Verdict/wrongApp`` or ``Verdict/wrongEnvironment`` when the two
  ///   are not of the same app and environment.
  func checkAgreement(with outer: PayloadClaims) throws(Refusal) {
    guard !namesApp || bundleID == outer.bundleID else {
      throw Refusal(.wrongApp, "the bundle id is not that of the notification around it")
    }
    guard environment == outer.environment else {
      throw Refusal(.wrongEnvironment, "the environment is not that of the notification around it")
    }
  }
}
