import EntitlementDomain
package import EntitlementService
import EntitlementStore
package import RPCServer
import Verification
package import Wire
import Workers

/// `entitle.v1.SubmissionService`: accepts payloads that the App Store signed.
package struct SubmissionEndpoint: Sendable {
  private let submissions: SubmissionService

  package init(submissions: SubmissionService) {
    self.submissions = submissions
  }

  package func register(in router: inout RPCRouter) {
    router.unary(WireMethods.submitSignedTransactions, submitSignedTransactions)
    router.unary(WireMethods.submitNotification, submitNotification)
    router.unary(WireMethods.submitReceipt, submitReceipt)
  }

  @Sendable
  private func submitSignedTransactions(_ call: RPCCall, _ answer: RPCAnswer) {
    let deadline = call.instant
    let source = call.source
    let permits = call.permits
    answer.respond(to: call, SubmitSignedTransactionsRequest.self) { request in
      .later {
        let result = try await submissions.submit(
          TransactionSubmission(
            signedPayloads: request.signedPayloads.map { Array($0.utf8) },
            bundleID: request.bundleID, accountID: request.accountID,
            anonymousAccountID: request.anonymousAccountID,
            priority: WorkPriority(request.priority), source: source, permits: permits),
          deadline: deadline, isCancelled: { answer.isCancelled })
        return try SubmitSignedTransactionsResponse(result).encoded()
      }
    }
  }

  @Sendable
  private func submitNotification(_ call: RPCCall, _ answer: RPCAnswer) {
    let deadline = call.instant
    let source = call.source
    let permits = call.permits
    answer.respond(to: call, SubmitNotificationRequest.self) { request in
      .later {
        let result = try await submissions.submit(
          NotificationSubmission(
            signedPayload: Array(request.signedPayload.utf8), bundleID: request.bundleID,
            accountID: request.accountID, priority: WorkPriority(request.priority), source: source,
            permits: permits),
          deadline: deadline, isCancelled: { answer.isCancelled })
        return try SubmitNotificationResponse(result).encoded()
      }
    }
  }

  @Sendable
  private func submitReceipt(_ call: RPCCall, _ answer: RPCAnswer) {
    let deadline = call.instant
    let source = call.source
    let permits = call.permits
    answer.respond(to: call, SubmitReceiptRequest.self) { request in
      .later {
        let result = try await submissions.submit(
          ReceiptSubmission(
            receipt: request.receipt, deviceIdentifier: request.deviceIdentifier,
            bundleID: request.bundleID, accountID: request.accountID,
            anonymousAccountID: request.anonymousAccountID,
            priority: WorkPriority(request.priority), source: source, permits: permits),
          deadline: deadline, isCancelled: { answer.isCancelled })
        return try SubmitReceiptResponse(result).encoded()
      }
    }
  }
}

// MARK: Messages

extension WorkPriority {
  init(_ priority: SubmissionPriority) {
    switch priority {
    case .interactive: self = .interactive
    case .bulk: self = .bulk
    }
  }
}

extension SubmitSignedTransactionsResponse {
  package init(_ result: SubmissionResult) {
    self.init(
      results: result.items.map { SubmittedItemResult($0) },
      customers: result.customers.map { SubmittedCustomer($0) })
  }
}

extension SubmitNotificationResponse {
  package init(_ result: NotificationResult) {
    self.init(
      verdict: SubmissionVerdict(result.verdict), detail: result.detail,
      notificationUUID: result.record?.uuid, notificationType: result.record?.type,
      subtype: result.record?.subtype, isDuplicate: result.wasKnown,
      results: result.items.map { SubmittedItemResult($0) },
      customers: result.customers.map { SubmittedCustomer($0) }, events: result.events)
  }
}

extension SubmitReceiptResponse {
  init(_ result: ReceiptResult) {
    self.init(
      verdict: SubmissionVerdict(result.verdict), detail: result.detail,
      receipt: result.receipt.flatMap { ReceiptSummary($0) },
      results: result.items.map { SubmittedItemResult($0) },
      customers: result.customers.map { SubmittedCustomer($0) })
  }
}

extension ReceiptSummary {
  /// Nil if the environment of the receipt is unknown. Such a receipt is never accepted.
  init?(_ receipt: Receipt) {
    guard let environment = receipt.environment else { return nil }
    self.init(
      receiptType: receipt.receiptType,
      scope: AppScope(bundleID: receipt.bundleID, environment: environment),
      creationDate: receipt.creationDate, applicationVersion: receipt.applicationVersion,
      originalApplicationVersion: receipt.originalApplicationVersion,
      originalPurchaseDate: receipt.originalPurchaseDate, expirationDate: receipt.expirationDate,
      inAppCount: receipt.items.count)
  }
}

// `Wire` imports neither the store nor verification. It has its own enumerations, with the same raw
// values.

extension SubmissionVerdict {
  init(_ verdict: Verdict) {
    self = SubmissionVerdict(rawValue: verdict.rawValue) ?? .unrecognized
  }
}

extension SubmittedItemResult {
  init(_ item: ItemResult) {
    self.init(
      verdict: SubmissionVerdict(item.verdict), detail: item.detail,
      kind: item.kind.map { SubmittedKind($0) },
      disposition: item.disposition.flatMap { SubmissionDisposition(rawValue: $0.rawValue) },
      originalTransactionID: item.originalTransactionID, transactionID: item.transactionID,
      link: item.link.flatMap { SubmissionLinkOutcome(rawValue: $0.rawValue) })
  }
}

extension SubmittedKind {
  init(_ kind: SignedKind) {
    switch kind {
    case .transaction: self = .transaction
    case .renewalInfo: self = .renewalInfo
    case .appTransaction: self = .appTransaction
    case .notification: self = .notification
    }
  }
}

extension SubmittedCustomer {
  init(_ customer: CustomerRevision) {
    self.init(
      subject: Subject(customer.subject), scope: customer.subject.scope,
      revision: customer.revision)
  }
}
