import EntitlementDomain
import Testing

@Suite("Ends and next transitions")
struct TransitionRulesTests {
  @Test(
    "R30: the next transition is the next visible change of the state",
    arguments: [
      (-1.0, Optional(0.0)), (0, 30), (30, 46), (46, 90), (90, nil),
    ])
  func transitions(moment: Double, next: Double?) {
    let info = Given.renewal(signed: 30) {
      $0.gracePeriodExpiresDate = Given.day(46)
      $0.isInBillingRetryPeriod = true
    }
    let state = Given.state([Given.period(1, from: 0)], [info], at: moment)
    #expect(state.nextTransitionAt == next.map(Given.day))
    // The end of a retry that never began changes nothing.
    let cancelled = Given.renewal(signed: 30, autoRenews: false)
    #expect(Given.state([Given.period(1, from: 0)], [cancelled], at: 31).nextTransitionAt == nil)
  }

  @Test("R30: an offer of a later period is no change of today's access, but a transition")
  func quietTransition() {
    let first = Given.period(1, from: 0, to: 60)
    let second = Given.period(2, from: 20, to: 40) {
      $0.offer = Offer(type: .introductory, discountType: .freeTrial)
    }
    let state = Given.state([first, second], at: 10)
    #expect(state.nextTransitionAt == Given.day(20))
    #expect(Given.state([first, second], at: 20).groups.map(\.trialUsed) == [true])
    // Without the offer, its start is not visible.
    var plain = second
    plain.offer = nil
    #expect(Given.state([first, plain], at: 10).nextTransitionAt == Given.day(60))
  }

  @Test("R16, R31: grace and leeway end at a revocation that is known to come")
  func revocationAhead() {
    let period = Given.period(1, from: 0) { $0.revocationDate = Given.day(31) }
    let grace = Given.renewal(signed: 30) { $0.gracePeriodExpiresDate = Given.day(46) }
    var catalog = Given.catalog
    catalog.renewalLeeway = 72 * Milliseconds.hourLength
    for info in [grace, Given.renewal(signed: 1)] {
      let state = Given.state([period], [info], at: 30.5, catalog: catalog)
      #expect(state.coreState == .active)
      #expect(state.ends(of: "pro") == [Given.day(31)])
      #expect(state.nextTransitionAt == Given.day(31))
    }
  }
}
