import EntitlementDomain
import TestSupport

/// One random case: a catalog, a customer, and the moments that matter to them. The same seed makes
/// the same case.
struct RandomCustomer {
  let seed: UInt64
  let catalog: Catalog
  let record: CustomerRecord
  /// The random source for the property itself.
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
      // The same identifiers in other scopes.
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

  /// A moment at or just before a possible change; sometimes any other moment.
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

  /// The standing version of a transaction (R5), completed by its other versions (R92).
  func standingTransaction(_ id: TransactionID) -> TransactionFact? {
    let versions = record.facts.compactMap { fact -> TransactionFact? in
      guard case .transaction(let transaction) = fact, transaction.transactionID == id,
        transaction.scope == record.scope
      else { return nil }
      return transaction
    }
    return Self.standing(of: versions)
  }

  /// The transaction that stands, with what the others add, by the table of R92.
  static func standing(of transactions: [TransactionFact]) -> TransactionFact? {
    func last(_ form: FactAuthority) -> TransactionFact? {
      transactions.filter { $0.authority == form }.max {
        $0.precedence == $1.precedence
          ? $0.transactionID < $1.transactionID : $0.precedence < $1.precedence
      }
    }
    let (receipt, archive) = (last(.receipt), last(.archivedResponse))
    if var jws = last(.signedTransaction) {
      if let receipt, receipt.signedDate > jws.signedDate, jws.revocationDate == nil,
        !jws.isUpgraded
      {
        jws.revocationDate = receipt.revocationDate
      }
      return jws
    }
    guard var receipt else { return archive }
    guard let archive else { return receipt }
    if archive.isUpgraded { receipt.isUpgraded = true }
    if receipt.ownership == nil { receipt.ownership = archive.ownership }
    if receipt.subscriptionGroupID == nil {
      receipt.subscriptionGroupID = archive.subscriptionGroupID
    }
    return receipt
  }
}

/// Grants in force, ended, withdrawn, not yet started, or of another environment.
enum RandomGrant {
  static func make(
    _ number: Int, _ scope: AppScope, with random: inout SeededRandom
  ) -> Grant {
    let start = random.number(0...90)
    var grant = Grant(
      id: GrantID("grant.\(number)"),
      scope: random.chance(6) ? RandomCustomer.otherScope(of: scope, &random) : scope,
      accountID: "customer", entitlementID: random.pick(RandomCatalog.entitlements),
      starts: RandomDates.near(start...start, with: &random), reason: "goodwill",
      author: "operator", createdAt: RandomDates.day(start))
    if !random.chance(3) {
      grant.expires = RandomDates.near((start + 1)...(start + 90), with: &random)
    }
    if random.chance(4) {
      grant.withdrawal = GrantWithdrawal(
        at: RandomDates.near((start - 5)...(start + 60), with: &random), author: "operator",
        reason: "mistaken")
    }
    return grant
  }
}

/// The moments at which time may change a customer's state.
enum RandomClock {
  static func dates(of record: CustomerRecord) -> [Milliseconds] {
    var dates: [Milliseconds?] = []
    for fact in record.facts {
      switch fact {
      case .transaction(let fact):
        dates += [fact.purchaseDate, fact.expiresDate, fact.revocationDate]
      case .renewalInfo(let fact):
        dates.append(fact.gracePeriodExpiresDate)
      case .appTransaction(let fact):
        dates += [fact.originalPurchaseDate, fact.preorderDate]
      }
    }
    for grant in record.grants { dates += [grant.starts, grant.expires, grant.withdrawal?.at] }
    return dates.compactMap { $0 }
  }
}
