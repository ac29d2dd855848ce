import EntitlementDomain
import TestSupport
import Testing

@Suite("Properties: independent parts do not affect each other")
struct IsolationPropertyTests {
  @Test("R28: facts of another chain change no other chain's sources and no other group")
  func chains() throws {
    try RandomCustomers.expect("other chains") { customer in
      let now = customer.clock()
      let before = customer.state(at: now)
      var history = RandomHistory(
        scope: customer.record.scope, random: SeededRandom(seed: customer.random.next()),
        prefix: "other.")
      history.addChain(1, periods: customer.random.number(1...3))
      let after = customer.state(with: customer.record.facts + history.facts, at: now)

      func otherSources(_ state: CustomerState) -> [[EntitlementSource]] {
        RandomCatalog.entitlements.map { id in
          state.sources(of: id).filter { $0.chain?.rawValue.hasPrefix("other.") != true }
        }
      }
      if otherSources(before) != otherSources(after) { return "sources changed at \(now)" }
      let touched = history.groups(in: customer.catalog)
      func otherGroups(_ state: CustomerState) -> [GroupState] {
        state.groups.filter { !touched.contains($0.groupID) }
      }
      if otherGroups(before) != otherGroups(after) { return "another group changed at \(now)" }
      let products = history.products
      func otherProducts(_ state: CustomerState) -> [ProductState] {
        state.products.filter { !products.contains($0.productID) }
      }
      if otherProducts(before) != otherProducts(after) {
        return "another product changed at \(now)"
      }
      return nil
    }
  }

  @Test("R9: facts and grants of another app or environment change nothing")
  func scopes() throws {
    try RandomCustomers.expect("other scopes") { customer in
      let now = customer.clock()
      let before = customer.state(at: now)
      let scope = RandomCustomer.otherScope(of: customer.record.scope, &customer.random)
      var history = RandomHistory(
        scope: scope, random: SeededRandom(seed: customer.random.next()))
      history.addChain(0, periods: 2)
      history.addPurchase()
      history.addAppTransaction()
      var other = customer.record
      other.facts += history.facts
      other.grants.append(RandomGrant.make(9, scope, with: &customer.random))
      // The generator puts some grants into another scope, which may be this one.
      other.grants[other.grants.count - 1].scope = scope
      let after = Evaluation.state(of: other, catalog: customer.catalog, at: now)
      return before == after ? nil : "facts of \(scope) changed the state at \(now)"
    }
  }

  @Test("R32: purchases have the same state with and without grants")
  func grants() throws {
    try RandomCustomers.expect("grants") { customer in
      let now = customer.clock()
      var record = customer.record
      for number in 10..<(10 + customer.random.number(1...2)) {
        record.grants.append(RandomGrant.make(number, record.scope, with: &customer.random))
      }
      let with = Evaluation.state(of: record, catalog: customer.catalog, at: now)
      let given = record.grants
      record.grants = []
      let without = Evaluation.state(of: record, catalog: customer.catalog, at: now)
      if with.products != without.products || with.groups != without.groups
        || with.grandfathering != without.grandfathering
        || with.entitlementsWithoutGrants != without.entitlements
      {
        return "grants changed what was bought at \(now)"
      }
      record.grants = given.map { grant in
        var grant = grant
        grant.withdrawal = GrantWithdrawal(
          at: min(now, grant.withdrawal?.at ?? now), author: "operator", reason: "mistaken")
        return grant
      }
      let withdrawn = Evaluation.state(of: record, catalog: customer.catalog, at: now)
      return withdrawn.entitlements == without.entitlements
        && withdrawn.products == without.products && withdrawn.groups == without.groups
        ? nil : "grants withdrawn at \(now) still show"
    }
  }
}

extension RandomHistory {
  /// Every group that a chain of these facts may belong to.
  fileprivate func groups(in catalog: Catalog) -> Set<SubscriptionGroupID> {
    Set(products.compactMap { catalog.products[$0]?.group })
      .union(transactions.compactMap(\.subscriptionGroupID))
  }

  fileprivate var products: Set<ProductID> { Set(transactions.map(\.productID)) }

  private var transactions: [TransactionFact] {
    facts.compactMap { fact in
      guard case .transaction(let transaction) = fact else { return nil }
      return transaction
    }
  }
}

extension CustomerState {
  func sources(of id: EntitlementID) -> [EntitlementSource] {
    entitlements.first { $0.entitlementID == id }?.sources ?? []
  }

  fileprivate var entitlementsWithoutGrants: [EntitlementState] {
    entitlements.compactMap { entitlement in
      let sources = entitlement.sources.filter { source in
        if case .grant = source.origin { false } else { true }
      }
      return sources.isEmpty
        ? nil : EntitlementState(entitlementID: entitlement.entitlementID, sources: sources)
    }
  }
}

extension EntitlementSource {
  /// Nil for sources that are not purchases.
  fileprivate var chain: OriginalTransactionID? {
    guard case .purchase(_, let chain, _) = origin else { return nil }
    return chain
  }
}
