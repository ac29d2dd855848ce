import EntitlementDomain

// Life cycles with refunds, and with sharing that ends (R16).
extension LifeCycleStory {
  static let refunded = LifeCycleStory(
    "is refunded on day 10", characteristicDay: 15
  ) { script in
    var subscription = script.subscribeForOneMonth(to: SimulatedApp.proMonthly)
    refund(&subscription, SimulatedApp.proMonthly, script: &script)
  }

  static let refundReversed = LifeCycleStory(
    "is refunded on day 10, and the refund is reversed on day 20", characteristicDay: 24
  ) { script in
    let product = SimulatedApp.proMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    refund(&subscription, product, script: &script)
    let reversed = script.start.adding(days: 20)
    subscription.transaction.revocationDate = nil
    subscription.transaction.revocationReason = nil
    subscription.transaction.revocationType = nil
    script.sign(subscription, as: .refundReversed, at: reversed, status: .active)
    // The refund turned auto-renewal off, and it stays off.
    script.expect(
      .active(product, willRenew: false, callToAction: .keepSubscription), from: reversed)
    script.endCancelled(&subscription, product, at: script.start.adding(months: 1))
  }

  static let earlierPeriodRefunded = LifeCycleStory(
    "gets a refund of the first period during the third, and keeps access", characteristicDay: 75
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
    script.expectOverdueRenewal(product, from: script.start.adding(months: 3))
  }

  static let familySharing = LifeCycleStory(
    "uses a family member's subscription until sharing ends on day 15", characteristicDay: 7
  ) { script in writeFamilySharing(to: &script) }

  static let familySharingEnded = LifeCycleStory(
    "loses a family member's subscription on day 15", characteristicDay: 20
  ) { script in writeFamilySharing(to: &script) }

  static let seatRevoked = LifeCycleStory(
    "has a seat of an organisation's subscription, which is revoked on day 15",
    characteristicDay: 20
  ) { script in
    let product = SimulatedApp.proMonthly
    // A seat has its own chain (R25). The organisation renews the subscription.
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
    // The notification arrives an hour after the refund takes effect. Until then the service cannot
    // know of it (R16).
    let notified = script.start.adding(days: 10)
    subscription.transaction.revocationDate = notified.adding(hours: -1)
    subscription.transaction.revocationReason = .other
    subscription.transaction.revocationType = .refundFull
    subscription.stopRenewing()
    script.sign(subscription, as: .refund, at: notified, status: .revoked)
    script.expect(.revoked(product, willRenew: false), from: notified)
  }

  private static func writeFamilySharing(to script: inout LifeCycleScript) {
    let product = SimulatedApp.proMonthly
    // A family member has their own chain (R25). The purchaser renews the subscription.
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
