import EntitlementDomain

@testable import Wire

extension MessageSample {
  static let consumption: [MessageSample] = [
    MessageSample("full", SetConsumptionConsentRequest.full),
    MessageSample(
      "bare", SetConsumptionConsentRequest(scope: barest, accountID: "a", isConsented: false)),
    MessageSample(
      "full", SetConsumptionConsentResponse(consent: .full, isChanged: true)),
    MessageSample(
      "bare", SetConsumptionConsentResponse(consent: .bare, isChanged: false)),
    MessageSample("full", GetConsumptionConsentRequest(scope: scope, accountID: "émile")),
    MessageSample("bare", GetConsumptionConsentRequest(scope: barest, accountID: "a")),
    MessageSample("full", GetConsumptionConsentResponse(consent: .full)),
    MessageSample("bare", GetConsumptionConsentResponse(consent: nil)),
    MessageSample("full", SetConsumptionPercentageRequest.full),
    MessageSample(
      "none consumed",
      SetConsumptionPercentageRequest(scope: barest, transactionID: "2", percentage: 0)),
    MessageSample("bare", SetConsumptionPercentageRequest(scope: barest, transactionID: "2")),
    MessageSample("full", SetConsumptionPercentageResponse(isChanged: true)),
    MessageSample("bare", SetConsumptionPercentageResponse(isChanged: false)),
    MessageSample("full", ListConsumptionRequestsRequest.full),
    MessageSample("bare", ListConsumptionRequestsRequest(scope: barest)),
    MessageSample(
      "full", ListConsumptionRequestsResponse(requests: [.full, .bare], nextPageToken: "8")),
    MessageSample("bare", ListConsumptionRequestsResponse(requests: [], nextPageToken: nil)),
    MessageSample("full", SendConsumptionRequest.full),
    MessageSample("bare", SendConsumptionRequest(scope: barest, transactionID: "2")),
    MessageSample("full", SendConsumptionResponse(request: .full, isChanged: true)),
    MessageSample("bare", SendConsumptionResponse(request: .bare, isChanged: false)),
  ]
}

extension SetConsumptionConsentRequest {
  static let full = SetConsumptionConsentRequest(
    scope: MessageSample.scope, accountID: "émile", isConsented: true, onBehalfOf: "ada",
    reason: "a form")
}

extension SetConsumptionPercentageRequest {
  static let full = SetConsumptionPercentageRequest(
    scope: MessageSample.scope, transactionID: "2000000000000002", percentage: 42_500,
    delivery: .undeliveredWrongItem, onBehalfOf: "ada", reason: "émis")
}

extension ListConsumptionRequestsRequest {
  static let full = ListConsumptionRequestsRequest(
    scope: MessageSample.scope, state: .notSent, transactionID: "2000000000000002",
    pageSize: 1_000, pageToken: "41")
}

extension SendConsumptionRequest {
  static let full = SendConsumptionRequest(
    scope: MessageSample.scope, transactionID: "2000000000000002", isDryRun: true,
    onBehalfOf: "ada", reason: "a ticket")
}

extension ConsumptionConsentEntry {
  static let full = ConsumptionConsentEntry(
    isConsented: true, recordedAt: 1_700_000_000_000, author: "backend", onBehalfOf: "ada",
    reason: "a form")
  static let bare = ConsumptionConsentEntry(
    isConsented: false, recordedAt: 0, author: nil, onBehalfOf: nil, reason: nil)
}

extension ConsumptionRequestEntry {
  static let full = ConsumptionRequestEntry(
    requestID: 7, scope: MessageSample.scope, transactionID: "2000000000000002",
    notificationUUID: "3c9a17d2-64be-4f0b-9d11-000000000001", requestReason: "OTHER",
    requestedAt: 1_700_000_000_000, answerUntil: 1_700_043_200_000, state: .notSent,
    cause: .appleRefused, detail: "émis: HTTP 400", attempts: 2, changedAt: 1_700_000_000_123,
    percentage: 42_500, delivery: .delivered)
  /// Of a server that knows states and causes that this program does not.
  static let bare = ConsumptionRequestEntry(
    requestID: 1, scope: MessageSample.barest, transactionID: "2", requestedAt: 0, answerUntil: 0,
    attempts: 0, changedAt: 0)
}
