import EntitlementDomain
import TestSupport
import Testing

/// Random customers of ``Given``'s app: chains, purchases, grants and app transactions.
private struct RandomCustomer {
  var generator: SeededRandom
  private var nextID = 0

  init(seed: UInt64) {
    generator = SeededRandom(seed: seed)
  }

  mutating func record() -> CustomerRecord {
    var record = Given.record([], [])
    for chain in 0..<number(0...3) {
      record.facts += self.chain(OriginalTransactionID("c\(chain)"))
    }
    for _ in 0..<number(0...3) { record.facts.append(.transaction(purchase())) }
    for index in 0..<number(0...2) where chance(2) {
      var app = Given.app(
        "a\(index)", version: pick([nil, "12", "200", "x"]), at: pick([nil, -10, 10]))
      if chance(4) { app.originalPlatform = pick([nil, "macOS"]) }
      record.facts.append(.appTransaction(app))
    }
    for _ in 0..<number(0...3) where chance(2) {
      let start = Double(number(-20...120))
      record.grants.append(
        Given.grant(
          id(), of: pick(["pro", "season", "unlisted"]), from: start,
          to: start + Double(number(1...40)),
          withdrawnAt: chance(3) ? start + Double(number(-5...30)) : nil))
    }
    return record
  }

  private mutating func chain(_ chain: OriginalTransactionID) -> [Fact] {
    var facts: [Fact] = []
    var start = number(0...40)
    for _ in 0..<number(1...4) {
      let length = number(1...30)
      var period = Given.period(
        id(), of: chain, product: pick(["pro.monthly", "basic.monthly", "unknown"]),
        group: pick(["g1", "g1", "g2"]), from: Double(start), to: Double(start + length))
      period.signedDate = Given.day(Double(start + number(-2...40)))
      if chance(4) { period.revocationDate = Given.day(Double(start + number(0...30))) }
      if chance(4) { period.isUpgraded = true }
      if chance(8) { period.expiresDate = nil }
      if chance(5) { period.webOrderLineItemID = "w" }
      if chance(3) { period.transactionReason = "PURCHASE" }
      if chance(5) { period.ownership = .familyShared }
      facts.append(.transaction(period))
      start += length + pick([0, 0, 0, -1, 3])
    }
    for _ in 0..<number(0...2) { facts.append(.renewalInfo(renewal(chain))) }
    return facts
  }

  private mutating func renewal(_ chain: OriginalTransactionID) -> RenewalInfoFact {
    var info = Given.renewal(
      of: chain, signed: Double(number(0...150)), autoRenews: pick([true, false, nil]),
      product: pick(["pro.monthly", "basic.monthly", nil]))
    if chance(3) { info.gracePeriodExpiresDate = Given.day(Double(number(0...160))) }
    if chance(3) { info.isInBillingRetryPeriod = true }
    if chance(3) { info.expirationIntent = ExpirationIntent(rawValue: Int64(number(1...6))) }
    if chance(4) { info.priceIncreaseStatus = .pending }
    if chance(4) { info.autoRenewProductID = "basic.monthly" }
    if chance(3) { info.renewalDate = Given.day(Double(number(0...160))) }
    info.digest = Given.digest(UInt64(id()))
    return info
  }

  private mutating func purchase() -> TransactionFact {
    let (product, type) = pick([
      ("season", ProductType.nonRenewing), ("pass", .nonRenewing), ("pass", .nonRenewing),
      ("forever", .nonRenewing), ("adfree", .nonConsumable), ("coins", .consumable),
      ("adfree", ProductType(rawValue: "New")), ("elsewhere", .nonConsumable),
    ])
    var fact = Given.purchase(
      id(), product: ProductID(product), type: type, at: Double(number(0...100)))
    if chance(4) { fact.revocationDate = Given.day(Double(number(0...120))) }
    return fact
  }

  private mutating func id() -> Int {
    nextID += 1
    return nextID
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &generator)
  }

  mutating func chance(_ outOf: Int) -> Bool { number(1...outOf) == 1 }

  mutating func pick<Value>(_ values: [Value]) -> Value {
    values[number(0...values.count - 1)]
  }
}

@Suite("Properties of explanations over random customers")
struct ExplanationPropertyTests {
  private static let count = 2_000

  private func forEachCustomer(
    _ check: (inout RandomCustomer, CustomerRecord, Catalog, Milliseconds, UInt64) -> Void
  ) {
    let name = "random explanations"
    let first = SeededRandom(for: name).seed
    for round in Rounds(Self.count, of: name) {
      let seed = first &+ UInt64(round)
      var customer = RandomCustomer(seed: seed)
      let record = customer.record()
      var catalog = customer.chance(2) ? Given.catalogWithRule() : Given.catalog
      if customer.chance(3) { catalog.renewalLeeway = 2 * Milliseconds.dayLength }
      let now = Given.day(Double(customer.number(-10...180)) + 0.5)
      check(&customer, record, catalog, now, seed)
    }
  }

