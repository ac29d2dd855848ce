import EntitlementDomain

@testable import Wire

extension MessageSample {
  static let appStore: [MessageSample] = [
    MessageSample("full", GetTransactionRequest.full),
    MessageSample("bare", GetTransactionRequest(scope: barest, transactionID: "1")),
    MessageSample("full", ListTransactionsRequest.full),
    MessageSample("bare", ListTransactionsRequest(scope: barest, id: "1")),
    MessageSample("full", GetSubscriptionStatusesRequest.full),
    MessageSample("bare", GetSubscriptionStatusesRequest(scope: barest, id: "1")),
    MessageSample("full", ListRefundsRequest.full),
    MessageSample("bare", ListRefundsRequest(scope: barest, id: "1")),
    MessageSample(
      "full",
      LookUpOrderRequest(scope: scope, orderID: "MX1", includesSigned: true, stores: true)),
    MessageSample("bare", LookUpOrderRequest(scope: barest, orderID: "M")),
    MessageSample("full", GetAppTransactionRequest.full),
    MessageSample("bare", GetAppTransactionRequest(scope: barest, id: "1")),
    MessageSample("full", AppStorePayloadsResponse.full),
    MessageSample("bare", AppStorePayloadsResponse(scope: barest)),
    MessageSample("full", GetSubscriptionStatusesResponse.full),
    MessageSample("bare", GetSubscriptionStatusesResponse(scope: barest, subscriptions: [])),
    MessageSample("full", ListSentNotificationsRequest.full),
    MessageSample("bare", ListSentNotificationsRequest(scope: barest, start: 0)),
    MessageSample("full", SentNotificationsResponse.full),
    MessageSample("bare", SentNotificationsResponse(scope: barest)),
    MessageSample(
      "full",
      RequestTestNotificationRequest(
        scope: scope, isDryRun: true, onBehalfOf: "ada", reason: "émis")),
    MessageSample("bare", RequestTestNotificationRequest(scope: barest)),
    MessageSample(
      "full",
      GetTestNotificationRequest(scope: scope, testNotificationToken: "t", includesSigned: true)),
    MessageSample("bare", GetTestNotificationRequest(scope: barest, testNotificationToken: "t")),
    MessageSample("full", ExtendRenewalRequest.full),
    MessageSample(
      "bare",
      ExtendRenewalRequest(scope: barest, originalTransactionID: "1", requestIdentifier: "r")),
    MessageSample("full", ExtendAllRenewalsRequest.full),
    MessageSample(
      "bare", ExtendAllRenewalsRequest(scope: barest, productID: "p", requestIdentifier: "r")),
    MessageSample(
      "full",
      GetRenewalExtensionRequest(
        scope: scope, productID: "pro.monthly", requestIdentifier: "émis")),
    MessageSample("full", GetRenewalExtensionResponse.full),
    MessageSample(
      "bare",
      GetRenewalExtensionResponse(scope: barest, productID: "p", requestIdentifier: "r")),
    MessageSample("full", SetAppAccountTokenRequest.full),
    MessageSample(
      "bare",
      SetAppAccountTokenRequest(
        scope: barest, originalTransactionID: "1",
        appAccountToken: "7c9e6679-7425-40de-944b-e07fc1f90ae7")),
    MessageSample(
      "full",
      FinishTransactionRequest(
        scope: scope, transactionID: "2000000000000001", isDryRun: true, onBehalfOf: "ada",
        reason: "émis")),
    MessageSample("bare", FinishTransactionRequest(scope: barest, transactionID: "1")),
    MessageSample("full", AppStoreChangeResponse.full),
    MessageSample("bare", AppStoreChangeResponse(scope: barest)),
  ]
}

extension GetTransactionRequest {
  static let full = GetTransactionRequest(
    scope: MessageSample.scope, orSandbox: true, transactionID: "2000000000000001",
    includesSigned: true, stores: true)
}

extension ListTransactionsRequest {
  static let full = ListTransactionsRequest(
    scope: MessageSample.scope, orSandbox: true, id: "2000000000000001",
    start: 1_700_000_000_000, end: 0, productIDs: ["pro.monthly", "season"],
    productTypes: ["AUTO_RENEWABLE"], subscriptionGroupIDs: ["21000001"],
    ownershipType: "PURCHASED", isDescending: true, revoked: false, revision: "r1",
    pageSize: 200, includesSigned: true, stores: true)
}

