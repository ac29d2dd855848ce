import EntitlementDomain
import Testing

@Suite("Grants of operators")
struct GrantRulesTests {
  private func grant(
    _ id: GrantID = "g", of entitlement: EntitlementID = "pro", from start: Double,
    to end: Double? = nil, withdrawn: Double? = nil
  ) -> Grant {
    Grant(
      id: id, scope: Given.scope, accountID: "customer", entitlementID: entitlement,
      starts: Given.day(start), expires: end.map(Given.day), reason: "goodwill",
      author: "operator", createdAt: Given.day(start),
      withdrawal: withdrawn.map {
        GrantWithdrawal(at: Given.day($0), author: "operator", reason: "mistaken")
      })
  }

  private func state(
    _ grants: [Grant], _ transactions: [TransactionFact] = [], at moment: Double
  ) -> CustomerState {
    var record = Given.record(transactions)
    record.grants = grants
    return Evaluation.state(of: record, catalog: Given.catalog, at: Given.day(moment))
  }

  @Test(
    "R32: a grant confers from its start to just before its end",
    arguments: [
      (-0.01, false, Optional(0.0)), (0, true, 10), (9.99, true, 10), (10, false, nil),
    ])
  func bounds(moment: Double, isInForce: Bool, next: Double?) {
    let state = state([grant(from: 0, to: 10)], at: moment)
    #expect(state.entitlementIDs == (isInForce ? ["pro"] : []))
    #expect(state.coreState == (isInForce ? .active : .new))
    #expect(state.callsToAction == (isInForce ? [.none] : [.merchandise]))
    #expect(state.nextTransitionAt == next.map(Given.day))
  }

  @Test("R31, R32: the entitlement names the grant, since when and until when")
  func source() {
    let endless = state([grant(from: 0)], at: 1)
    #expect(
      endless.entitlements.map(\.sources)
        == [[EntitlementSource(origin: .grant("g"), since: Given.day(0), until: nil)]])
    #expect(endless.nextTransitionAt == nil)
    #expect(state([grant(from: 0, to: 9)], at: 1).ends(of: "pro") == [Given.day(9)])
  }

  @Test("R32: a withdrawn grant ends at the withdrawal, unless it ended earlier")
  func withdrawn() {
    #expect(state([grant(from: 0, to: 10, withdrawn: 5)], at: 4).nextTransitionAt == Given.day(5))
    #expect(state([grant(from: 0, to: 10, withdrawn: 5)], at: 5).entitlements.isEmpty)
    #expect(state([grant(from: 0, withdrawn: 5)], at: 5).entitlements.isEmpty)
    let late = state([grant(from: 0, to: 10, withdrawn: 20)], at: 9)
    #expect(late.ends(of: "pro") == [Given.day(10)])
    #expect(late.nextTransitionAt == Given.day(10))
  }

  @Test("R32: a grant that is withdrawn before its start never confers and has no transition")
  func withdrawnBeforeStart() {
    for moment in [-2.0, 0, 5, 20] {
      let state = state([grant(from: 0, to: 10, withdrawn: -1)], at: moment)
      #expect(state.coreState == .new)
      #expect(state.nextTransitionAt == nil)
    }
  }

  @Test("R9: a grant in another environment or app confers nothing here")
  func otherScope() {
    var sandbox = grant(from: 0)
    sandbox.scope = AppScope(bundleID: Given.scope.bundleID, environment: .sandbox)
    var other = grant("h", from: 0)
    other.scope = AppScope(bundleID: "com.example.other", environment: .production)
    #expect(state([sandbox, other], at: 1).coreState == .new)
  }

  @Test("R32: a grant and a purchase are both sources, and a withdrawal removes only the grant")
  func besidePurchase() {
    let period = Given.period(1, from: 0)
    let both = state([grant(from: 0, to: 60)], [period], at: 1)
    let pro = both.entitlements.first { $0.entitlementID == "pro" }
    #expect(pro?.sources.map(\.until) == [Given.day(60), Given.day(30)])
    #expect(pro?.sources.map(\.transactionID) == [nil, "t1"])
    let after = state([grant(from: 0, to: 60, withdrawn: 1)], [period], at: 1)
    #expect(after.entitlements == state([], [period], at: 1).entitlements)
    #expect(after.products == both.products)
    #expect(after.groups == both.groups)
  }

  @Test("R29: a grant does not hide the call to win back a subscription")
  func calls() {
    let state = state([grant(from: 0)], [Given.period(1, from: 0)], at: 31)
    #expect(state.coreState == .active)
    #expect(state.callsToAction == [.winBack])
  }

  @Test("R31: of equal ends, purchases come first, then grants by id")
  func order() {
    let grants = [grant("b", from: 0, to: 30), grant("a", from: 0, to: 30)]
    let sources = state(grants, [Given.period(1, from: 0)], at: 1).entitlements
      .first { $0.entitlementID == "pro" }?.sources
    #expect(
      sources?.map(\.origin)
        == [
          .purchase("t1", chain: "c1", product: "pro.monthly"), .grant("a"), .grant("b"),
        ])
  }
}
