import AppStorePayloads
package import EntitlementDomain

/// A payload with a valid signature that the policy accepts, with the signed bytes.
package struct VerifiedPayload: Sendable {
  // Indirect: results are passed on several times, and each copy of a fact would retain a dozen
  // strings.
  package indirect enum Content: Sendable {
    case transaction(TransactionFact)
    case renewalInfo(UnboundRenewalInfo)
    case appTransaction(AppTransactionFact)
    case notification(VerifiedNotification)
  }

  package let content: Content
  package let signed: SignedPayload
  /// The certificate chains of the payload and of its inner payloads, without duplicates.
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

/// A verified renewal info outside a notification. It has no bundle id. It becomes a fact when it
/// is bound to the app of its chain, if the policy accepts that app.
package struct UnboundRenewalInfo: Hashable, Sendable {
  // The bundle id is empty and is not exposed.
  private let fact: RenewalInfoFact

  init(
    _ fields: PayloadFields, digest: PayloadDigest, machine: SigningMachine?
  ) throws(PayloadError) {
    let fact = try PayloadDecoder.renewalInfo(fields, digest: digest, bundleID: BundleID(""))
    self.fact = machine.map(fact.marked(by:)) ?? fact
  }

  package var originalTransactionID: OriginalTransactionID { fact.originalTransactionID }
  package var environment: StoreEnvironment { fact.environment }

  package func bound(to bundleID: BundleID) -> RenewalInfoFact {
    var fact = fact
    fact.bundleID = bundleID
    return fact
  }
}

/// A verified notification with the facts of its inner payloads, which are verified and have the
/// same app and environment.
package struct VerifiedNotification: Hashable, Sendable {
  package let record: NotificationRecord
  package let transaction: SignedFact?
  /// Bound to the notification's app.
  package let renewalInfo: SignedFact?
  package let appTransaction: SignedFact?
  /// The reason of a CONSUMPTION_REQUEST, as received.
  package let consumptionRequestReason: String?

  package init(
    record: NotificationRecord, transaction: SignedFact?, renewalInfo: SignedFact?,
    appTransaction: SignedFact?, consumptionRequestReason: String? = nil
  ) {
    self.record = record
    self.transaction = transaction
    self.renewalInfo = renewalInfo
    self.appTransaction = appTransaction
    self.consumptionRequestReason = consumptionRequestReason
  }

  /// All facts of the inner payloads.
  package var facts: [SignedFact] {
    [transaction, renewalInfo, appTransaction].compactMap { $0 }
  }
}
