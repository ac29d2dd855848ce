import EntitlementDomain
import Verification

/// The apps of the chains whose transactions are at hand: what a renewal info, which names no app,
/// can be held to.
struct ChainApps {
  private struct Chain: Hashable {
    let id: OriginalTransactionID
    let environment: StoreEnvironment
  }

  private var bundleIDs: [Chain: Set<BundleID>] = [:]

  /// Learns from a transaction, or from those inside a notification.
  mutating func learn(_ payload: VerifiedPayload) {
    switch payload.content {
    case .transaction(let transaction): learn(transaction)
    case .notification(let notification):
      for case .transaction(let transaction) in notification.facts.map(\.fact) {
        learn(transaction)
      }
    case .renewalInfo, .appTransaction: break
    }
  }

  private mutating func learn(_ transaction: TransactionFact) {
    let chain = Chain(id: transaction.originalTransactionID, environment: transaction.environment)
    bundleIDs[chain, default: []].insert(transaction.bundleID)
  }

  /// Empty when none of its chain's transactions is at hand.
  func bundleIDs(for info: UnboundRenewalInfo) -> Set<BundleID> {
    bundleIDs[Chain(id: info.originalTransactionID, environment: info.environment)] ?? []
  }
}
