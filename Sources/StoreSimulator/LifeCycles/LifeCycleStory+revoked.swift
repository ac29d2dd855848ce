import EntitlementDomain

// Refunds, and sharing that ends (R16).
extension LifeCycleStory {
  static let refunded = LifeCycleStory(
    "is refunded on day 10", characteristicDay: 15
  ) { script in
    var subscription = script.subscribeForOneMonth(to: SimulatedApp.proMonthly)
    refund(&subscription, SimulatedApp.proMonthly, script: &script)
  }

  static let refundReversed = LifeCycleStory(
    "is refunded on day 10, and the refund is taken back on day 20", characteristicDay: 24
  ) { script in
    let product = SimulatedApp.proMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    refund(&subscription, product, script: &script)
    let reversed = script.start.adding(days: 20)
    subscription.transaction.revocationDate = nil
    subscription.transaction.revocationReason = nil
    subscription.transaction.revocationType = nil
    script.sign(subscription, as: .refundReversed, at: reversed, status: .active)
    // Auto-renewal stays off, as the refund has left it.
    script.expect(
      .active(product, willRenew: false, callToAction: .keepSubscription), from: reversed)
    script.endCancelled(&subscription, product, at: script.start.adding(months: 1))
  }

  static let earlierPeriodRefunded = LifeCycleStory(
    "is refunded the first period during the third; access goes on", characteristicDay: 75
  ) { script in
    let product = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    var first = subscription
    for month in 1...2 {
      let begin = script.start.adding(months: month)
      let end = script.start.adding(months: month + 1)
      script.nextPeriod(of: &subscription, product, from: begin, to: end)
      script.sign(subscription, as: .renewal, at: begin.adding(hours: -6), status: .active)
    }
    let refunded = script.start.adding(days: 70)
    first.transaction.revocationDate = refunded.adding(hours: -1)
    first.transaction.revocationReason = .appIssue
    first.transaction.revocationType = .refundFull
    first.renewalInfo = subscription.renewalInfo
    script.sign(first, as: .refund, at: refunded, status: .active)
    script.expectSilence(product, from: script.start.adding(months: 3))
  }

  static let familySharing = LifeCycleStory(
    "uses a family member's subscription until sharing ends on day 15", characteristicDay: 7
  ) { script in writeFamilySharing(to: &script) }

  static let familySharingEnded = LifeCycleStory(
    "has lost a family member's subscription on day 15", characteristicDay: 20
  ) { script in writeFamilySharing(to: &script) }

  static let seatRevoked = LifeCycleStory(
    "holds a seat of an organisation's subscription, which is taken back on day 15",
    characteristicDay: 20
  ) { script in
    let product = SimulatedApp.proMonthly
    // Who holds a seat has a chain of their own (R25), and renewing is the organisation's affair.
    var seat = script.purchase(product, at: script.start, ends: script.start.adding(months: 1))
    seat.ownership = .assigned
    script.sign(seat, as: .firstSubscription, at: script.start, status: .active)
    script.expect(.active(product), from: script.start)
    let ended = script.start.adding(days: 15)
    seat.revocationDate = ended
    seat.revocationReason = .other
    script.sign(seat, as: .sharingEnded, at: ended, status: .revoked)
    script.expect(.revoked(product), from: ended)
  }

  static let wonBackAfterRefund = LifeCycleStory(
    "is refunded on day 10, and comes back on day 25 for an offer", characteristicDay: 30
  ) { script in
    let product = SimulatedApp.proMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    refund(&subscription, product, script: &script)
    script.winBack(&subscription, product, at: script.start.adding(days: 25))
  }

  private static func refund(
    _ subscription: inout ScriptedSubscription, _ product: SimulatedProduct,
    script: inout LifeCycleScript
  ) {
    // Refunds are told a little after they take effect; until then nobody can know (R16).
    let told = script.start.adding(days: 10)
    subscription.transaction.revocationDate = told.adding(hours: -1)
    subscription.transaction.revocationReason = .other
    subscription.transaction.revocationType = .refundFull
    subscription.stopRenewing()
    script.sign(subscription, as: .refund, at: told, status: .revoked)
    script.expect(.revoked(product, willRenew: false), from: told)
  }

  private static func writeFamilySharing(to script: inout LifeCycleScript) {
    let product = SimulatedApp.proMonthly
    // A family member has a chain of their own (R25), and renewing is the purchaser's affair.
    var shared = script.purchase(
      product, at: script.start, ends: script.start.adding(months: 1))
    shared.ownership = .familyShared
    shared.appAccountToken = nil
    script.sign(shared, as: .firstSubscription, at: script.start, status: .active)
    script.expect(.active(product), from: script.start)
    let ended = script.start.adding(days: 15)
    shared.revocationDate = ended
    shared.revocationReason = .other
    shared.revocationType = .familyRevoke
    script.sign(shared, as: .sharingEnded, at: ended, status: .revoked)
    script.expect(.revoked(product), from: ended)
  }
}
