/// The merged facts of a customer under a catalog: the part of an evaluation that does not depend
/// on the moment. Only positions depend on the order and the duplicates of the facts (R3).
///
/// A class, like ``SubscriptionChain``: many parts of an evaluation refer to it, and a copy of a structure
/// would count a reference for each of its lists.
final class History {
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
  init(
    _ record: borrowing CustomerRecord, catalog: borrowing Catalog, check: inout CancellationCheck
  )
    throws(EvaluationCancelled)
  {
    var builder = HistoryBuilder(
      capacity: record.facts.count, scope: record.scope, catalog: catalog.products)
    var facts = record.facts
    builder.add(&facts)
    try check.ask()
    let products = builder.products
    let table = FactTable(facts: facts, products: products)
    self.table = table
    productOrder =
      products.count > 1
      ? products.indices.sorted { products[$0].id < products[$1].id } : Array(products.indices)
    chains = try builder.chains(in: table, check: &check)
    purchases = builder.oneTimePurchases(in: table, order: productOrder)
    scope = record.scope
    grants =
      record.grants.isEmpty
      ? []
      : record.grants.filter { $0.scope == record.scope }.sorted { $0.id < $1.id }
    appTransactions = builder.appTransactions
    let rules = catalog.grandfathering[record.scope.bundleID] ?? []
    let statements = rules.isEmpty ? [] : builder.appTransactions.map(table.appTransaction)
    grandfathering = rules.map { rule in
      (rule, rule.verdict(on: statements, in: record.scope.environment))
    }
    renewalLeeway = catalog.renewalLeeway
    hasNoPurchase = builder.hasNoPurchase
    isEmpty = builder.isEmpty
  }
}

extension History {
  /// The state at a moment.
  ///
  /// - Parameter boundaries: those around the moment; nil: the state does not tell its next transition.
  func state(
    of record: CustomerRecord, at now: Milliseconds, boundaries: Boundaries? = nil,
    check: inout CancellationCheck
  ) throws(EvaluationCancelled) -> CustomerState {
    var builder = StateBuilder(history: self, now: now)
    for position in chains.indices {
      try check.step()
      builder.addChain(position)
    }
    for position in purchases.indices {
      try check.step()
      builder.addPurchases(position)
    }
    for position in grants.indices { builder.addGrant(position) }
    for position in grandfathering.indices { builder.addRule(position) }
    return try builder.state(of: record, boundaries: boundaries, check: &check)
  }

  /// The moments at which the state may change without new facts (R30).
  func boundaries(around now: Milliseconds) -> Boundaries {
    var boundaries = Boundaries(around: now)
    for position in chains.indices {
      chains[position].noteBoundaries(leeway: renewalLeeway, unit: position, in: &boundaries)
    }
    for position in purchases.indices {
      purchases[position].noteBoundaries(unit: chains.count + position, in: &boundaries)
    }
    for (position, grant) in grants.enumerated() {
      boundaries.part = Boundaries.Part(unit: firstGrantUnit, item: position)
      boundaries.note(grant.starts)
      if let end = grant.end { boundaries.note(end) }
    }
    for (position, rule) in grandfathering.enumerated() {
      boundaries.part = Boundaries.Part(unit: firstGrantUnit + 1, item: position)
      if let since = rule.verdict.since { boundaries.note(since) }
    }
    return boundaries
  }

  /// The number of parts that are evaluated one by one.
  var partCount: Int {
    chains.reduce(0) { $0 + $1.periods.count } + purchases.reduce(0) { $0 + $1.windows.count }
      + grants.count
  }

  /// The unit of all grants in ``Boundaries``; that of the grandfathering rules follows.
  var firstGrantUnit: Int { chains.count + purchases.count }
}

/// The moments at which a state may change (R30), with the part of the history that changes.
struct Boundaries {
  /// A part of a history.
  struct Part {
    /// The chains, then the purchases of each product, then the grants, then the rules.
    let unit: Int32
    /// The index of a period, window, grant or rule.
    let item: Int32

    init(unit: Int, item: Int) {
      self.unit = Int32(truncatingIfNeeded: unit)
      self.item = Int32(truncatingIfNeeded: item)
    }
  }

