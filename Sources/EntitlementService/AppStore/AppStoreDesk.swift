package import EntitlementDomain
package import EntitlementStore
package import NIOCore
package import Verification
package import Wire
package import Workers

/// What operators ask the App Store, and change there, by its server API. A server without a key has
/// none.
///
/// Each call throws ``ServiceError/Code-swift.enum/appStore(_:)`` for an error of the App Store, and
/// ``ServiceError/Code-swift.enum/failedPrecondition`` for an app without a key or an environment that
/// the catalog does not accept.
package protocol AppStoreDesk: Sendable {
  /// Asks for transactions, verifies what comes back, and stores it if the request says so.
  func payloads(
    _ question: AppStoreQuestion, _ call: AppStoreCall
  ) async throws(ServiceError) -> CheckedPage

  func statuses(
    _ request: GetSubscriptionStatusesRequest, _ call: AppStoreCall
  ) async throws(ServiceError) -> CheckedStatuses

  func notifications(
    _ request: ListSentNotificationsRequest, _ call: AppStoreCall
  ) async throws(ServiceError) -> CheckedNotifications

  func testNotification(
    _ request: GetTestNotificationRequest, _ call: AppStoreCall
  ) async throws(ServiceError) -> CheckedNotifications

  func extensionStatus(
    _ request: GetRenewalExtensionRequest, _ call: AppStoreCall
  ) async throws(ServiceError) -> GetRenewalExtensionResponse

  /// Asks for a change. It is in the audit trail before it is asked for (R76).
  func change(
    _ change: AppStoreChange, _ call: AppStoreCall
  ) async throws(ServiceError) -> AppStoreChangeResponse
}

/// Fetches customers of whom nothing is stored (R85).
package protocol CustomerFetching: Sendable {
  /// Asks the App Store for the customer of an id, and stores what it answers. Callers of one id and
  /// kind of id share the work. It goes on when a caller is gone.
  ///
  /// - Parameter selector: an original transaction, transaction or app transaction.
  /// - Returns: false if the App Store does not know the id, or said so a moment ago.
  /// - Throws: ``ServiceError``, also when the App Store knows the id only as one of another kind.
  func fetch(_ selector: CustomerSelector, in scope: AppScope) async throws(ServiceError) -> Bool
}

/// A call of ``AppStoreDesk``.
package struct AppStoreCall: Sendable {
  /// The caller's; nil: none.
  package let deadline: NIODeadline?
  package let source: WorkSource
  package let caller: AuditCaller
  /// Whether the caller may use an app and environment.
  package let permits: @Sendable (AppScope) -> Bool
  package let isCancelled: @Sendable () -> Bool

  package init(
    deadline: NIODeadline?, source: WorkSource = .server, caller: AuditCaller = .server,
    permits: @escaping @Sendable (AppScope) -> Bool = { _ in true },
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.deadline = deadline
    self.source = source
    self.caller = caller
    self.permits = permits
    self.isCancelled = isCancelled
  }
}

/// A question whose answer is a list of signed payloads.
package enum AppStoreQuestion: Sendable {
  case transaction(GetTransactionRequest)
  case history(ListTransactionsRequest)
  case refunds(ListRefundsRequest)
  case order(LookUpOrderRequest)
  case appTransaction(GetAppTransactionRequest)
}

/// A change that is asked of the App Store.
package enum AppStoreChange: Sendable {
  case testNotification(RequestTestNotificationRequest)
  case extendRenewal(ExtendRenewalRequest)
  case extendAllRenewals(ExtendAllRenewalsRequest)
  case setToken(SetAppAccountTokenRequest)
  case finish(FinishTransactionRequest)
}

/// A payload that the App Store sent, after its verification.
package struct CheckedPayload: Sendable {
  package let signedPayload: String
  package let result: Result<VerifiedPayload, Refusal>
  /// Nil unless it was to be stored.
  package let stored: ItemResult?

  package init(
    signedPayload: String, result: Result<VerifiedPayload, Refusal>, stored: ItemResult? = nil
  ) {
    self.signedPayload = signedPayload
    self.result = result
    self.stored = stored
  }
}

package struct CheckedPage: Sendable {
  /// The environment that answered.
  package let scope: AppScope
  package let payloads: [CheckedPayload]
  /// Nil for a question without pages.
  package let revision: String?
  package let hasMore: Bool
  /// Of an order: Apple's number.
  package let orderStatus: Int64?

  package init(
    scope: AppScope, payloads: [CheckedPayload], revision: String? = nil, hasMore: Bool = false,
    orderStatus: Int64? = nil
  ) {
    self.scope = scope
    self.payloads = payloads
    self.revision = revision
    self.hasMore = hasMore
    self.orderStatus = orderStatus
  }
}

package struct CheckedStatuses: Sendable {
  package struct Subscription: Sendable {
    package let groupID: SubscriptionGroupID?
    package let originalTransactionID: OriginalTransactionID
    /// Nil for a status that is not known.
    package let status: SubscriptionStatus?
    package let transaction: CheckedPayload
    /// Nil for a member of a family.
    package let renewalInfo: CheckedPayload?

    package init(
      groupID: SubscriptionGroupID?, originalTransactionID: OriginalTransactionID,
      status: SubscriptionStatus?, transaction: CheckedPayload, renewalInfo: CheckedPayload?
    ) {
      self.groupID = groupID
      self.originalTransactionID = originalTransactionID
      self.status = status
      self.transaction = transaction
      self.renewalInfo = renewalInfo
    }
  }

  package let scope: AppScope
  package let subscriptions: [Subscription]

  package init(scope: AppScope, subscriptions: [Subscription]) {
    self.scope = scope
    self.subscriptions = subscriptions
  }
}

package struct CheckedNotifications: Sendable {
  package struct Notification: Sendable {
    package let payload: CheckedPayload
    package let attempts: [AppStoreSendAttempt]
    /// Nil unless it was to be stored.
    package let stored: NotificationResult?

    package init(
      payload: CheckedPayload, attempts: [AppStoreSendAttempt], stored: NotificationResult?
    ) {
      self.payload = payload
      self.attempts = attempts
      self.stored = stored
    }
  }

  package let scope: AppScope
  package let notifications: [Notification]
  /// Of the next page; nil on the last one.
  package let paginationToken: String?

  package init(
    scope: AppScope, notifications: [Notification], paginationToken: String? = nil
  ) {
    self.scope = scope
    self.notifications = notifications
    self.paginationToken = paginationToken
  }
}
