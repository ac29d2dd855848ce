import AppStoreServerAPI
import EntitlementDomain
package import EntitlementService
import EntitlementStore
import NIOCore
import Verification
package import Wire
import Workers

// Questions: what comes back is verified, and stored if the request says so.
extension AppStoreOperations {
  package func payloads(
    _ question: AppStoreQuestion, _ call: AppStoreCall
  ) async throws(ServiceError) -> CheckedPage {
    try await limited(call) { (call) async throws(ServiceError) in
      switch question {
      case .transaction(let request):
        let (scope, jws) = try await ask(in: request.scope, orSandbox: request.orSandbox, call) {
          (client, scope, deadline) async throws(AppStoreServerError) in
          try await client.transaction(request.transactionID, in: scope, deadline: deadline)
        }
        return CheckedPage(
          scope: scope,
          payloads: try await checked([jws], stores: request.stores, in: scope, call))
      case .appTransaction(let request):
        let (scope, jws) = try await ask(in: request.scope, orSandbox: request.orSandbox, call) {
          (client, scope, deadline) async throws(AppStoreServerError) in
          try await client.appTransaction(
            of: TransactionID(request.id), in: scope, deadline: deadline)
        }
        return CheckedPage(
          scope: scope,
          payloads: try await checked([jws], stores: request.stores, in: scope, call))
      case .order(let request):
        let scope = request.scope
        guard scope.environment == .production else {
          throw ServiceError(
            .invalidArgument(field: "environment"), "Apple looks up orders of production only")
        }
        let found = try await ask(in: scope, call) {
          (client, scope, deadline) async throws(AppStoreServerError) in
          try await client.order(request.orderID, of: scope.bundleID, deadline: deadline)
        }
        return CheckedPage(
          scope: scope,
          payloads: try await checked(
            found.signedTransactions, stores: request.stores, in: scope, call),
          orderStatus: found.status)
      case .history(let request): return try await history(request, call)
      case .refunds(let request): return try await refunds(request, call)
      }
    }
  }

  private func history(
    _ request: ListTransactionsRequest, _ call: AppStoreCall
  ) async throws(ServiceError) -> CheckedPage {
    let query = try request.query
    let id = TransactionID(request.id)
    return try await pages(
      in: request.scope, orSandbox: request.orSandbox, from: request.revision,
      until: request.effectivePageSize, stores: request.stores, call
    ) { (client, scope, revision, deadline) async throws(AppStoreServerError) in
      let page = try await client.history(
        of: id, in: scope, matching: query, from: revision, deadline: deadline)
      return ListedPage(
        payloads: page.signedTransactions, revision: page.revision, hasMore: page.hasMore)
    }
  }

  private func refunds(
    _ request: ListRefundsRequest, _ call: AppStoreCall
  ) async throws(ServiceError) -> CheckedPage {
    let id = TransactionID(request.id)
    return try await pages(
      in: request.scope, orSandbox: request.orSandbox, from: request.revision,
      until: request.effectivePageSize, stores: request.stores, call
    ) { (client, scope, revision, deadline) async throws(AppStoreServerError) in
      let page = try await client.refunds(of: id, in: scope, from: revision, deadline: deadline)
      return ListedPage(
        payloads: page.signedTransactions, revision: page.revision, hasMore: page.hasMore)
    }
  }

  private struct ListedPage: Sendable {
    let payloads: [String]
    let revision: String
    let hasMore: Bool
  }

  /// Asks for pages until there are enough payloads, or as many bytes as an answer can have.
  private func pages(
    in scope: AppScope, orSandbox: Bool, from start: String?, until count: Int, stores: Bool,
    _ call: AppStoreCall,
    _ fetch: (AppStoreServerClient, AppScope, String?, NIODeadline)
      async throws(AppStoreServerError) -> ListedPage
  ) async throws(ServiceError) -> CheckedPage {
    if orSandbox, start != nil {
      throw ServiceError(
        .invalidArgument(field: "or_sandbox"),
        "a revision is of one environment: name the one that answered")
    }
    var (scope, page) = try await ask(in: scope, orSandbox: orSandbox, call) {
      (client, scope, deadline) async throws(AppStoreServerError) in
      try await fetch(client, scope, start, deadline)
    }
    var payloads = page.payloads
    var bytes = payloads.reduce(0) { $0 + $1.utf8.count }
    while page.hasMore, payloads.count < count, bytes < limits.pageBytes {
      let revision = page.revision
      page = try await ask(in: scope, call) {
        (client, scope, deadline) async throws(AppStoreServerError) in
        try await fetch(client, scope, revision, deadline)
      }
      payloads += page.payloads
      bytes += page.payloads.reduce(0) { $0 + $1.utf8.count }
      // A page without any, and a next one, would never end.
      if page.payloads.isEmpty { break }
    }
    return CheckedPage(
      scope: scope, payloads: try await checked(payloads, stores: stores, in: scope, call),
      revision: page.revision, hasMore: page.hasMore)
  }

