import EntitlementDomain
import TestSupport
import Testing

@Suite("Grandfathering of customers with several app transactions")
struct GrandfatheringChoiceTests {
  static let clearGrant = GrandfatheringTests.app(
    "a9", version: "1", date: GrandfatheringTests.before)
  static let doubtfulGrant = GrandfatheringTests.app(
    "a8", version: "1", date: GrandfatheringTests.after)
  static let unknown = GrandfatheringTests.app("a7")
  static let doubtfulDenial = GrandfatheringTests.app(
    "a6", version: "x", date: GrandfatheringTests.after)
  static let clearDenial = GrandfatheringTests.app(
    "a5", version: "200", date: GrandfatheringTests.after)

  @Test("The best of several counts: a denial hides no doubt, and a doubt no grant")
  func best() {
    let ranked = [
      Self.clearGrant, Self.doubtfulGrant, Self.unknown, Self.doubtfulDenial, Self.clearDenial,
    ]
    for (index, better) in ranked.enumerated() {
      for worse in ranked[index...] {
        for facts in [[better, worse], [worse, better]] {
          #expect(
            GrandfatheringTests.verdict(GrandfatheringTests.rule(), facts).state.appTransactionID
              == better.appTransactionID)
        }
      }
    }
  }

  @Test("Of equals the smaller identity is named")
  func ties() {
    let facts = ["a2", "a1", "a3"].map {
      GrandfatheringTests.app($0, version: "1", date: GrandfatheringTests.before)
    }
    #expect(
      GrandfatheringTests.verdict(GrandfatheringTests.rule(), facts).state.appTransactionID == "a1")
  }

  @Test("R5: of several versions of one app transaction, the standing one counts")
  func versions() {
    var older = GrandfatheringTests.app(version: "1", date: GrandfatheringTests.before)
    var newer = GrandfatheringTests.app(version: "200", date: GrandfatheringTests.after)
    newer.signedDate = Given.day(51)
    newer.digest = Given.digest(2)
    for facts in [[older, newer], [newer, older], [older, newer, older]] {
      #expect(
        GrandfatheringTests.verdict(GrandfatheringTests.rule(), facts).state.outcome == .denied)
    }
    // A receipt never replaces a JWS, also if it is newer.
    newer.authority = .receipt
    older.appTransactionID = newer.appTransactionID
    #expect(
      GrandfatheringTests.verdict(GrandfatheringTests.rule(), [newer, older]).state.outcome
        == .granted)
  }

  @Test(
    "R37: app transactions of two platforms under one id are versions of one fact",
    arguments: GrandfatheringRule.ConflictPolicy.allCases)
  func platforms(policy: GrandfatheringRule.ConflictPolicy) {
    let phone = GrandfatheringTests.app(version: "1", date: GrandfatheringTests.before)
    var desktop = GrandfatheringTests.app(
      version: "9.0", date: GrandfatheringTests.before, platform: "macOS")
    desktop.signedDate = Given.day(51)
    let rule = GrandfatheringTests.rule([.iOS: "108", .macOS: "2.0"], policy: policy)
    #expect(GrandfatheringTests.verdict(rule, [phone]).state.outcome == .granted)
    let both = GrandfatheringTests.verdict(rule, [desktop, phone]).state
    #expect(both.outcome == (policy == .preferVersion ? .denied : .granted))
    #expect(both.isFlagged)
  }

  @Test("R3: the order and the repeats of app transactions change nothing")
  func orderIndependence() {
    var random = SeededRandom(for: "app transactions")
    for round in 0..<5_000 {
      let facts = (0..<Int.random(in: 1...5, using: &random)).map { _ in
        Self.randomFact(&random)
      }
      let rule = GrandfatheringTests.rule(
        [[.iOS: "108"], GrandfatheringTests.both, [:]].randomElement(using: &random) ?? [:],
        cutoff: Bool.random(using: &random) ? GrandfatheringTests.cutoff : nil,
        policy: GrandfatheringRule.ConflictPolicy.allCases.randomElement(using: &random)
          ?? .grantAndFlag,
        simulated: Bool.random(using: &random)
          ? .init(originalVersion: AppVersion("50"), originalPurchaseDate: nil) : nil)
      let environment = StoreEnvironment.allCases.randomElement(using: &random) ?? .production
      let expected = rule.verdict(on: facts, in: environment)
      let repeats = facts.filter { _ in Bool.random(using: &random) }
      let other = (facts + repeats).shuffled(using: &random)
      #expect(
        rule.verdict(on: other, in: environment) == expected,
        "seed \(random.seed), round \(round)")
      #expect((expected.since != nil) == (expected.state.outcome == .granted))
    }
  }

  private static func randomFact(_ random: inout SeededRandom) -> AppTransactionFact {
    func pick<Value>(_ values: [Value]) -> Value {
      values[Int.random(in: 0..<values.count, using: &random)]
    }
    var fact = GrandfatheringTests.app(
      pick(["a1", "a2", nil]), version: pick([nil, "", "x", "50", "107", "108", "2.0"]),
      date: pick([nil, GrandfatheringTests.before, GrandfatheringTests.after]),
      platform: pick([nil, "iOS", "macOS", "carOS"]),
      preorder: pick([nil, nil, GrandfatheringTests.before]))
    fact.signedDate = Given.day(pick([50, 51]))
    fact.digest = Given.digest(random.next())
    fact.authority = pick([.receipt, .signedTransaction])
    return fact
  }
}
