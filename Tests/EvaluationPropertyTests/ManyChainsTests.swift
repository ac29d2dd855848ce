import EntitlementDomain
import Glibc
import TestSupport
import Testing

@Suite("Customers with many chains")
struct ManyChainsTests {
  /// The state without what differs at every moment.
  private func content(_ state: CustomerState) -> CustomerState {
    var content = state
    content.evaluatedAt = 0
    content.nextTransitionAt = nil
    return content
  }

  /// R30 as it is written: of all moments at which a rule may change something, the first at which
  /// the state is another one. Takes quadratic time.
  private func nextTransition(of record: CustomerRecord, _ catalog: Catalog, at now: Milliseconds)
    -> Milliseconds?
  {
    var moments: [Milliseconds] = []
    var last = Milliseconds(.max)
    while let moment = Evaluation.evaluate(record, catalog: catalog, at: last).lastBoundaryAt,
      moment > now
    {
      moments.append(moment)
      last = moment.advanced(by: -1)
    }
    let present = content(Evaluation.state(of: record, catalog: catalog, at: now))
    return moments.reversed().first {
      content(Evaluation.state(of: record, catalog: catalog, at: $0)) != present
    }
  }

  @Test("R30: the sweep finds the transition that its definition gives")
  func definition() throws {
    var depth = 0
    let first = SeededRandom(for: "many chains").seed
    for index in Rounds(300, of: "many chains") {
      let seed = first &+ UInt64(index)
      var random = SeededRandom(seed: seed)
      let catalog = Self.catalog(with: &random)
      let record = Self.record(with: &random)
      let dates = RandomClock.dates(of: record)
      for _ in 0..<2 {
        let now = random.pick(dates).advanced(by: Int64(random.number(-1...1)))
        let state = Evaluation.state(of: record, catalog: catalog, at: now)
        let expected = nextTransition(of: record, catalog, at: now)
        #expect(
          state.nextTransitionAt == expected, "TEST_SEED=\(seed), at \(now)")
        if state.nextTransitionAt != expected { return }
        let end = expected ?? Milliseconds(.max)
        depth += dates.filter { $0 > now && $0 < end }.count
      }
    }
    // Otherwise the first moment would always be the one.
    #expect(depth > 30)
  }

  /// Catalogs in which little is visible: then the sweep goes past many moments.
  private static func catalog(with random: inout SeededRandom) -> Catalog {
    let catalog = RandomCatalog.make(with: &random)
    guard !random.chance(3) else { return catalog }
    return Catalog(
      apps: Array(catalog.apps.values), entitlements: Array(catalog.entitlements.values),
      products: catalog.products.values.sorted { $0.id < $1.id }.map { product in
        var product = product
        if !random.chance(4) { product.entitlements = [] }
        return product
      }, renewalLeeway: catalog.renewalLeeway)
  }

  private static func record(with random: inout SeededRandom) -> CustomerRecord {
    let scope = AppScope(bundleID: RandomCatalog.bundleID, environment: .production)
    var history = RandomHistory(scope: scope, random: SeededRandom(seed: random.next()))
    for number in 0..<random.number(1...25) {
      history.addChain(
        number, periods: random.chance(6) ? random.number(4...20) : random.number(1...3))
    }
    for _ in 0..<random.number(0...10) { history.addPurchase() }
    return CustomerRecord(
      scope: scope, accountID: "customer", revision: 1,
      facts: history.facts.shuffled(using: &random),
      grants: random.chance(4) ? [RandomGrant.make(0, scope, with: &random)] : [])
  }

  // MARK: Cost

  /// A quadratic evaluation of these customers takes from many seconds to minutes.
  @Test(
    "A customer of 10,000 chains or periods is evaluated and explained in time",
    arguments: LargeCustomer.allCases)
  func cost(customer: LargeCustomer) {
    let record = customer.record(10_000)
    let started = Self.processorTime
    _ = Evaluation.state(of: record, catalog: LargeCustomer.catalog, at: LargeCustomer.now)
    let evaluated = Self.processorTime
    _ = Evaluation.explain(record, catalog: LargeCustomer.catalog, at: LargeCustomer.now)
    let evaluation = evaluated - started
    let explanation = Self.processorTime - evaluated
    print("\(customer): evaluated in \(evaluation) s, explained in \(explanation) s")
    #expect(evaluation < 10)
    #expect(explanation < 20)
  }

  @Test(
    "A chain, period or purchase of 10,000 costs no more than about twice one of 100",
    arguments: LargeCustomer.allCases)
  func growth(customer: LargeCustomer) {
    let (small, large) = (customer.record(100), customer.record(10_000))
    func cost(of record: CustomerRecord, repeats: Int) -> Double {
      let started = Self.processorTime
      for _ in 0..<repeats {
        _ = Evaluation.state(of: record, catalog: LargeCustomer.catalog, at: LargeCustomer.now)
      }
      return (Self.processorTime - started)
        / Double(repeats * (record.facts.count + record.grants.count))
    }
    // In turn, and the least of each: other programs can only add to the time of a processor.
    var (least, most) = (Double.infinity, Double.infinity)
    for _ in 0..<5 {
      least = min(least, cost(of: small, repeats: 20))
      most = min(most, cost(of: large, repeats: 1))
    }
    print("\(customer): \(most / least) times the cost of one of 100")
    // The benchmark has the exact ratio. What is quadratic costs 100 times as much.
    #expect(most < 8 * least)
  }

  /// The time of this thread, in seconds.
  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  @Test("An evaluation and an explanation end when the caller does not want them any more")
  func cancellation() {
    let record = LargeCustomer.lapsed.record(3_000)
    let (catalog, now) = (LargeCustomer.catalog, LargeCustomer.now)
    func questions(_ limit: Int, _ run: @escaping (@escaping () -> Bool) -> Bool) -> (
      asked: Int, isDone: Bool
    ) {
      var asked = 0
      let isDone = run {
        asked += 1
        return asked >= limit
      }
      return (asked, isDone)
    }
    let runs: [(@escaping () -> Bool) -> Bool] = [
      { Evaluation.evaluate(record, catalog: catalog, at: now, isCancelled: $0) != nil },
      { Evaluation.explain(record, catalog: catalog, at: now, isCancelled: $0) != nil },
    ]
    for run in runs {
      let whole = questions(.max, run)
      #expect(whole.isDone)
      #expect(whole.asked >= 3_000 / 256)
      for limit in 1...whole.asked {
        #expect(questions(limit, run) == (limit, false))
      }
    }
    #expect(
      Evaluation.evaluate(record, catalog: catalog, at: now) { false }
        == Evaluation.evaluate(record, catalog: catalog, at: now))
    #expect(
      Evaluation.explain(record, catalog: catalog, at: now) { false }
        == Evaluation.explain(record, catalog: catalog, at: now))
  }
}