  package func statuses(
    _ request: GetSubscriptionStatusesRequest, _ call: AppStoreCall
  ) async throws(ServiceError) -> CheckedStatuses {
    try await limited(call) { (call) async throws(ServiceError) in
      let only = request.statuses.compactMap { SubscriptionStatus(rawValue: Int64($0.rawValue)) }
      let (scope, statuses) = try await ask(
        in: request.scope, orSandbox: request.orSandbox, call
      ) { (client, scope, deadline) async throws(AppStoreServerError) in
        try await client.subscriptionStatuses(
          of: TransactionID(request.id), in: scope, only: only, deadline: deadline)
      }
      return try await checked(statuses, stores: request.stores, in: scope, call)
    }
  }

  /// A renewal info is known by the transaction that comes with it, so all are one submission.
  func checked(
    _ statuses: SubscriptionStatuses, stores: Bool, in scope: AppScope, _ call: AppStoreCall
  ) async throws(ServiceError) -> CheckedStatuses {
    let payloads = try await checked(
      statuses.subscriptions.flatMap {
        [$0.signedTransactionInfo, $0.signedRenewalInfo].compactMap(\.self)
      },
      stores: stores, in: scope, call)
    var rest = payloads[...]
    var subscriptions: [CheckedStatuses.Subscription] = []
    for group in statuses.groups {
      for subscription in group.subscriptions {
        guard let transaction = rest.popFirst() else { break }
        let renewalInfo = subscription.signedRenewalInfo == nil ? nil : rest.popFirst()
        subscriptions.append(
          CheckedStatuses.Subscription(
            groupID: group.subscriptionGroupID,
            originalTransactionID: subscription.originalTransactionID,
            status: subscription.knownStatus, transaction: transaction, renewalInfo: renewalInfo))
      }
    }
    return CheckedStatuses(scope: scope, subscriptions: subscriptions)
  }

  package func extensionStatus(
    _ request: GetRenewalExtensionRequest, _ call: AppStoreCall
  ) async throws(ServiceError) -> GetRenewalExtensionResponse {
    try await limited(call) { (call) async throws(ServiceError) in
      let status = try await ask(in: request.scope, call) {
        (client, scope, deadline) async throws(AppStoreServerError) in
        try await client.massExtensionStatus(
          of: request.requestIdentifier, product: request.productID, in: scope,
          deadline: deadline)
      }
      return GetRenewalExtensionResponse(
        scope: request.scope, productID: request.productID,
        requestIdentifier: status.requestIdentifier, isComplete: status.isComplete,
        completedAt: status.completeDate, succeeded: status.succeededCount,
        failed: status.failedCount)
    }
  }

  // MARK: Notifications

  package func notifications(
    _ request: ListSentNotificationsRequest, _ call: AppStoreCall
  ) async throws(ServiceError) -> CheckedNotifications {
    try await limited(call) { (call) async throws(ServiceError) in
      let position = try request.position(now: clock.now())
      let query = try request.query(until: position.end)
      var token = position.token
      var found: [SentNotification] = []
      var bytes = 0
      repeat {
        let from = token
        let page = try await ask(in: request.scope, call) {
          (client, scope, deadline) async throws(AppStoreServerError) in
          try await client.notifications(in: scope, matching: query, from: from, deadline: deadline)
        }
        found += page.notifications
        bytes += page.notifications.reduce(0) { $0 + $1.signedPayload.utf8.count }
        token = page.next
        // A page without any, and a next one, would never end.
        if page.notifications.isEmpty { break }
      } while token != nil && found.count < request.effectivePageSize && bytes < limits.pageBytes
      return CheckedNotifications(
        scope: request.scope,
        notifications: try await checked(found, stores: request.stores, in: request.scope, call),
        paginationToken: token.map { NotificationPosition(end: position.end, token: $0).text })
    }
  }

  package func testNotification(
    _ request: GetTestNotificationRequest, _ call: AppStoreCall
  ) async throws(ServiceError) -> CheckedNotifications {
    try await limited(call) { (call) async throws(ServiceError) in
      let sent = try await ask(in: request.scope, call) {
        (client, scope, deadline) async throws(AppStoreServerError) in
        try await client.testNotification(
          request.testNotificationToken, in: scope, deadline: deadline)
      }
      return CheckedNotifications(
        scope: request.scope,
        notifications: try await checked([sent], stores: false, in: request.scope, call))
    }
  }

  // MARK: Verification

