import AccessControl
import EntitlementDomain
package import EntitlementService
import EntitlementStore
import Framing
import NIOCore
package import RPCServer
import Verification
import Wire

/// `entitle.v1.AppStoreService`: calls of the App Store Server API for operators.
package struct AppStoreEndpoint: Sendable {
  /// Nil without keys.
  private let desk: (any AppStoreDesk)?

  package init(desk: (any AppStoreDesk)?) {
    self.desk = desk
  }

  package func register(in router: inout RPCRouter) {
    router.unary(WireMethods.getTransaction, getTransaction)
    router.unary(WireMethods.listTransactions, listTransactions)
    router.unary(WireMethods.getSubscriptionStatuses, getSubscriptionStatuses)
    router.unary(WireMethods.listRefunds, listRefunds)
    router.unary(WireMethods.lookUpOrder, lookUpOrder)
    router.unary(WireMethods.getAppTransaction, getAppTransaction)
    router.unary(WireMethods.listSentNotifications, listSentNotifications)
    router.unary(WireMethods.requestTestNotification, requestTestNotification)
    router.unary(WireMethods.getTestNotification, getTestNotification)
    router.unary(WireMethods.extendRenewal, extendRenewal)
    router.unary(WireMethods.extendAllRenewals, extendAllRenewals)
    router.unary(WireMethods.getRenewalExtension, getRenewalExtension)
    router.unary(WireMethods.setAppAccountToken, setAppAccountToken)
    router.unary(WireMethods.finishTransaction, finishTransaction)
  }

  /// Answers with what the desk says. Without one, the app has no key.
  ///
  /// - Parameter stores: whether a request also submits what comes back, for which its caller needs the
  ///   permission to submit.
  private func respond<Request: AuthorizedRequest>(
    to call: RPCCall, _ answer: RPCAnswer, _ type: Request.Type,
    in scope: @escaping @Sendable (Request) -> AppScope,
    storing stores: @escaping @Sendable (Request) -> Bool = { _ in false },
    _ body: @escaping @Sendable (any AppStoreDesk, Request, AppStoreCall) async throws -> ByteBuffer
  ) {
    let appStoreCall = AppStoreCall(
      deadline: call.deadline, source: call.source, caller: call.auditCaller,
      permits: call.permits, isCancelled: { answer.isCancelled })
    answer.respond(to: call, type) { request in
      if stores(request), !call.identity.caller.permissions.contains(.submit) {
        throw call.refusal(.permission, details: ["permission": Permission.submit.name])
      }
      return .later {
        guard let desk else {
          try JobRecords.check([], reach: scope(request))
          throw ServiceError(.internalFault, "the App Store cannot be asked")
        }
        return try await body(desk, request, appStoreCall)
      }
    }
  }

  // MARK: Questions

  @Sendable
  private func getTransaction(_ call: RPCCall, _ answer: RPCAnswer) {
    respond(to: call, answer, GetTransactionRequest.self, in: \.scope, storing: \.stores) {
      desk, request, call in
      try AppStorePayloadsResponse(
        try await desk.payloads(.transaction(request), call), signed: request.includesSigned
      ).encoded()
    }
  }

  @Sendable
  private func listTransactions(_ call: RPCCall, _ answer: RPCAnswer) {
    respond(to: call, answer, ListTransactionsRequest.self, in: \.scope, storing: \.stores) {
      desk, request, call in
      try AppStorePayloadsResponse(
        try await desk.payloads(.history(request), call), signed: request.includesSigned
      ).encoded()
    }
  }

  @Sendable
  private func listRefunds(_ call: RPCCall, _ answer: RPCAnswer) {
    respond(to: call, answer, ListRefundsRequest.self, in: \.scope, storing: \.stores) {
      desk, request, call in
      try AppStorePayloadsResponse(
        try await desk.payloads(.refunds(request), call), signed: request.includesSigned
      ).encoded()
    }
  }

  @Sendable
  private func lookUpOrder(_ call: RPCCall, _ answer: RPCAnswer) {
    respond(to: call, answer, LookUpOrderRequest.self, in: \.scope, storing: \.stores) {
      desk, request, call in
      try AppStorePayloadsResponse(
        try await desk.payloads(.order(request), call), signed: request.includesSigned
      ).encoded()
    }
  }

  @Sendable
  private func getAppTransaction(_ call: RPCCall, _ answer: RPCAnswer) {
    respond(to: call, answer, GetAppTransactionRequest.self, in: \.scope, storing: \.stores) {
      desk, request, call in
      try AppStorePayloadsResponse(
        try await desk.payloads(.appTransaction(request), call), signed: request.includesSigned
      ).encoded()
    }
  }

  @Sendable
  private func getSubscriptionStatuses(_ call: RPCCall, _ answer: RPCAnswer) {
    respond(to: call, answer, GetSubscriptionStatusesRequest.self, in: \.scope, storing: \.stores) {
      desk, request, call in
      try GetSubscriptionStatusesResponse(
        try await desk.statuses(request, call), signed: request.includesSigned
      ).encoded()
    }
  }

  @Sendable
  private func listSentNotifications(_ call: RPCCall, _ answer: RPCAnswer) {
    respond(to: call, answer, ListSentNotificationsRequest.self, in: \.scope, storing: \.stores) {
      desk, request, call in
      try SentNotificationsResponse(
        try await desk.notifications(request, call), signed: request.includesSigned
      ).encoded()
    }
  }

  @Sendable
  private func getTestNotification(_ call: RPCCall, _ answer: RPCAnswer) {
    respond(to: call, answer, GetTestNotificationRequest.self, in: \.scope) {
      desk, request, call in
      try SentNotificationsResponse(
        try await desk.testNotification(request, call), signed: request.includesSigned
      ).encoded()
    }
  }

  @Sendable
  private func getRenewalExtension(_ call: RPCCall, _ answer: RPCAnswer) {
    respond(to: call, answer, GetRenewalExtensionRequest.self, in: \.scope) {
      desk, request, call in
      try (try await desk.extensionStatus(request, call)).encoded()
    }
  }

  // MARK: Changes

  @Sendable
  private func requestTestNotification(_ call: RPCCall, _ answer: RPCAnswer) {
    respond(to: call, answer, RequestTestNotificationRequest.self, in: \.scope) {
      desk, request, call in
      try (try await desk.change(.testNotification(request), call)).encoded()
    }
  }

  @Sendable
  private func extendRenewal(_ call: RPCCall, _ answer: RPCAnswer) {
    respond(to: call, answer, ExtendRenewalRequest.self, in: \.scope) { desk, request, call in
      try (try await desk.change(.extendRenewal(request), call)).encoded()
    }
  }

  @Sendable
  private func extendAllRenewals(_ call: RPCCall, _ answer: RPCAnswer) {
    respond(to: call, answer, ExtendAllRenewalsRequest.self, in: \.scope) { desk, request, call in
      try (try await desk.change(.extendAllRenewals(request), call)).encoded()
    }
  }

  @Sendable
  private func setAppAccountToken(_ call: RPCCall, _ answer: RPCAnswer) {
    respond(to: call, answer, SetAppAccountTokenRequest.self, in: \.scope) {
      desk, request, call in
      try (try await desk.change(.setToken(request), call)).encoded()
    }
  }

  @Sendable
  private func finishTransaction(_ call: RPCCall, _ answer: RPCAnswer) {
    respond(to: call, answer, FinishTransactionRequest.self, in: \.scope) { desk, request, call in
      try (try await desk.change(.finish(request), call)).encoded()
    }
  }
}

