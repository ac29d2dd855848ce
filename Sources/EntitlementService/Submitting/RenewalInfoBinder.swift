import EntitlementDomain
import Verification

/// Finds the app of a renewal info, which names none: that of a transaction of its chain in the
/// same submission. The store is asked after that.
///
/// What the request says is no evidence: a renewal info of another app, with a token of the
/// attacker's choice in it, could otherwise be planted in this one (R8).
struct RenewalInfoBinder {
  static let unbound = Refusal(
    .wrongApp,
    "a renewal info names no app, and no transaction of its chain is known: submit it together "
      + "with one, or after it")

  static let notAccepted = Refusal(
    .wrongApp, "the app or the environment of its chain is not one that is accepted")

  private var bundleIDs: [Chain: BundleID] = [:]

  private struct Chain: Hashable {
    let id: OriginalTransactionID
    let environment: StoreEnvironment
  }

  mutating func learn(_ payload: VerifiedPayload) {
    guard case .transaction(let transaction) = payload.content else { return }
    let chain = Chain(
      id: transaction.originalTransactionID, environment: transaction.environment)
    bundleIDs[chain] = transaction.bundleID
  }

  func bundleID(for info: UnboundRenewalInfo) -> BundleID? {
    bundleIDs[Chain(id: info.originalTransactionID, environment: info.environment)]
  }
}