  @Test("R3: order and duplicates of facts and grants do not change the explanation")
  func orderIndependence() {
    forEachCustomer { customer, record, catalog, now, seed in
      let expected = Evaluation.explain(record, catalog: catalog, at: now)
      var other = record
      other.facts += record.facts.filter { _ in customer.chance(2) }
      other.facts.shuffle(using: &customer.generator)
      other.grants.shuffle(using: &customer.generator)
      #expect(Evaluation.explain(other, catalog: catalog, at: now) == expected, "seed \(seed)")
    }
  }

  @Test("The explanation agrees with every part of the state")
  func agreement() {
    forEachCustomer { _, record, catalog, now, seed in
      let state = Evaluation.state(of: record, catalog: catalog, at: now)
      let explanation = Evaluation.explain(record, catalog: catalog, at: now)
      #expect(explanation.state == state, "seed \(seed)")
      #expect(
        explanation.entitlements.filter(\.isConferred).map(\.entitlementID)
          == state.entitlements.map(\.entitlementID), "seed \(seed)")
      #expect(
        explanation.entitlements.map(\.entitlementID)
          == Set(catalog.entitlements.keys).union(state.entitlements.map(\.entitlementID)).sorted(),
        "seed \(seed)")
      #expect(explanation.groups.map(\.groupID) == state.groups.map(\.groupID), "seed \(seed)")
      #expect(
        explanation.groups.map(\.status) == state.groups.map(\.standing.status), "seed \(seed)")
      for (group, explained) in zip(state.groups, explanation.groups) {
        #expect(
          explained.reasoning.considered.first?.identifier == group.standing.transactionID.rawValue,
          "seed \(seed)")
      }
      for entitlement in state.entitlements {
        let explained = explanation.entitlements.first {
          $0.entitlementID == entitlement.entitlementID
        }
        #expect(
          explained?.reasoning.considered.first?.identifier == entitlement.sources[0].identifier,
          "seed \(seed)")
        #expect(explained?.reasoning.decision.rule != 27, "seed \(seed)")
      }
    }
  }

  @Test("R30: the state changes at each listed moment, and no earlier moment is missing")
  func knownChanges() {
    forEachCustomer { _, record, catalog, now, seed in
      let explanation = Evaluation.explain(record, catalog: catalog, at: now)
      for entitlement in explanation.entitlements {
        let id = entitlement.entitlementID
        check(entitlement.reasoning, after: now, seed: seed) { moment in
          Evaluation.state(of: record, catalog: catalog, at: moment).entitlements
            .first { $0.entitlementID == id }?.sources
        }
      }
      for group in explanation.groups {
        check(group.reasoning, after: now, seed: seed) { moment in
          Evaluation.state(of: record, catalog: catalog, at: moment).groups
            .first { $0.groupID == group.groupID }
        }
      }
    }
  }

  /// The part differs at each moment, and is constant until the next.
  private func check<Part: Equatable>(
    _ reasoning: Reasoning, after now: Milliseconds, seed: UInt64,
    part: (Milliseconds) -> Part?
  ) {
    let moments = reasoning.changes.compactMap(\.at)
    var last = now
    for moment in moments {
      #expect(moment > last, "seed \(seed)")
      #expect(part(moment) != part(moment.advanced(by: -1)), "seed \(seed) at \(moment)")
      #expect(part(last) == part(moment.advanced(by: -1)), "seed \(seed) before \(moment)")
      last = moment
    }
    if moments.count < 5 { #expect(part(last) == part(Given.day(9_000)), "seed \(seed)") }
    #expect(
      reasoning.changes.map { $0.at == nil }
        == reasoning.changes.map { $0.at == nil }.sorted {
          !$0 && $1
        }, "seed \(seed)")
    #expect(reasoning.changes.count <= 8, "seed \(seed)")
  }

  @Test("Considered items are listed once, the decisive ones first, in sentences")
  func considered() {
    forEachCustomer { _, record, catalog, now, seed in
      for reasoning in Evaluation.explain(record, catalog: catalog, at: now).reasonings {
        let keys = reasoning.considered.map { "\($0.kind) \($0.identifier)" }
        #expect(Set(keys).count == keys.count, "seed \(seed)")
        let decisive = reasoning.considered.prefix { $0.isDecisive }
        #expect(
          reasoning.considered.dropFirst(decisive.count).allSatisfy { !$0.isDecisive },
          "seed \(seed)")
        #expect(decisive.isEmpty == (reasoning.decision.rule == 27), "seed \(seed)")
        let cut = reasoning.sentences.filter { $0.utf8.count > 400 || !$0.hasSuffix(".") }
        #expect(cut == [], "seed \(seed)")
      }
    }
  }
}

extension EntitlementSource {
  fileprivate var identifier: String {
    switch origin {
    case .purchase(let id, _, _): id.rawValue
    case .grant(let id): id.rawValue
    case .grandfathering(let id): id.rawValue
    }
  }
}
