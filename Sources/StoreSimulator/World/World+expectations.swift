import EntitlementDomain

// What a service that knows all signed facts must say of a customer (rules R15 to R29), under
// `SimulatedApp.catalogYAML`.
extension World {
  /// The expected states of a customer now: one for the subscription group, and one for each other
  /// product. None for a customer without purchases.
  package func expectedStates(of index: Int) -> [ExpectedState] {
    let customer = customers[index]
    guard customer.script != nil || customer.lifeCycle == nil else {
      let state = population.customer(at: index).timeline.expectation(at: now)
      return state.product == nil ? [] : [state]
    }
    var states: [ExpectedState] = []
    let chains = records.chains(of: index).map(\.payload)
    if let best = chains.max(by: { isWorse($0, than: $1, of: index) }),
      let state = expectation(of: best, of: index)
    {
      states.append(state)
    }
    for product in SimulatedApp.products where product.group == nil {
      let purchases = records.transactions(of: index).map(\.payload)
        .filter { $0.productID == product.id }
      if !purchases.isEmpty { states.append(expectation(of: product, purchases)) }
    }
    return states
  }

  private func expectation(of chain: TransactionPayload, of index: Int) -> ExpectedState? {
    guard let product = SimulatedApp.product(chain.productID) else { return nil }
    let renewalInfo = records.customers[index].renewalInfos[chain.originalTransactionID]
    let willRenew = renewalInfo?.autoRenews
    var pending: SimulatedProduct?
    if let next = renewalInfo?.autoRenewProductID, next != product.id, willRenew == true {
      pending = SimulatedApp.product(next)
    }
    switch ChainPhase(of: chain, renewalInfo, at: now) {
    case .active:
      let call: CallToAction =
        switch (willRenew, renewalInfo?.priceIncreaseStatus) {
        case (false, _): .keepSubscription
        case (_, PriceIncreaseStatus.pending): .consentToPrice
        default: .none
        }
      return .active(product, willRenew: willRenew, callToAction: call, pending: pending)
    case .grace:
      var state = ExpectedState.grace(product)
      state.pendingProductID = pending?.id
      return state
    case .billingRetry: return .billingRetry(product)
    case .expired:
      return .expired(
        product, Self.reason(of: renewalInfo?.expirationIntent), willRenew: willRenew)
    case .revoked: return .revoked(product, willRenew: willRenew)
    }
  }

  private func expectation(
    of product: SimulatedProduct, _ purchases: [TransactionPayload]
  ) -> ExpectedState {
    let standing = purchases.filter { $0.revocationDate == nil }
    switch product.type {
    case .consumable:
      return standing.count == purchases.count ? .consumed(product) : .revoked(product)
    case .nonRenewing:
      let months = product.months ?? 0
      if standing.contains(where: { now < $0.purchaseDate.adding(months: months) }) {
        return .active(product)
      }
      return standing.isEmpty ? .revoked(product) : .expired(product, .ended)
    default:
      return standing.isEmpty ? .revoked(product) : .active(product)
    }
  }

  private static func reason(of intent: ExpirationIntent?) -> ExpirationReason {
    switch intent {
    case ExpirationIntent.cancelled: .customerCancelled
    case .billingError: .billingError
    case .noPriceConsent: .priceIncreaseDeclined
    case .productUnavailable: .productUnavailable
    case nil: .unknown
    default: .other
    }
  }

  /// Of two chains of a group the better one tells (R28).
  private func isWorse(
    _ left: TransactionPayload, than right: TransactionPayload, of index: Int
  ) -> Bool {
    func rank(_ chain: TransactionPayload) -> (Int, Int, Milliseconds, TransactionID) {
      let renewalInfo = records.customers[index].renewalInfos[chain.originalTransactionID]
      let order: [ChainPhase] = [.revoked, .expired, .billingRetry, .grace, .active]
      let phase = order.firstIndex(of: ChainPhase(of: chain, renewalInfo, at: now)) ?? -1
      let level = SimulatedApp.product(chain.productID)?.level ?? .max
      return (phase, -level, chain.expiresDate ?? now, chain.transactionID)
    }
    return rank(left) < rank(right)
  }
}
