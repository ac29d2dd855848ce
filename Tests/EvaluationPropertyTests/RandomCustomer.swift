import EntitlementDomain
import TestSupport

/// One random case: a catalog, a customer, and the moments that matter to them. The same seed makes
/// the same case.
struct RandomCustomer {
  let seed: UInt64
  let catalog: Catalog
  let record: CustomerRecord
  /// For further choices that a property makes.
  var random: SeededRandom

  init(seed: UInt64) {
    self.seed = seed
    var random = SeededRandom(seed: seed)
    catalog = RandomCatalog.make(with: &random)
    let scope = AppScope(
      bundleID: RandomCatalog.bundleID,
      environment: random.chance(5) ? .sandbox : .production)
    var facts: [Fact] = []
    if !random.chance(20) {
      facts = Self.facts(in: scope, with: &random)
      // The same identifiers in other worlds.
      if random.chance(8) {
        facts += Self.facts(in: Self.otherScope(of: scope, &random), with: &random)
      }
      facts.shuffle(using: &random)
    }
    record = CustomerRecord(
      scope: scope, accountID: "customer", revision: 1, facts: facts,
      grants: (0..<random.pick([0, 0, 1, 2])).map { RandomGrant.make($0, scope, with: &random) })
    self.random = random
  }

  private static func facts(in scope: AppScope, with random: inout SeededRandom) -> [Fact] {
    var history = RandomHistory(scope: scope, random: SeededRandom(seed: random.next()))
    history.addAll()
    return history.facts
  }

  static func otherScope(of scope: AppScope, _ random: inout SeededRandom) -> AppScope {
    random.chance(2)
      ? AppScope(bundleID: "com.example.other", environment: scope.environment)
      : AppScope(
        bundleID: scope.bundleID,
        environment: random.pick(StoreEnvironment.allCases.filter { $0 != scope.environment }))
  }

  func state(at now: Milliseconds) -> CustomerState {
    Evaluation.state(of: record, catalog: catalog, at: now)
  }

  func state(with facts: [Fact], at now: Milliseconds) -> CustomerState {
    var other = record
    other.facts = facts
    return Evaluation.state(of: other, catalog: catalog, at: now)
  }

  /// A moment at which something may be about to change, or changed just now; sometimes any other.
  mutating func clock() -> Milliseconds {
    let dates = RandomClock.dates(of: record)
    guard !dates.isEmpty, !random.chance(4) else {
      return RandomDates.near(-5...250, with: &random)
    }
    var date = random.pick(dates)
    if random.chance(6) {
      date = date.advanced(
        by: random.pick([
          60 * Milliseconds.dayLength, catalog.renewalLeeway, 31 * Milliseconds.dayLength,
        ]))
    }
    return date.advanced(by: Int64(random.number(-1...1)))
  }

  /// The statement of a transaction that stands, out of its versions (R5).
  func standingTransaction(_ id: TransactionID) -> TransactionFact? {
    let versions = record.facts.compactMap { fact -> TransactionFact? in
      guard case .transaction(let transaction) = fact, transaction.transactionID == id,
        transaction.scope == record.scope
      else { return nil }
      return transaction
    }
    return versions.max { $0.precedence < $1.precedence }
  }
}
