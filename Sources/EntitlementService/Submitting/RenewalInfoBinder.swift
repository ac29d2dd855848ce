import EntitlementDomain
import Verification

/// Finds the app of a renewal info, which names none: that of a transaction of its chain in the
/// same submission, else the one that the request names. The store is asked after that.
struct RenewalInfoBinder {
  static let unbound = Refusal(
    .wrongApp,
    "a renewal info names no app, and no transaction of its chain is known: submit it together "
      + "with one, or name the bundle id")

  static let notAccepted = Refusal(
    .wrongApp, "the app or the environment of its chain is not one that is accepted")

  private let expected: BundleID?
  private var bundleIDs: [Chain: BundleID] = [:]

  private struct Chain: Hashable {
    let id: OriginalTransactionID
    let environment: StoreEnvironment
  }

  init(expected: BundleID?) {
    self.expected = expected
  }

  mutating func learn(_ payload: VerifiedPayload) {
    guard case .transaction(let transaction) = payload.content else { return }
    let chain = Chain(
      id: transaction.originalTransactionID, environment: transaction.environment)
    bundleIDs[chain] = transaction.bundleID
  }

  func bundleID(for info: UnboundRenewalInfo) -> BundleID? {
    bundleIDs[Chain(id: info.originalTransactionID, environment: info.environment)] ?? expected
  }
}
