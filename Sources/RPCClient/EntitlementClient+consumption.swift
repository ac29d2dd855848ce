package import Wire

// What the App Store is told about the consumption of purchases.
extension EntitlementClient {
  /// Records whether a customer consents. Repeating the call changes nothing.
  package func setConsumptionConsent(
    _ request: SetConsumptionConsentRequest
  ) async throws(RPCClientError) -> SetConsumptionConsentResponse {
    try await call(WireMethods.setConsumptionConsent, request)
  }

  /// Reads what is recorded of a customer.
  package func consumptionConsent(
    _ request: GetConsumptionConsentRequest
  ) async throws(RPCClientError) -> GetConsumptionConsentResponse {
    try await call(WireMethods.getConsumptionConsent, request)
  }

  /// Records how much of a purchase is consumed. Repeating the call changes nothing.
  package func setConsumptionPercentage(
    _ request: SetConsumptionPercentageRequest
  ) async throws(RPCClientError) -> SetConsumptionPercentageResponse {
    try await call(WireMethods.setConsumptionPercentage, request)
  }

  /// Reads one page of the App Store's requests. ``consumptionRequests(_:)`` reads all pages.
  package func listConsumptionRequests(
    _ request: ListConsumptionRequestsRequest
  ) async throws(RPCClientError) -> ListConsumptionRequestsResponse {
    try await call(WireMethods.listConsumptionRequests, request)
  }

  /// All requests that a list selects, in the order of their ids. Each page is requested when the
  /// iteration reaches it.
  package func consumptionRequests(
    _ request: ListConsumptionRequestsRequest
  ) -> PageSequence<ConsumptionRequestEntry> {
    PageSequence { token async throws(RPCClientError) in
      var request = request
      request.pageToken = token
      let response = try await listConsumptionRequests(request)
      return (response.requests, response.nextPageToken)
    }
  }

  /// Opens a request that was not sent. The client does not repeat the call by itself: the first one may
  /// have been carried out, and the information sent.
  ///
  /// - Throws: ``RPCClientError``; `notFound` when the App Store has not asked, `failedPrecondition`
  ///   when nothing can be sent.
  package func sendConsumption(
    _ request: SendConsumptionRequest
  ) async throws(RPCClientError) -> SendConsumptionResponse {
    try await call(WireMethods.sendConsumption, request)
  }
}
