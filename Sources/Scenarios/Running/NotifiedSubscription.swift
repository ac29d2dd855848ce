import AppStorePayloads
import EntitlementDomain
import EntitlementStore

/// What a notification says of a subscription at the moment at which it was signed. The state of that
/// moment must say the same (R54).
struct NotifiedSubscription {
  let line: Int
  let type: String
  let scope: AppScope
  /// The moment of signing. The payloads inside may be signed some milliseconds later.
  let moment: Milliseconds
  private let status: SubscriptionStatus
  let transaction: TransactionFact
  /// Nil for a notification about a single transaction, which may be an earlier one.
  private let renewalInfo: RenewalInfoFact?

  /// Nil for a notification that is not about an auto-renewable subscription, or names no status.
  ///
  /// - Parameter payload: the JSON of the notification.
  init?(payload: [UInt8], line: Int) {
    guard let fields = try? PayloadFields(json: payload),
      let notification = try? PayloadDecoder.notification(fields),
      let status = notification.status.flatMap(SubscriptionStatus.init(rawValue:)),
      let signedDate = notification.signedDate,
      let facts = try? NotificationFacts.facts(inside: payload)
    else { return nil }
    var transaction: TransactionFact?
    var renewalInfo: RenewalInfoFact?
    for fact in facts.map(\.fact) {
      switch fact {
      case .transaction(let fact): transaction = fact
      case .renewalInfo(let fact): renewalInfo = fact
      case .appTransaction: break
      }
    }
    guard let transaction, transaction.type == .autoRenewable else { return nil }
    self.line = line
    self.type = ([notification.type] + [notification.subtype].compactMap(\.self))
      .joined(separator: " ")
    scope = transaction.scope
    moment = max(signedDate, transaction.signedDate, renewalInfo?.signedDate ?? signedDate)
    self.status = status
    self.transaction = transaction
    self.renewalInfo = Self.singular.contains(notification.type) ? nil : renewalInfo
  }

  /// Types about one transaction of the subscription, and not about its renewal (rules.md §8).
  private static let singular: Set<String> = [
    "REFUND", "REFUND_REVERSED", "REFUND_DECLINED", "CONSUMPTION_REQUEST", "REVOKE",
  ]

  /// Compares the state at ``moment`` with the notification. Of a notification about a single
  /// transaction, only the status is compared.
  func compare(with state: CustomerState, in comparison: inout Comparison) {
    let chain = transaction.originalTransactionID
    let standing =
      state.groups.map(\.standing).first { $0.originalTransactionID == chain }
      ?? state.products.first {
        $0.standing.originalTransactionID == chain && $0.productID == transaction.productID
      }?.standing
    guard let standing else { return differ("chain", chain.rawValue, "absent", in: &comparison) }
    check("status", status.name, Self.name(standing.status), in: &comparison)
    guard let renewalInfo else { return }
    check("productId", transaction.productID.rawValue, standing.productID.rawValue, in: &comparison)
    // A renewal that was charged ahead is not the current period yet (R18).
    if transaction.purchaseDate <= moment {
      check("periodEnd", transaction.expiresDate, standing.periodEnd, in: &comparison)
    }
    if [.active, .grace, .billingRetry].contains(standing.status) {
      check("willRenew", renewalInfo.autoRenews, standing.willRenew, in: &comparison)
    }
    if standing.status == .expired {
      check(
        "expirationReason", Self.reason(renewalInfo.expirationIntent), standing.expirationReason,
        in: &comparison)
    }
    if standing.coreState == .active, renewalInfo.autoRenews == true {
      let next = renewalInfo.autoRenewProductID
      check(
        "pendingChange", next == transaction.productID ? nil : next,
        standing.pendingChange?.productID, in: &comparison)
    }
  }

  private func check<Value: Equatable>(
    _ field: String, _ expected: Value?, _ actual: Value?, in comparison: inout Comparison
  ) {
    if expected == actual { return }
    differ(
      field, expected.map { "\($0)" } ?? "absent", actual.map { "\($0)" } ?? "absent",
      in: &comparison)
  }

  private func differ(
    _ field: String, _ expected: String, _ actual: String, in comparison: inout Comparison
  ) {
    comparison.differ(line, "as_notified.\(type).\(field)", expected, actual)
  }

  private static func name(_ status: DetailedStatus) -> String {
    SubscriptionStatus(status)?.name ?? "\(status)"
  }

  /// R21.
  private static func reason(_ intent: ExpirationIntent?) -> ExpirationReason {
    switch intent {
    case nil: .unknown
    case .some(.cancelled): .customerCancelled
    case .some(.billingError): .billingError
    case .some(.noPriceConsent): .priceIncreaseDeclined
    case .some(.productUnavailable): .productUnavailable
    default: .other
    }
  }
}
