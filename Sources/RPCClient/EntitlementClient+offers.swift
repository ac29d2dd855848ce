package import Wire

// Offers, for operators. Backends in other languages use the messages themselves.
extension EntitlementClient {
  /// The offers of an app, with the verdict on each for one customer.
  package func offerEligibility(
    _ request: GetOfferEligibilityRequest
  ) async throws(RPCClientError) -> GetOfferEligibilityResponse {
    try await call(WireMethods.getOfferEligibility, request)
  }

  /// Signs a promotional offer. Each call makes another signature.
  ///
  /// - Throws: ``RPCClientError``; `failedPrecondition` when the customer may not have the offer, and
  ///   when the server has no key for the app, `notFound` for an unknown offer, `resourceExhausted`
  ///   when too many were signed.
  package func signPromotionalOffer(
    _ request: SignPromotionalOfferRequest
  ) async throws(RPCClientError) -> SignOfferResponse {
    try await call(WireMethods.signPromotionalOffer, request)
  }

  /// Signs whether a customer may have an introductory offer. Each call makes another signature.
  ///
  /// - Throws: ``RPCClientError``, as ``signPromotionalOffer(_:)``.
  package func signIntroductoryOfferEligibility(
    _ request: SignIntroductoryOfferEligibilityRequest
  ) async throws(RPCClientError) -> SignOfferResponse {
    try await call(WireMethods.signIntroductoryOfferEligibility, request)
  }
}
