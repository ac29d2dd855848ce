import EntitlementDomain
import Testing

@Suite("How long a source runs")
struct SourceEndTests {
  @Test("R58: a period of another product ends what it does not confer")
  func otherProduct() {
    let facts = [
      Given.period(1, from: 0, to: 10), Given.period(2, product: "basic.monthly", from: 9, to: 19),
    ]
    for moment in [5, 8.9] {
      let state = Given.state(facts, at: moment)
      #expect(state.ends(of: "pro") == [Given.day(9)])
      #expect(state.ends(of: "basic") == [Given.day(19)])
    }
    #expect(Given.state(facts, at: 9).entitlementIDs == ["basic"])
  }

  @Test("R58: in grace too, and what runs on is told to the end")
  func otherProductInGrace() {
    let first = Given.period(1, from: 0, to: 10)
    let next = Given.period(2, product: "basic.monthly", from: 14, to: 24)
    let grace = Given.renewal(signed: 10) { $0.gracePeriodExpiresDate = Given.day(20) }
    let state = Given.state([first, next], [grace], at: 12)
    #expect(state.group("g1")?.status == .grace)
    #expect(state.ends(of: "pro") == [Given.day(14)])
    #expect(state.ends(of: "basic") == [Given.day(24)])
    #expect(Given.state([first], [grace], at: 12).ends(of: "pro") == [Given.day(20)])
    // Known before the end of the period.
    #expect(Given.state([first], [grace], at: 9.9).ends(of: "pro") == [Given.day(20)])
  }

  @Test("R58: renewals that were charged early run on, up to a gap, a revocation or the leeway")
  func chargedEarly() {
    let periods = [0.0, 30, 60, 91].enumerated().map { Given.period($0, from: $1) }
    #expect(Given.state(periods, at: 5).ends(of: "pro") == [Given.day(90)])
    var refunded = periods
    refunded[1].revocationDate = Given.day(40)
    #expect(Given.state(refunded, at: 5).ends(of: "pro") == [Given.day(40)])
    var catalog = Given.catalog
    catalog.renewalLeeway = 24 * Milliseconds.hourLength
    let info = Given.renewal(signed: 61)
    #expect(
      Given.state(Array(periods.prefix(3)), [info], at: 5, catalog: catalog).ends(of: "pro")
        == [Given.day(91)])
    // With the leeway, the gap of a day is closed.
    #expect(
      Given.state(periods, [info], at: 5, catalog: catalog).ends(of: "pro") == [Given.day(121)])
  }

  @Test("R58: a stack runs on over the purchases that follow without a gap")
  func stack() {
    let passes = [0.0, 10, 60, 95].enumerated().map { index, day in
      Given.purchase(index, product: "pass", type: .nonRenewing, at: day)
    }
    // The third is bought at the very end of the second.
    #expect(Given.state(passes, at: 5).ends(of: "season") == [Given.day(90)])
    #expect(Given.state(passes, at: 70).ends(of: "season") == [Given.day(90)])
    #expect(Given.state(passes, at: 100).ends(of: "season") == [Given.day(125)])
  }

  @Test(
    "R66: the purchases after a refunded one move up in the stack",
    arguments: [
      // The refund of the second of three: before its turn, in the middle of it, after its end.
      (20.0, 60.0), (45, 75), (70, 90),
    ])
  func refundedInStack(refund: Double, end: Double) {
    var passes = [0.0, 5, 10].enumerated().map { index, day in
      Given.purchase(index, product: "pass", type: .nonRenewing, at: day)
    }
    passes[1].revocationDate = Given.day(refund)
    #expect(Given.state(passes, at: 15).ends(of: "season") == [Given.day(end)])
    #expect(Given.state(passes, at: end - 0.1).coreState == .active)
    #expect(Given.state(passes, at: end).coreState == .inactive)
  }

  @Test("R58, R31: the explanation names the end that is told")
  func explained() throws {
    let facts = [
      Given.period(1, from: 0, to: 10), Given.period(2, product: "basic.monthly", from: 9, to: 19),
    ]
    let explanation = Evaluation.explain(
      Given.record(facts), catalog: Given.catalog, at: Given.day(5))
    let decision = try #require(explanation.entitlements.first { $0.entitlementID == "pro" })
      .reasoning.decision
    #expect(decision.rule == 15)
    #expect(
      decision.sentence
        == "Transaction t1 of pro.monthly is in force from 2026-01-01T00:00:00Z until "
        + "2026-01-10T00:00:00Z, when another product replaces it.")
  }

  @Test("R31: a period in force is explained by itself, though its grace is known")
  func explainedBeforeGrace() throws {
    let grace = Given.renewal(signed: 29) { $0.gracePeriodExpiresDate = Given.day(46) }
    let explanation = Evaluation.explain(
      Given.record([Given.period(1, from: 0)], [grace]), catalog: Given.catalog, at: Given.day(29))
    let decision = try #require(explanation.entitlements.first { $0.entitlementID == "pro" })
      .reasoning.decision
    #expect(decision.rule == 15)
    #expect(decision.sentence.hasSuffix("until 2026-01-31T00:00:00Z."))
    #expect(explanation.state.ends(of: "pro") == [Given.day(46)])
  }
}
