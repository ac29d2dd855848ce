import CEntitleMessages
package import EntitlementDomain

/// Request of `SetConsumptionPercentage`. Records how much of a purchase is consumed, and whether
/// it was delivered. The purchase need not be known. Each call replaces what the one before it
/// recorded.
package struct SetConsumptionPercentageRequest: Hashable, Sendable {
  /// The app and environment.
  package var scope: AppScope
  /// The purchase: its own transaction id, not that of the original purchase.
  package var transactionID: TransactionID
  /// How much is consumed, in thousandths of a percent, 0 to 100000; absent: none is known.
  package var percentage: Int64?
  /// Whether it was delivered; unspecified: as the policy of the product says.
  package var delivery: ConsumptionDelivery?
  /// On whose behalf the caller acts: a person or a tool. It is in the audit trail; the author is
  /// the caller.
  package var onBehalfOf: String?
  /// Why, for the audit trail.
  package var reason: String?

  package init(
    scope: AppScope,
    transactionID: TransactionID,
    percentage: Int64? = nil,
    delivery: ConsumptionDelivery? = nil,
    onBehalfOf: String? = nil,
    reason: String? = nil
  ) {
    self.scope = scope
    self.transactionID = transactionID
    self.percentage = percentage
    self.delivery = delivery
    self.onBehalfOf = onBehalfOf
    self.reason = reason
  }
}

extension SetConsumptionPercentageRequest {
  init(reading message: Entitle__V1__SetConsumptionPercentageRequest) throws(MessageError) {
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    transactionID = try Self.required(message.transaction_id, "transaction_id", limit: 256)
    percentage = message.has_percentage_case.isSet ? message.percentage : nil
    // A value that is not known is refused: without it, the purchase would count as delivered.
    if message.delivery != ENTITLE__V1__CONSUMPTION_DELIVERY__CONSUMPTION_DELIVERY_UNSPECIFIED {
      delivery = try Self.required(message.delivery, as: ConsumptionDelivery.self, "delivery")
    }
    onBehalfOf = try Self.bounded(message.on_behalf_of, "on_behalf_of", limit: 256)
    reason = try Self.bounded(message.reason, "reason", limit: 1_024)
  }

  func write(
    to message: inout Entitle__V1__SetConsumptionPercentageRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.number
    message.transaction_id = try Self.text(transactionID, "transaction_id", in: arena)
    if let percentage {
      message.has_percentage_case =
        ENTITLE__V1__SET_CONSUMPTION_PERCENTAGE_REQUEST__HAS_PERCENTAGE_PERCENTAGE
      message.percentage = percentage
    }
    if let delivery { message.delivery = delivery.number }
    message.on_behalf_of = try Self.text(onBehalfOf, "on_behalf_of", in: arena)
    message.reason = try Self.text(reason, "reason", in: arena)
  }
}

/// Request of `ListConsumptionRequests`. The App Store's requests, in pages, in the order of their
/// ids.
package struct ListConsumptionRequestsRequest: Hashable, Sendable {
  /// The app and environment.
  package var scope: AppScope
  /// Only this state; unspecified: all.
  package var state: ConsumptionState?
  /// Only the request about this purchase; empty: all.
  package var transactionID: TransactionID?
  /// Maximum number of requests in the page.
  package var pageSize: Int
  /// The next_page_token of the previous page; empty for the first page.
  package var pageToken: String?

  package init(
    scope: AppScope,
    state: ConsumptionState? = nil,
    transactionID: TransactionID? = nil,
    pageSize: Int = 0,
    pageToken: String? = nil
  ) {
    self.scope = scope
    self.state = state
    self.transactionID = transactionID
    self.pageSize = pageSize
    self.pageToken = pageToken
  }
}

extension ListConsumptionRequestsRequest {
  init(reading message: Entitle__V1__ListConsumptionRequestsRequest) throws(MessageError) {
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    // A value that is not known is refused: without the filter, the answer would have other requests.
    if message.state != ENTITLE__V1__CONSUMPTION_STATE__CONSUMPTION_STATE_UNSPECIFIED {
      state = try Self.required(message.state, as: ConsumptionState.self, "state")
    }
    transactionID = try Self.bounded(message.transaction_id, "transaction_id", limit: 256)
    pageSize = try Self.pageSize(message.page_size, "page_size")
    pageToken = try Self.bounded(message.page_token, "page_token", limit: 1_024)
  }

  func write(
    to message: inout Entitle__V1__ListConsumptionRequestsRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.number
    if let state { message.state = state.number }
    message.transaction_id = try Self.text(transactionID, "transaction_id", in: arena)
    message.page_size = Int32(clamping: pageSize)
    message.page_token = try Self.text(pageToken, "page_token", in: arena)
  }
}
