package import EntitlementDomain
package import EntitlementStore
package import Verification

/// The outcome of one signed payload.
package struct ItemResult: Sendable {
  package let verdict: Verdict
  /// The reason of a refusal; nil when accepted.
  package let detail: String?
  package let kind: SignedKind?
  /// Nil when refused.
  package private(set) var disposition: FactDisposition?
  package let originalTransactionID: OriginalTransactionID?
  package let transactionID: TransactionID?
  /// The effect on the owner (R42, R44); nil when refused.
  package private(set) var link: LinkOutcome?

  /// The outcome of the same payload when it is submitted again.
  var repeated: ItemResult {
    var repeated = self
    if disposition == .added || disposition == .replaced { repeated.disposition = .duplicate }
    if [.linked, .transferred, .reclaimed].contains(link) { repeated.link = .unchanged }
    return repeated
  }

  init(refusal: Refusal, kind: SignedKind? = nil) {
    verdict = refusal.verdict
    detail = refusal.detail
    self.kind = kind
    disposition = nil
    originalTransactionID = nil
    transactionID = nil
    link = nil
  }

  init(stored fact: Fact, disposition: FactDisposition, link: LinkOutcome) {
    verdict = .ok
    detail = nil
    self.disposition = disposition
    self.link = link
    originalTransactionID = fact.chain
    switch fact {
    case .transaction(let transaction):
      kind = .transaction
      transactionID = transaction.transactionID
    case .renewalInfo:
      kind = .renewalInfo
      transactionID = nil
    case .appTransaction:
      kind = .appTransaction
      transactionID = nil
    }
  }
}

/// The outcome of a submission. Accepted payloads are committed.
package struct SubmissionResult: Sendable {
  /// One for each payload, in the order of the request.
  package let items: [ItemResult]
  /// The customers of the accepted payloads, with their revisions after the commit. The owner of a
  /// chain whose claim was refused is not included (R44).
  package let customers: [CustomerRevision]

  /// - Parameter payloads: The outcome of each payload of the request.
  init(
    of request: TransactionSubmission, payloads: [ItemResult], customers: [CustomerRevision]
  ) {
    var answered = Set<Int>()
    items = request.items.map { index in
      answered.insert(index).inserted ? payloads[index] : payloads[index].repeated
    }
    self.customers = customers
  }
}

/// The outcome of a receipt or an archived response.
package struct ReceiptResult: Sendable {
  package let verdict: Verdict
  /// The reason of a refusal; nil when accepted.
  package let detail: String?
  /// Nil when refused.
  package let receipt: Receipt?
  /// One result for the app, then one for each purchase in order, then, for an archived response,
  /// one for each renewal. Empty when refused.
  package let items: [ItemResult]
  /// As ``SubmissionResult/customers``.
  package let customers: [CustomerRevision]

  init(refusal: Refusal) {
    verdict = refusal.verdict
    detail = refusal.detail
    receipt = nil
    items = []
    customers = []
  }

  init(accepted receipt: Receipt, items: [ItemResult], customers: [CustomerRevision]) {
    verdict = .ok
    detail = nil
    self.receipt = receipt
    self.items = items
    self.customers = customers
  }
}

/// The outcome of a notification.
package struct NotificationResult: Sendable {
  package let verdict: Verdict
  /// The reason of a refusal; nil when accepted.
  package let detail: String?
  /// Nil when refused.
  package let record: NotificationRecord?
  /// True when the notification was stored before.
  package let wasKnown: Bool
  /// One for each nested payload.
  package let items: [ItemResult]
  /// As ``SubmissionResult/customers``.
  package let customers: [CustomerRevision]
  /// The events of the notification; empty when it was known.
  package let events: [FeedEvent]
}
