package import Wire

// Calls of the App Store Server API that the server makes, for operators.
//
// Each throws ``RPCClientError``: `notFound`, `invalidArgument` or `failedPrecondition` with the reason
// `APP_STORE_REFUSED` for an error of Apple's, `failedPrecondition` when the server has no key for the
// app.
extension EntitlementClient {
  package func transaction(
    _ request: GetTransactionRequest
  ) async throws(RPCClientError) -> AppStorePayloadsResponse {
    try await call(WireMethods.getTransaction, request)
  }

  /// One page of a customer's transactions.
  package func listTransactions(
    _ request: ListTransactionsRequest
  ) async throws(RPCClientError) -> AppStorePayloadsResponse {
    try await call(WireMethods.listTransactions, request)
  }

  package func subscriptionStatuses(
    _ request: GetSubscriptionStatusesRequest
  ) async throws(RPCClientError) -> GetSubscriptionStatusesResponse {
    try await call(WireMethods.getSubscriptionStatuses, request)
  }

  /// One page of a customer's refunds.
  package func listRefunds(
    _ request: ListRefundsRequest
  ) async throws(RPCClientError) -> AppStorePayloadsResponse {
    try await call(WireMethods.listRefunds, request)
  }

  package func lookUpOrder(
    _ request: LookUpOrderRequest
  ) async throws(RPCClientError) -> AppStorePayloadsResponse {
    try await call(WireMethods.lookUpOrder, request)
  }

  package func appTransaction(
    _ request: GetAppTransactionRequest
  ) async throws(RPCClientError) -> AppStorePayloadsResponse {
    try await call(WireMethods.getAppTransaction, request)
  }

  /// One page of the notifications that Apple has sent.
  package func listSentNotifications(
    _ request: ListSentNotificationsRequest
  ) async throws(RPCClientError) -> SentNotificationsResponse {
    try await call(WireMethods.listSentNotifications, request)
  }

  package func requestTestNotification(
    _ request: RequestTestNotificationRequest
  ) async throws(RPCClientError) -> AppStoreChangeResponse {
    try await call(WireMethods.requestTestNotification, request)
  }

  /// `notFound` also means that Apple has not tried to send it yet.
  package func testNotification(
    _ request: GetTestNotificationRequest
  ) async throws(RPCClientError) -> SentNotificationsResponse {
    try await call(WireMethods.getTestNotification, request)
  }

  /// Extends one renewal date. It is never repeated by itself.
  package func extendRenewal(
    _ request: ExtendRenewalRequest
  ) async throws(RPCClientError) -> AppStoreChangeResponse {
    try await call(WireMethods.extendRenewal, request)
  }

  package func extendAllRenewals(
    _ request: ExtendAllRenewalsRequest
  ) async throws(RPCClientError) -> AppStoreChangeResponse {
    try await call(WireMethods.extendAllRenewals, request)
  }

  package func renewalExtension(
    _ request: GetRenewalExtensionRequest
  ) async throws(RPCClientError) -> GetRenewalExtensionResponse {
    try await call(WireMethods.getRenewalExtension, request)
  }

  package func setAppAccountToken(
    _ request: SetAppAccountTokenRequest
  ) async throws(RPCClientError) -> AppStoreChangeResponse {
    try await call(WireMethods.setAppAccountToken, request)
  }

  package func finishTransaction(
    _ request: FinishTransactionRequest
  ) async throws(RPCClientError) -> AppStoreChangeResponse {
    try await call(WireMethods.finishTransaction, request)
  }
}
