/// The merged facts of a customer under a catalog: the part of an evaluation that does not depend
/// on the moment. Only positions depend on the order and the duplicates of the facts (R3).
struct History {
  let scope: AppScope
  let table: FactTable
  /// Positions in ``FactTable/products``, by product id.
  let productOrder: [Int]
  /// Auto-renewable chains, sorted by chain id.
  let chains: [SubscriptionChain]
  /// All other purchases, sorted by product id.
  let purchases: [OneTimePurchases]
  /// The grants of this app and environment, sorted by id (R32).
  let grants: [Grant]
  /// The rules of the app, sorted by id, with their verdicts (R33–R38).
  let grandfathering: [(rule: GrandfatheringRule, verdict: GrandfatheringVerdict)]
  /// The positions of the standing app transactions.
  let appTransactions: [Int]
  /// In milliseconds (R24).
  let renewalLeeway: Int64
  /// Whether neither a transaction nor a renewal info is known (R27).
  let isEmpty: Bool
  /// Whether no transaction is known.
  let hasNoPurchase: Bool

  /// Merges the facts of a record. Facts and grants of other apps and environments are ignored
  /// (R9).
  init(_ record: CustomerRecord, catalog: Catalog, check: inout CancellationCheck)
    throws(EvaluationCancelled)
  {
    var builder = HistoryBuilder(facts: record.facts, scope: record.scope, catalog: catalog)
    builder.mergeFacts()
    try check.ask()
    builder.groupTransactions()
    try check.ask()
    table = FactTable(facts: record.facts, products: builder.products)
    productOrder =
      builder.products.count > 1
      ? builder.products.indices.sorted { builder.products[$0].id < builder.products[$1].id }
      : Array(builder.products.indices)
    chains = builder.chains(in: table)
    purchases = builder.oneTimePurchases(in: table, order: productOrder)
    scope = record.scope
    grants =
      record.grants.isEmpty
      ? []
      : record.grants.filter { $0.scope == record.scope }.sorted { $0.id < $1.id }
    appTransactions = builder.appTransactions
    let rules = catalog.grandfathering[record.scope.bundleID] ?? []
    let statements = rules.isEmpty ? [] : builder.appTransactionFacts
    grandfathering = rules.map { rule in
      (rule, rule.verdict(on: statements, in: record.scope.environment))
    }
    renewalLeeway = catalog.renewalLeeway
    hasNoPurchase = builder.transactions.isEmpty
    isEmpty = hasNoPurchase && builder.renewalInfos.isEmpty
  }
}

extension History {
  /// The state at a moment, without its next transition.
  func state(
    of record: CustomerRecord, at now: Milliseconds, check: inout CancellationCheck
  ) throws(EvaluationCancelled) -> CustomerState {
    var builder = StateBuilder(history: self, now: now)
    for chain in chains {
      try check.step()
      builder.add(chain)
    }
    for purchases in purchases {
      try check.step()
      builder.add(purchases)
    }
    for position in grants.indices { builder.addGrant(position) }
    for position in grandfathering.indices { builder.addRule(position) }
    return builder.state(of: record)
  }

  /// The moments at which the state may change without new facts (R30).
  func moments(around now: Milliseconds) -> TransitionMoments {
    var moments = TransitionMoments(around: now)
    for chain in chains { chain.noteMoments(leeway: renewalLeeway, in: &moments) }
    for purchases in purchases { purchases.noteMoments(in: &moments) }
    for grant in grants {
      moments.note(grant.starts)
      if let end = grant.end { moments.note(end) }
    }
    for (_, verdict) in grandfathering {
      if let since = verdict.since { moments.note(since) }
    }
    return moments
  }
}

extension Grant {
  /// Whether the grant confers its entitlement (R32).
  func isInForce(at now: Milliseconds) -> Bool {
    starts <= now && (end.map { now < $0 } ?? true)
  }
}

extension GrandfatheringVerdict {
  /// Whether the rule confers. It does from the moment at which the customer got the app (R39).
  func confers(at now: Milliseconds) -> Bool {
    state.outcome == .granted && (since.map { $0 <= now } ?? true)
  }
}

/// The facts of a customer, and the products that they name. All other parts of an evaluation refer
/// to both by position.
struct FactTable {
  let facts: [Fact]
  let products: [Product]

  /// A product that occurs in a transaction.
  struct Product {
    let id: ProductID
    /// Nil when the product is not in the catalog (R14).
    let inCatalog: CatalogProduct?

    var entitlements: [EntitlementID] { inCatalog?.entitlements ?? [] }

    /// The level of service; 1 is the highest (R28). A product that is not in the catalog is below
    /// all others.
    var level: Int { inCatalog?.level ?? 1_000_000 }
  }

  /// - Parameter fact: the position of a transaction.
  func transaction(_ fact: Int) -> TransactionFact {
    guard case .transaction(let transaction) = facts[fact] else {
      preconditionFailure("the position is that of another kind of fact")
    }
    return transaction
  }

  /// - Parameter fact: the position of a renewal info.
  func renewalInfo(_ fact: Int) -> RenewalInfoFact {
    guard case .renewalInfo(let info) = facts[fact] else {
      preconditionFailure("the position is that of another kind of fact")
    }
    return info
  }
}
