import EntitlementDomain
package import EntitlementService
import EntitlementStore
import Verification
package import Wire

// What submissions give, in the messages of the wire.

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
  /// Nil for a receipt of no known environment; none such is accepted.
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

// The wire has enumerations of its own, with the same raw values: it knows neither the store nor
// verification.

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
