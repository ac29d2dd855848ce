package import EntitlementDomain

/// A payload that the App Store signed and that the policy accepts, with the bytes that prove it.
package struct VerifiedPayload: Sendable {
  package enum Content: Sendable {
    case transaction(TransactionFact)
    case renewalInfo(UnboundRenewalInfo)
    case appTransaction(AppTransactionFact)
    case notification(VerifiedNotification)
  }

  package let content: Content
  package let signed: SignedPayload

  package init(content: Content, signed: SignedPayload) {
    self.content = content
    self.signed = signed
  }

  package var kind: SignedKind {
    switch content {
    case .transaction: .transaction
    case .renewalInfo: .renewalInfo
    case .appTransaction: .appTransaction
    case .notification: .notification
    }
  }
}
