import EntitlementDomain
import Verification

/// Verifies payloads and receipts from files, without a server.
struct SourceVerifier {
  enum Verified {
    case payload(VerifiedPayload)
    case receipt
  }

  let payloads: JWSVerifier
  let receipts: ReceiptVerifier
  /// The device that receipts must be for; nil: any.
  let deviceIdentifier: [UInt8]?
  /// The time at which payloads without a signing date are verified.
  let now: Milliseconds

  func verify(
    _ finding: SourcedFinding, policy: VerificationPolicy
  ) -> Result<Verified, Refusal> {
    do throws(Refusal) {
      switch try finding.content.get() {
      case .jws(let bytes):
        return .success(.payload(try payloads.verify(bytes, policy: policy, now: now)))
      case .receipt(let bytes):
        let receipt = try receipts.verify(
          bytes, policy: policy, deviceIdentifier: deviceIdentifier)
        // A server refuses only the purchase that cannot be read. Here one such purchase fails the
        // receipt.
        for fact in receipt.facts { _ = try fact.get() }
        return .success(.receipt)
      case .archivedResponse:
        throw Refusal(
          .malformed,
          "an archived response of verifyReceipt is not signed, so there is nothing to verify")
      }
    } catch {
      return .failure(error)
    }
  }
}

/// The apps of chains, taken from their transactions. A renewal info names no app, so its app is
/// checked through its chain.
struct ChainApps {
  private struct Chain: Hashable {
    let id: OriginalTransactionID
    let environment: StoreEnvironment
  }

  private var bundleIDs: [Chain: Set<BundleID>] = [:]

  /// Records the app of a transaction, or of the transaction inside a notification.
  mutating func record(_ payload: VerifiedPayload) {
    switch payload.content {
    case .transaction(let transaction): record(transaction)
    case .notification(let notification):
      for case .transaction(let transaction) in notification.facts.map(\.fact) {
        record(transaction)
      }
    case .renewalInfo, .appTransaction: break
    }
  }

  private mutating func record(_ transaction: TransactionFact) {
    let chain = Chain(id: transaction.originalTransactionID, environment: transaction.environment)
    bundleIDs[chain, default: []].insert(transaction.bundleID)
  }

  /// The apps of the renewal info's chain; empty when no transaction of the chain was recorded.
  func bundleIDs(for info: UnboundRenewalInfo) -> Set<BundleID> {
    bundleIDs[Chain(id: info.originalTransactionID, environment: info.environment)] ?? []
  }
}