/// Customers whose evaluation would be quadratic if one part of it were.
enum LargeCustomer: CaseIterable {
  /// Every chain confers, and each ends at another moment.
  case active
  /// Every chain has lapsed, and is refunded at another moment to come.
  case lapsed
  /// Every chain in a group of its own.
  case groups
  /// Grants, chains and purchases of all kinds.
  case mixed
  /// Purchases that follow each other in one stack.
  case stack
  /// One chain whose periods are all paid ahead.
  case ahead
  /// One chain, of which no period to come is visible.
  case hidden
  /// One chain of upgraded periods of two products that overlap.
  case upgrades
  /// One chain of renewals that were charged ahead, after gaps.
  case gaps
  /// One chain with a product for each period.
  case products
  /// One chain in force, of which all that was charged ahead is refunded bit by bit.
  case refunds

  static let now = Milliseconds(1_577_836_800_000)
  private static let scope = AppScope(bundleID: "com.example.scribe", environment: .production)
  private static let day = Milliseconds.dayLength

  static let catalog = Catalog(
    apps: [CatalogApp(bundleID: scope.bundleID, appAppleID: 1)],
    entitlements: [CatalogEntitlement(id: "pro"), CatalogEntitlement(id: "season")],
    products: [
      CatalogProduct(
        id: "pro", kind: .autoRenewable, group: "g", level: 1, entitlements: ["pro"]),
      CatalogProduct(
        id: "plus", kind: .autoRenewable, group: "g", level: 2, entitlements: ["pro"]),
      CatalogProduct(id: "plain", kind: .autoRenewable, group: "g", level: 3),
      CatalogProduct(
        id: "season", kind: .nonRenewing, duration: CalendarDuration(days: 30), stacking: true,
        entitlements: ["season"]),
    ])

