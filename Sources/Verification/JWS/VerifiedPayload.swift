package import EntitlementDomain

/// A payload that the App Store signed and that the policy accepts, with the bytes that prove it.
package struct VerifiedPayload: Sendable {
  // Indirect: results are handed on several times, and a fact holds a dozen texts that each copy
  // would count.
  package indirect enum Content: Sendable {
    case transaction(TransactionFact)
    case renewalInfo(UnboundRenewalInfo)
    case appTransaction(AppTransactionFact)
    case notification(VerifiedNotification)
  }

  package let content: Content
  package let signed: SignedPayload
  /// What vouches for it and, in a notification, for those inside it, each chain once.
  package let chains: [CertificateChain]

  package init(content: Content, signed: SignedPayload, chains: [CertificateChain]) {
    self.content = content
    self.signed = signed
    self.chains = chains
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