extension GetSubscriptionStatusesRequest {
  static let full = GetSubscriptionStatusesRequest(
    scope: MessageSample.scope, orSandbox: true, id: "2000000000000001",
    statuses: [.active, .revoked], includesSigned: true, stores: true)
}

extension ListRefundsRequest {
  static let full = ListRefundsRequest(
    scope: MessageSample.scope, orSandbox: true, id: "2000000000000001", revision: "émis",
    pageSize: 200, includesSigned: true, stores: true)
}

extension GetAppTransactionRequest {
  static let full = GetAppTransactionRequest(
    scope: MessageSample.scope, orSandbox: true, id: "2000000000000001", includesSigned: true,
    stores: true)
}

extension ListSentNotificationsRequest {
  static let full = ListSentNotificationsRequest(
    scope: MessageSample.scope, start: 1_700_000_000_000, end: 0,
    transactionID: "2000000000000001", notificationType: "DID_RENEW",
    notificationSubtype: "BILLING_RECOVERY", onlyFailures: true, paginationToken: "5 t",
    pageSize: 200, includesSigned: true, stores: true)
}

extension ExtendRenewalRequest {
  static let full = ExtendRenewalRequest(
    scope: MessageSample.scope, originalTransactionID: "2000000000000001", extendByDays: 90,
    extendReasonCode: 3, requestIdentifier: "émis", isDryRun: true, onBehalfOf: "ada",
    reason: "an outage")
}

extension ExtendAllRenewalsRequest {
  static let full = ExtendAllRenewalsRequest(
    scope: MessageSample.scope, productID: "pro.monthly", extendByDays: 90, extendReasonCode: 3,
    requestIdentifier: "r", storefrontCountryCodes: ["USA", "DEU"], isDryRun: true,
    onBehalfOf: "ada", reason: "an outage")
}

extension SetAppAccountTokenRequest {
  static let full = SetAppAccountTokenRequest(
    scope: MessageSample.scope, originalTransactionID: "2000000000000001",
    appAccountToken: "7c9e6679-7425-40de-944b-e07fc1f90ae7", isDryRun: true, onBehalfOf: "ada",
    reason: "émis")
}

extension AppStorePayload {
  static let full = AppStorePayload(
    verdict: .ok, kind: .transaction, payload: "{}", signedPayload: "a.b.c",
    stored: SubmittedItemResult(
      verdict: .ok, kind: .transaction, disposition: .added, link: .unlinked))

  static let refused = AppStorePayload(verdict: .untrustedChain, detail: "émis", isOmitted: true)
}

extension AppStorePayloadsResponse {
  static let full = AppStorePayloadsResponse(
    scope: MessageSample.scope, payloads: [.full, .refused], revision: "r2", hasMore: true,
    orderStatus: 0)
}

extension GetSubscriptionStatusesResponse {
  static let full = GetSubscriptionStatusesResponse(
    scope: MessageSample.scope,
    subscriptions: [
      AppStoreSubscription(
        subscriptionGroupID: "21000001", originalTransactionID: "2000000000000001",
        status: .billingGracePeriod, transaction: .full, renewalInfo: .refused)
    ])
}

extension SentNotificationsResponse {
  static let full = SentNotificationsResponse(
    scope: MessageSample.scope,
    notifications: [
      AppStoreNotification(
        notification: .full, payloads: [.refused],
        attempts: [AppStoreSendAttempt(attemptedAt: 1_700_000_000_123, result: "TIMED_OUT")],
        stored: SubmitNotificationResponse(verdict: .ok))
    ], paginationToken: "5 t")
}

extension GetRenewalExtensionResponse {
  static let full = GetRenewalExtensionResponse(
    scope: MessageSample.scope, productID: "pro.monthly", requestIdentifier: "r",
    isComplete: true, completedAt: 1_700_000_000_123, succeeded: 0, failed: 7)
}

extension AppStoreChangeResponse {
  static let full = AppStoreChangeResponse(
    scope: MessageSample.scope, isDryRun: true, testNotificationToken: "t",
    requestIdentifier: "r", renewalDate: 0, subscriptionStatus: .expired,
    obstacles: [.expired, .familyShared])
}
