package import EntitlementDomain
package import EntitlementStore
package import Verification

/// What became of one signed payload.
package struct ItemResult: Sendable {
  package let verdict: Verdict
  /// Why it was refused; nil when it was not.
  package let detail: String?
  package let kind: SignedKind?
  /// What the store did with it; nil when it was refused.
  package let disposition: FactDisposition?
  package let originalTransactionID: OriginalTransactionID?
  package let transactionID: TransactionID?
  /// What it meant for the owner (R42, R44); nil when it was refused.
  package let link: LinkOutcome?

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

/// What became of a submission. Accepted payloads are committed.
package struct SubmissionResult: Sendable {
  /// One for each payload, in the order of the request.
  package let items: [ItemResult]
  /// Every customer that accepted payloads concern, with the revision after them; not the owner of
  /// what was claimed in vain (R44).
  package let customers: [CustomerRevision]
}

/// What became of a receipt, or of an archived response to one.
package struct ReceiptResult: Sendable {
  package let verdict: Verdict
  /// Why it was refused; nil when it was not.
  package let detail: String?
  /// Nil when it was refused.
  package let receipt: Receipt?
  /// What became of what it says: of the app, then of each purchase in its order; of an archived
  /// response, the renewals last. Empty when it was refused.
  package let items: [ItemResult]
  /// As for a submission of transactions.
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

/// What became of a notification.
package struct NotificationResult: Sendable {
  package let verdict: Verdict
  /// Why it was refused; nil when it was not.
  package let detail: String?
  /// Nil when it was refused.
  package let record: NotificationRecord?
  package let wasKnown: Bool
  /// One for each payload inside it.
  package let items: [ItemResult]
  /// As for a submission of transactions.
  package let customers: [CustomerRevision]
  /// What it asks somebody to do or to know; empty when it was known.
  package let events: [FeedEvent]
}
