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