  /// Verifies transactions, renewal infos and app transactions. To be stored, they are submitted like
  /// those of any caller, and no account is named.
  func checked(
    _ payloads: [String], stores: Bool, in scope: AppScope, _ call: AppStoreCall
  ) async throws(ServiceError) -> [CheckedPayload] {
    guard !payloads.isEmpty else { return [] }
    let bytes = payloads.map { Array($0.utf8) }
    var stored: [ItemResult] = []
    if stores {
      stored = try await submissions.submit(
        TransactionSubmission(
          signedPayloads: bytes, source: call.source, permits: { $0 == scope }),
        deadline: call.instant, isCancelled: call.isCancelled
      ).items
    }
    let results = try await submissions.check(
      bytes, in: scope, of: call.source, deadline: call.instant, isCancelled: call.isCancelled)
    return zip(payloads, results).enumerated().map { index, checked in
      CheckedPayload(
        signedPayload: checked.0, result: checked.1,
        stored: index < stored.count ? stored[index] : nil)
    }
  }

  private func checked(
    _ notifications: [SentNotification], stores: Bool, in scope: AppScope, _ call: AppStoreCall
  ) async throws(ServiceError) -> [CheckedNotifications.Notification] {
    var stored: [NotificationResult] = []
    if stores {
      for notification in notifications {
        stored.append(
          try await submissions.submit(
            NotificationSubmission(
              signedPayload: Array(notification.signedPayload.utf8), source: call.source,
              permits: { $0 == scope }),
            deadline: call.instant, isCancelled: call.isCancelled))
      }
    }
    let results = try await submissions.check(
      notifications.map { Array($0.signedPayload.utf8) }, as: .notification, in: scope,
      of: call.source, deadline: call.instant, isCancelled: call.isCancelled)
    return zip(notifications, results).enumerated().map { index, checked in
      CheckedNotifications.Notification(
        payload: CheckedPayload(signedPayload: checked.0.signedPayload, result: checked.1),
        attempts: checked.0.sendAttempts.map {
          AppStoreSendAttempt(attemptedAt: $0.date, result: $0.result)
        },
        stored: index < stored.count ? stored[index] : nil)
    }
  }
}

// MARK: Requests

/// Where a list of notifications continues. Apple takes a token only with the same request, so the end
/// of the time goes with it.
private struct NotificationPosition {
  let end: Milliseconds
  /// Apple's; nil for the first page.
  let token: String?

  init(end: Milliseconds, token: String?) {
    self.end = end
    self.token = token
  }

  /// - Parameter text: the end and Apple's token, with a space between them.
  init?(_ text: String) {
    let parts = text.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let end = Int64(parts[0]) else { return nil }
    self.init(end: Milliseconds(end), token: String(parts[1]))
  }

  var text: String { "\(end.rawValue) \(token ?? "")" }
}

extension ListSentNotificationsRequest {
  fileprivate func position(now: Milliseconds) throws(ServiceError) -> NotificationPosition {
    guard let paginationToken else { return NotificationPosition(end: end ?? now, token: nil) }
    guard let position = NotificationPosition(paginationToken) else {
      throw ServiceError(
        .invalidArgument(field: "pagination_token"), "the token is not one of this server")
    }
    return position
  }

  fileprivate func query(
    until end: Milliseconds
  ) throws(ServiceError) -> NotificationHistoryQuery {
    var filter: NotificationHistoryQuery.Filter?
    switch (transactionID, notificationType) {
    case (let id?, nil): filter = .transaction(id)
    case (nil, let type?):
      filter = .type(
        NotificationType(rawValue: type),
        notificationSubtype.map { NotificationSubtype(rawValue: $0) })
    case (nil, nil): break
    case (.some, .some):
      throw ServiceError(
        .invalidArgument(field: "notification_type"),
        "Apple takes a transaction or a notification type, and not both")
    }
    if notificationSubtype != nil, notificationType == nil {
      throw ServiceError(
        .invalidArgument(field: "notification_subtype"), "a subtype needs its notification type")
    }
    guard start < end else {
      throw ServiceError(.invalidArgument(field: "start_ms"), "start_ms is not before the end")
    }
    return NotificationHistoryQuery(
      startDate: start, endDate: end, filter: filter, onlyFailures: onlyFailures)
  }
}

extension ListTransactionsRequest {
  fileprivate var query: HistoryQuery {
    get throws(ServiceError) {
      try AppStoreOperations.check(productIDs, as: "product_ids", limit: 256)
      try AppStoreOperations.check(
        subscriptionGroupIDs, as: "subscription_group_ids", limit: 256)
      var query = HistoryQuery()
      query.startDate = start
      query.endDate = end
      query.productIDs = productIDs.map { ProductID($0) }
      for name in productTypes {
        guard let type = HistoryQuery.ProductType(rawValue: name) else {
          throw ServiceError(
            .invalidArgument(field: "product_types"),
            "product_types has a name that is none of "
              + HistoryQuery.ProductType.allCases.map(\.rawValue).joined(separator: ", "))
        }
        query.productTypes.append(type)
      }
      query.subscriptionGroupIDs = subscriptionGroupIDs.map { SubscriptionGroupID($0) }
      query.ownershipType = ownershipType.map { OwnershipType(rawValue: $0) }
      query.isDescending = isDescending
      query.isRevoked = revoked
      return query
    }
  }
}
