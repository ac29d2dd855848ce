import EntitlementDomain
import TestSupport
import Testing

@Suite("Properties: the end of a source")
struct SourceEndPropertyTests {
  /// The largest number of later moments that are examined for one customer.
  private static let limit = 200

  @Test("R58: until is the first later moment at which the chain or stack no longer confers")
  func until() throws {
    try RandomCustomers.expect("until") { customer in
      let now = customer.clock()
      let state = customer.state(at: now)
      var later: [CustomerState] = []
      var last = state
      while let next = last.nextTransitionAt, later.count < Self.limit {
        last = customer.state(at: next)
        later.append(last)
      }
      for entitlement in state.entitlements {
        for source in entitlement.sources {
          guard let holder = Holder(source, of: customer) else { continue }
          let end = later.first { !holder.confers(entitlement.entitlementID, in: $0, customer) }
          if end == nil, later.count == Self.limit { continue }
          if source.until != end?.evaluatedAt {
            return
              "asked at \(now), \(entitlement.entitlementID) by \(source.origin) is told until "
              + "\(String(describing: source.until)), and ends at "
              + "\(String(describing: end?.evaluatedAt))"
          }
        }
      }
      return nil
    }
  }

  /// What a source by a purchase stands for: a chain, a stack, or the transaction alone.
  private enum Holder: Equatable {
    case chain(OriginalTransactionID)
    case stack(ProductID)
    case transaction(TransactionID)

    /// Nil for grants and grandfathering rules.
    init?(_ source: EntitlementSource, of customer: RandomCustomer) {
      guard case .purchase(let id, let chain, let product) = source.origin else { return nil }
      guard RandomCatalog.oneTimeProducts.contains(product) else {
        self = .chain(chain)
        return
      }
      let isStacking = customer.catalog.products[product]?.stacking == true
      // Without an end, a purchase is no part of a stack.
      let hasEnd = customer.standingTransaction(id)?.type != .nonConsumable
      self = isStacking && hasEnd ? .stack(product) : .transaction(id)
    }

    func confers(
      _ entitlement: EntitlementID, in state: CustomerState, _ customer: RandomCustomer
    ) -> Bool {
      state.sources(of: entitlement).contains { Holder($0, of: customer) == self }
    }
  }
}
