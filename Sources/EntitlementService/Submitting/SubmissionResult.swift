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

  init(refusal: Refusal, kind: SignedKind? = nil) {
    verdict = refusal.verdict
    detail = refusal.detail
    self.kind = kind
    disposition = nil
    originalTransactionID = nil
    transactionID = nil
  }

  init(stored fact: Fact, disposition: FactDisposition) {
    verdict = .ok
    detail = nil
    self.disposition = disposition
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
  /// Every customer that accepted payloads concern, with the revision after them.
  package let customers: [CustomerRevision]
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
  package let customers: [CustomerRevision]
}