  struct Boundary: Comparable {
    let moment: Milliseconds
    let part: Part

    static func < (left: Self, right: Self) -> Bool {
      left.moment == right.moment
        ? left.part.unit < right.part.unit : left.moment < right.moment
    }

    static func == (left: Self, right: Self) -> Bool {
      left.moment == right.moment && left.part.unit == right.part.unit
    }
  }

  private let now: Milliseconds
  /// The part of which the next moments are noted.
  var part = Part(unit: 0, item: 0)
  /// The boundaries after now, in no order.
  private(set) var upcoming: [Boundary] = []
  /// The latest moment up to now; nil when there is none.
  private(set) var latestPast: Milliseconds?

  init(around now: Milliseconds) {
    self.now = now
    upcoming.reserveCapacity(8)
  }

  mutating func note(_ moment: Milliseconds) {
    if moment > now {
      upcoming.append(Boundary(moment: moment, part: part))
    } else if latestPast.map({ $0 < moment }) ?? true {
      latestPast = moment
    }
  }

  /// The moments after now, without duplicates, the earliest first.
  var laterMoments: [Milliseconds] {
    var later: [Milliseconds] = []
    for moment in upcoming.lazy.map(\.moment).sorted() where moment != later.last {
      later.append(moment)
    }
    return later
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
    /// The position of the first transaction that names it.
    let fact: Int
    // What the catalog says of it. A copy of all that it says would count many references.

    /// Nil when the product is not in the catalog (R14).
    let kind: CatalogProduct.Kind?
    let group: SubscriptionGroupID?
    let duration: CalendarDuration?
    let isStacking: Bool
    let entitlements: [EntitlementID]
    /// The level of service; 1 is the highest (R28). A product that is not in the catalog is below
    /// all others.
    let level: Int

    var isInCatalog: Bool { kind != nil }
  }

  /// - Parameter fact: the position of a transaction.
  func transaction(_ fact: Int) -> TransactionFact {
    guard case .transaction(let transaction) = facts[fact] else {
      preconditionFailure("the position is that of another kind of fact")
    }
    return transaction
  }

  /// The order of two transactions by their ids.
  func hasLesserID(_ left: Int, _ right: Int) -> Bool {
    let facts = facts.span
    return Fact.hasLesserID(facts[left], facts[right])
  }

  /// - Parameter fact: the position of a renewal info.
  func renewalInfo(_ fact: Int) -> RenewalInfoFact {
    guard case .renewalInfo(let info) = facts[fact] else {
      preconditionFailure("the position is that of another kind of fact")
    }
    return info
  }

  /// - Parameter fact: the position of an app transaction.
  func appTransaction(_ fact: Int) -> AppTransactionFact {
    guard case .appTransaction(let appTransaction) = facts[fact] else {
      preconditionFailure("the position is that of another kind of fact")
    }
    return appTransaction
  }
}

extension FactTable.Product {
  /// The product of a transaction.
  static func of(
    _ fact: Fact, at position: Int, in catalog: [ProductID: CatalogProduct]
  ) -> FactTable.Product {
    guard case .transaction(let transaction) = fact else {
      preconditionFailure("another kind of fact has no product")
    }
    guard let inCatalog = catalog[transaction.productID] else {
      return FactTable.Product(
        id: transaction.productID, fact: position, kind: nil, group: nil, duration: nil,
        isStacking: false, entitlements: [], level: 1_000_000)
    }
    return FactTable.Product(
      id: transaction.productID, fact: position, kind: inCatalog.kind, group: inCatalog.group,
      duration: inCatalog.duration, isStacking: inCatalog.stacking,
      entitlements: inCatalog.entitlements, level: inCatalog.level)
  }
}

extension Fact {
  /// A separate function that only reads fields; see ``TransactionOutline``.
  @inline(never)
  fileprivate static func hasLesserID(_ left: Fact, _ right: Fact) -> Bool {
    guard case .transaction(let left) = left, case .transaction(let right) = right else {
      preconditionFailure("the position is that of another kind of fact")
    }
    return left.transactionID < right.transactionID
  }
}
