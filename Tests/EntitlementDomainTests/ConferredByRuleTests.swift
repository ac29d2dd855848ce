import EntitlementDomain
import Testing

@Suite("Grandfathering in the state")
struct ConferredByRuleTests {
  private static let rule = GrandfatheringRule(
    id: "early", bundleID: Given.scope.bundleID, entitlements: ["pro"],
    // A valid version literal.
    thresholds: [.iOS: AppVersion("100")!], cutoff: Given.day(10))

  private var catalog: Catalog {
    var catalog = Given.catalog
    catalog.grandfathering = [Given.scope.bundleID: [Self.rule]]
    return catalog
  }

  private func app(
    version: String? = "99", bought: Double?, signed: Double = 50
  ) -> AppTransactionFact {
    var fact = AppTransactionFact(
      bundleID: Given.scope.bundleID, environment: .production, signedDate: Given.day(signed),
      digest: Given.digest(1))
    fact.appTransactionID = "a1"
    fact.originalPlatform = "iOS"
    fact.originalApplicationVersion = version
    fact.originalPurchaseDate = bought.map(Given.day)
    return fact
  }

  private func state(
    _ app: AppTransactionFact?, _ transactions: [TransactionFact] = [], at moment: Double
  ) -> CustomerState {
    var record = Given.record(transactions)
    if let app { record.facts.append(.appTransaction(app)) }
    return Evaluation.state(of: record, catalog: catalog, at: Given.day(moment))
  }

  @Test("R31, R39: an earlier customer has the entitlement without end, and the source is the rule")
  func granted() {
    let state = state(app(bought: 5), at: 60)
    #expect(state.coreState == .active)
    #expect(state.callsToAction == [.none])
    #expect(
      state.entitlements
        == [
          EntitlementState(
            entitlementID: "pro",
            sources: [
              EntitlementSource(
                origin: .grandfathering("early"), since: Given.day(5), until: nil,
                evidence: .signedTransaction)
            ])
        ])
    #expect(state.grandfathering.map(\.outcome) == [.granted])
    #expect(state.grandfathering.map(\.appTransactionID) == ["a1"])
    #expect(state.nextTransitionAt == nil)
  }

  @Test("R30: the entitlement is conferred from the moment at which the customer got the app")
  func since() {
    let before = state(app(bought: 5), at: 4)
    #expect(before.entitlements.isEmpty)
    #expect(before.coreState == .new)
    #expect(before.nextTransitionAt == Given.day(5))
    #expect(state(app(bought: 5), at: 5).entitlementIDs == ["pro"])
  }

  @Test("R37: a later or unknown customer gets nothing, and the state has the outcome")
  func notGranted() {
    let late = state(app(version: "101", bought: 20), at: 60)
    #expect(late.entitlements.isEmpty)
    #expect(late.coreState == .new)
    #expect(late.grandfathering.map(\.outcome) == [.denied])
    let unknown = state(nil, at: 60)
    #expect(unknown.coreState == .new)
    #expect(unknown.grandfathering.map(\.outcome) == [.unknown])
    #expect(unknown.grandfathering.map(\.isFlagged) == [true])
  }

  @Test("R39: purchases have the same state with and without the rule")
  func besidePurchase() {
    let period = Given.period(1, from: 40)
    let state = state(app(bought: 5), [period], at: 50)
    let pro = state.entitlements.first { $0.entitlementID == "pro" }
    #expect(pro?.sources.map(\.until) == [nil, Given.day(70)])
    let plain = Given.state([period], at: 50)
    #expect(state.products == plain.products)
    #expect(state.groups == plain.groups)
  }

  @Test("R39: a rule of another app does not apply")
  func otherApp() {
    var catalog = Given.catalog
    var rule = Self.rule
    rule.bundleID = "com.example.other"
    catalog.grandfathering = [rule.bundleID: [rule]]
    var record = Given.record([])
    record.facts.append(.appTransaction(app(bought: 5)))
    let state = Evaluation.state(of: record, catalog: catalog, at: Given.day(60))
    #expect(state.grandfathering.isEmpty)
    #expect(state.entitlements.isEmpty)
  }
}
