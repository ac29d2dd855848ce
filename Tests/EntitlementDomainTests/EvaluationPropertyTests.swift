import EntitlementDomain
import Testing
import TestSupport

/// Random histories: chains with upgrades, refunds, grace, retries, other purchases, and several
/// signed versions of each.
private struct RandomHistory {
  var generator: SeededRandom
  private var nextID = 0

  init(seed: UInt64) {
    generator = SeededRandom(seed: seed)
  }

  mutating func facts() -> [Fact] {
    var facts: [Fact] = []
    for chain in 0..<Int.random(in: 0...3, using: &generator) {
      facts += chainFacts(OriginalTransactionID("c\(chain)"))
    }
    for _ in 0..<Int.random(in: 0...3, using: &generator) { facts.append(.transaction(purchase())) }
    return facts
  }

  private mutating func chainFacts(_ chain: OriginalTransactionID) -> [Fact] {
    var facts: [Fact] = []
    var start = number(0...40)
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let length = number(1...30)
      var period = Given.period(
        id(), of: chain, product: pick(["pro.monthly", "basic.monthly", "unknown"]),
        from: start, to: start + length)
      period.signedDate = Given.day(start + number(-2...40))
      if chance(4) { period.revocationDate = Given.day(start + number(0...30)) }
      if chance(4) { period.isUpgraded = true }
      if chance(8) { period.expiresDate = nil }
      if chance(6) { period.webOrderLineItemID = "w" }
      if chance(3) { period.transactionReason = "PURCHASE" }
      if chance(5) { period.offer = Offer(type: .introductory, discountType: .freeTrial) }
      facts.append(.transaction(period))
      if chance(3) {
        period.signedDate = Given.day(start + number(-2...40))
        period.revocationDate = chance(2) ? Given.day(start + 5) : nil
        period.digest = Given.digest(UInt64(id()))
        facts.append(.transaction(period))
      }
      start += length + pick([0, 0, 0, -1, 3])
    }
    for _ in 0..<Int.random(in: 0...2, using: &generator) {
      facts.append(.renewalInfo(renewal(chain)))
    }
    return facts
  }

  private mutating func renewal(_ chain: OriginalTransactionID) -> RenewalInfoFact {
    var info = Given.renewal(
      of: chain, signed: number(0...150), autoRenews: pick([true, false, nil]),
      product: pick(["pro.monthly", "basic.monthly", nil]))
    if chance(3) { info.gracePeriodExpiresDate = Given.day(number(0...160)) }
    if chance(3) { info.isInBillingRetryPeriod = true }
    if chance(3) { info.expirationIntent = ExpirationIntent(rawValue: Int64(number(1...6))) }
    if chance(4) { info.priceIncreaseStatus = pick([.pending, .accepted]) }
    if chance(4) { info.autoRenewProductID = "basic.monthly" }
    if chance(3) { info.renewalDate = Given.day(number(0...160)) }
    info.digest = Given.digest(UInt64(id()))
    return info
  }

  private mutating func purchase() -> TransactionFact {
    let (product, type) = pick([
      ("season", ProductType.nonRenewing), ("pass", .nonRenewing), ("forever", .nonRenewing),
      ("adfree", .nonConsumable), ("coins", .consumable),
      ("adfree", ProductType(rawValue: "New")),
    ])
    var fact = Given.purchase(
      id(), product: ProductID(product), type: type, at: number(0...100))
    if chance(4) { fact.revocationDate = Given.day(number(0...120)) }
    return fact
  }

  private mutating func id() -> Int {
    nextID += 1
    return nextID
  }

  mutating func number(_ range: ClosedRange<Int>) -> Double {
    Double(Int.random(in: range, using: &generator))
  }

  private mutating func chance(_ outOf: Int) -> Bool {
    Int.random(in: 0..<outOf, using: &generator) == 0
  }

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &generator)]
  }
}

@Suite("Properties of evaluation over random histories")
struct EvaluationPropertyTests {
  private func forEachHistory(
    _ count: Int, check: (inout RandomHistory, CustomerRecord, Milliseconds, UInt64) -> Void
  ) {
    let first = SeededRandom(for: "random histories").seed / 2
    for seed in first..<(first + UInt64(count)) {
      var history = RandomHistory(seed: seed)
      let facts = history.facts()
      let now = Given.day(history.number(0...180) + 0.5)
      check(&history, CustomerRecord(scope: Given.scope, facts: facts), now, seed)
    }
  }

  @Test("R3: order and repeats of the facts change nothing")
  func orderIndependence() {
    forEachHistory(3_000) { history, record, now, seed in
      let expected = Evaluation.state(of: record, catalog: Given.catalog, at: now)
      var other = record
      other.facts += record.facts.filter { _ in Bool.random(using: &history.generator) }
      other.facts.shuffle(using: &history.generator)
      #expect(
        Evaluation.state(of: other, catalog: Given.catalog, at: now) == expected, "seed \(seed)")
    }
  }

  @Test("R30: nothing changes before the next transition, and something does at it")
  func nextTransition() {
    forEachHistory(3_000) { history, record, now, seed in
      let state = Evaluation.state(of: record, catalog: Given.catalog, at: now)
      func content(at moment: Milliseconds) -> CustomerState {
        var content = Evaluation.state(of: record, catalog: Given.catalog, at: moment)
        content.evaluatedAt = now
        content.nextTransitionAt = state.nextTransitionAt
        return content
      }
      let horizon = state.nextTransitionAt ?? Given.day(5_000)
      #expect(horizon > now, "seed \(seed)")
      for _ in 0..<5 {
        let between = Int64.random(
          in: now.rawValue..<horizon.rawValue, using: &history.generator)
        #expect(content(at: Milliseconds(between)) == state, "seed \(seed) at \(between)")
      }
      #expect(content(at: horizon.advanced(by: -1)) == state, "seed \(seed)")
      if state.nextTransitionAt != nil {
        #expect(content(at: horizon) != state, "seed \(seed)")
      }
    }
  }

  @Test("R16: no revoked transaction confers access")
  func revokedNeverConfers() {
    forEachHistory(3_000) { _, record, now, seed in
      let state = Evaluation.state(of: record, catalog: Given.catalog, at: now)
      let conferring = Set(state.entitlements.flatMap(\.sources).map(\.transactionID))
      for id in conferring {
        let versions = record.facts.compactMap { fact -> TransactionFact? in
          guard case .transaction(let transaction) = fact, transaction.transactionID == id else {
            return nil
          }
          return transaction
        }
        let standing = versions.max {
          Fact.transaction($0).precedence < Fact.transaction($1).precedence
        }
        let isRevoked = standing?.revocationDate.map { $0 <= now } ?? false
        #expect(!isRevoked, "seed \(seed), transaction \(id)")
      }
    }
  }

  @Test("R28: another chain's facts never change how a chain's own group ends up worse")
  func groupsAreIndependent() {
    forEachHistory(2_000) { _, record, now, seed in
      let without = Evaluation.state(of: record, catalog: Given.catalog, at: now)
      var other = record
      other.facts.append(
        .transaction(
          Given.period(9_999, of: "c99", product: "news.monthly", group: "g2", from: 1, to: 2)))
      let with = Evaluation.state(of: other, catalog: Given.catalog, at: now)
      #expect(with.groups.filter { $0.groupID != "g2" } == without.groups, "seed \(seed)")
    }
  }
}