  func record(_ count: Int) -> CustomerRecord {
    var facts: [Fact] = []
    var grants: [Grant] = []
    for index in 0..<count {
      if self == .mixed, index % 3 == 0 {
        grants.append(
          Grant(
            id: GrantID("\(index)"), scope: Self.scope, accountID: "customer",
            entitlementID: "pro", starts: Self.moment(-1), expires: Self.moment(1, index),
            reason: "goodwill", author: "operator", createdAt: Self.now))
      } else {
        facts.append(.transaction(transaction(index)))
      }
    }
    if self == .hidden {
      facts.append(
        .transaction(Self.transaction("shown", chain: "other", "plain", from: -1, to: 100_000)))
    }
    return CustomerRecord(
      scope: Self.scope, accountID: "customer", revision: 1, facts: facts, grants: grants)
  }

  private static func moment(_ days: Int, _ minutes: Int = 0) -> Milliseconds {
    now.advanced(by: Int64(days) * day + Int64(minutes) * 60_000)
  }

  private func transaction(_ index: Int) -> TransactionFact {
    let id = "\(2_000_000_000 + (index * 7_919) % 1_000_003)"
    func one(_ product: ProductID, from start: Int, to end: Int, _ chain: String = "chain")
      -> TransactionFact
    {
      Self.transaction(id, chain: chain, product, from: start, to: end)
    }
    switch self {
    case .active, .mixed:
      if self == .mixed, index % 3 == 1 {
        var purchase = one("season", from: -20, to: 0, id)
        purchase.purchaseDate = Self.moment(-400, index)
        purchase.type = .nonRenewing
        purchase.expiresDate = nil
        return purchase
      }
      var period = one("pro", from: -20, to: 0, id)
      period.expiresDate = Self.moment(1, index)
      return period
    case .lapsed:
      var period = one("pro", from: -30, to: -1, id)
      period.revocationDate = Self.moment(1, index)
      return period
    case .groups:
      var period = one(ProductID("unnamed.\(index)"), from: -30, to: -1, id)
      period.subscriptionGroupID = SubscriptionGroupID("group.\(index)")
      period.revocationDate = Self.moment(1, index)
      return period
    case .stack:
      var purchase = one("season", from: -index, to: 0, id)
      purchase.type = .nonRenewing
      purchase.expiresDate = nil
      return purchase
    case .ahead:
      return one("pro", from: index, to: index + 1)
    case .hidden:
      return one("plain", from: 2 * index + 1, to: 2 * index + 2)
    case .upgrades:
      var period = one(index % 1_000 == 0 ? "plus" : "pro", from: -index, to: count(index))
      period.isUpgraded = true
      return period
    case .gaps:
      var period = one("plain", from: 3 * index - 9_000, to: 3 * index - 8_998)
      period.transactionReason = "RENEWAL"
      period.signedDate = period.purchaseDate.advanced(by: -Self.day)
      return period
    case .refunds:
      var period = one("plain", from: index - 1, to: index)
      if index == 0 { period.expiresDate = Self.moment(20_000) }
      // Two of each, so that one of them takes the place of the other.
      if index > 0 {
        period = one("plain", from: 10_000 + index / 2 * 2, to: 20_001 + index / 2)
        period.revocationDate = Self.moment(0, index)
      }
      return period
    case .products:
      return one(ProductID("unnamed.\(index)"), from: index - 5_000, to: index + 5_000)
    }
  }

  private func count(_ index: Int) -> Int { 20_000 - index }

  private static func transaction(
    _ id: String, chain: String, _ product: ProductID, from start: Int, to end: Int
  ) -> TransactionFact {
    var fact = TransactionFact(
      bundleID: scope.bundleID, environment: .production,
      originalTransactionID: OriginalTransactionID(chain), transactionID: TransactionID(id),
      productID: product, type: .autoRenewable, purchaseDate: moment(start),
      signedDate: moment(start), digest: PayloadDigest(words: (1, 2)))
    fact.expiresDate = moment(end)
    return fact
  }
}
