/// What is known of a customer, joined under a catalog: all of an evaluation that does not depend on
/// the moment. The same set of facts gives the same value but for positions, whatever their order
/// and number of repeats (R3).
struct History {
  let scope: AppScope
  let evidence: Evidence
  /// Positions in ``Evidence/products``, by product id.
  let productOrder: [Int]
  /// Auto-renewable chains, by chain id.
  let chains: [SubscriptionChain]
  /// Every other purchase, by product id.
  let purchases: [OneTimePurchases]
  /// R32: of this app and environment, by id.
  let grants: [Grant]
  /// The rules of the app, by id, and what each says (R33–R38).
  let grandfathering: [(rule: GrandfatheringRule, verdict: GrandfatheringVerdict)]
  /// Standing app transactions, by position.
  let appTransactions: [Int]
  /// In milliseconds (R24).
  let renewalLeeway: Int64
  /// No fact at all is known (R27).
  let isEmpty: Bool
  /// No transaction is known.
  let hasNoPurchase: Bool

  /// Facts and grants of other apps and environments are left out (R9).
  init(_ record: CustomerRecord, catalog: Catalog) {
    var builder = HistoryBuilder(facts: record.facts, scope: record.scope, catalog: catalog)
    builder.joinFacts()
    builder.groupTransactions()
    evidence = Evidence(facts: record.facts, products: builder.products)
    productOrder =
      builder.products.count > 1
      ? builder.products.indices.sorted { builder.products[$0].id < builder.products[$1].id }
      : Array(builder.products.indices)
    chains = builder.chains(in: evidence)
    purchases = builder.oneTimePurchases(in: evidence, order: productOrder)
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
    isEmpty =
      hasNoPurchase && builder.appTransactions.isEmpty && builder.renewalInfos.isEmpty
  }
}

extension History {
  /// The state at a moment, without its next transition.
  func state(of record: CustomerRecord, at now: Milliseconds) -> CustomerState {
    var gathering = StateGathering(history: self, now: now)
    for chain in chains { gathering.add(chain) }
    for purchases in purchases { gathering.add(purchases) }
    for position in grants.indices { gathering.addGrant(position) }
    for position in grandfathering.indices { gathering.addRule(position) }
    return gathering.state(of: record)
  }

  /// Every moment at which the state may change by itself (R30).
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
  /// R32.
  func isInForce(at now: Milliseconds) -> Bool {
    starts <= now && (end.map { now < $0 } ?? true)
  }
}

extension GrandfatheringVerdict {
  /// R39: it confers from the moment at which the customer got the app.
  func confers(at now: Milliseconds) -> Bool {
    state.outcome == .granted && (since.map { $0 <= now } ?? true)
  }
}

/// The facts of a customer as they came, and the products that they name. Everything else in an
/// evaluation refers to them by their positions.
struct Evidence {
  let facts: [Fact]
  let products: [Product]

  /// A product that a transaction names.
  struct Product {
    let id: ProductID
    /// Nil when the catalog does not name it (R14).
    let inCatalog: CatalogProduct?

    var entitlements: [EntitlementID] { inCatalog?.entitlements ?? [] }

    /// 1 is the highest (R28). A product that the catalog does not name is below all that it names.
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