// MARK: Messages

/// Makes messages of payloads as long as there is room for their contents in the answer.
private struct PayloadMessages {
  let includesSigned: Bool
  /// Bytes of contents that still fit. What else an answer has is small.
  private var room = RPCLimits.maximumFrameData / 4 * 3

  init(signed: Bool) {
    includesSigned = signed
  }

  mutating func message(_ checked: CheckedPayload) -> AppStorePayload {
    let stored = checked.stored.map { SubmittedItemResult($0) }
    let signed = includesSigned ? checked.signedPayload : ""
    switch checked.result {
    case .success(let payload):
      return message(
        AppStorePayload(
          verdict: .ok, kind: SubmittedKind(payload.kind),
          payload: String(decoding: payload.signed.payload, as: UTF8.self),
          signedPayload: signed.isEmpty ? nil : signed, stored: stored))
    case .failure(let refusal):
      return message(
        AppStorePayload(
          verdict: SubmissionVerdict(refusal.verdict), detail: refusal.detail,
          signedPayload: signed.isEmpty ? nil : signed, stored: stored))
    }
  }

  /// The payload inside a notification.
  mutating func message(_ fact: SignedFact) -> AppStorePayload {
    message(
      AppStorePayload(
        verdict: .ok, kind: SubmittedKind(fact.fact.kind),
        payload: String(decoding: fact.signed.payload, as: UTF8.self)))
  }

  private mutating func message(_ message: AppStorePayload) -> AppStorePayload {
    let length = (message.payload?.utf8.count ?? 0) + (message.signedPayload?.utf8.count ?? 0)
    guard length > room else {
      room -= length
      return message
    }
    var message = message
    message.payload = nil
    message.signedPayload = nil
    message.isOmitted = true
    return message
  }
}

extension AppStorePayloadsResponse {
  fileprivate init(_ page: CheckedPage, signed: Bool) {
    var messages = PayloadMessages(signed: signed)
    self.init(
      scope: page.scope, payloads: page.payloads.map { messages.message($0) },
      revision: page.revision, hasMore: page.hasMore, orderStatus: page.orderStatus)
  }
}

extension GetSubscriptionStatusesResponse {
  fileprivate init(_ statuses: CheckedStatuses, signed: Bool) {
    var messages = PayloadMessages(signed: signed)
    self.init(
      scope: statuses.scope,
      subscriptions: statuses.subscriptions.map { subscription in
        AppStoreSubscription(
          subscriptionGroupID: subscription.groupID,
          originalTransactionID: subscription.originalTransactionID,
          status: subscription.status.flatMap { AppStoreStatus(rawValue: Int($0.rawValue)) },
          transaction: messages.message(subscription.transaction),
          renewalInfo: subscription.renewalInfo.map { messages.message($0) })
      })
  }
}

extension SentNotificationsResponse {
  fileprivate init(_ page: CheckedNotifications, signed: Bool) {
    var messages = PayloadMessages(signed: signed)
    self.init(
      scope: page.scope,
      notifications: page.notifications.map { notification in
        AppStoreNotification(
          notification: messages.message(notification.payload),
          payloads: notification.payload.facts.map { messages.message($0) },
          attempts: notification.attempts,
          stored: notification.stored.map { SubmitNotificationResponse($0) })
      }, paginationToken: page.paginationToken)
  }
}

extension CheckedPayload {
  /// Those inside a notification that was verified.
  fileprivate var facts: [SignedFact] {
    guard case .success(let payload) = result,
      case .notification(let notification) = payload.content
    else { return [] }
    return notification.facts
  }
}

extension SubmittedKind {
  fileprivate init(_ kind: FactKind) {
    switch kind {
    case .transaction: self = .transaction
    case .renewalInfo: self = .renewalInfo
    case .appTransaction: self = .appTransaction
    }
  }
}
