import EntitlementDomain

// Life cycles of subscriptions that end without a billing problem.
extension LifeCycleStory {
  static let cancelled = LifeCycleStory(
    "turns auto-renewal off on day 12 and keeps access until the period ends", characteristicDay: 20
  ) { script in writeCancellation(of: SimulatedApp.basicMonthly, to: &script) }

  static let expired = LifeCycleStory(
    "cancels, and the subscription ends after its month", characteristicDay: 40
  ) { script in writeCancellation(of: SimulatedApp.proMonthly, to: &script) }

  static let productRemoved = LifeCycleStory(
    "cannot renew, because the product is no longer sold", characteristicDay: 40
  ) { script in
    let product = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    let end = script.start.adding(months: 1)
    subscription.stopRenewing(.productUnavailable)
    script.sign(subscription, as: .expiredForProduct, at: end, status: .expired)
    script.expect(.expired(product, .productUnavailable, willRenew: false), from: end)
  }

  static let resubscribed = LifeCycleStory(
    "lets a subscription end and buys a better one on day 40", characteristicDay: 50
  ) { script in
    var subscription = script.subscribeForOneMonth(to: SimulatedApp.basicMonthly)
    cancel(&subscription, of: SimulatedApp.basicMonthly, script: &script)
    let again = script.start.adding(days: 40)
    let product = SimulatedApp.proMonthly
    script.nextPeriod(
      of: &subscription, product, from: again, to: again.adding(months: 1), reason: "PURCHASE")
    subscription.renewalInfo.recentSubscriptionStartDate = again
    script.sign(subscription, as: .resubscription, at: again, status: .active)
    script.expect(.active(product, willRenew: true), from: again)
    script.expectOverdueRenewal(product, from: again.adding(months: 1))
  }

  static let wonBack = LifeCycleStory(
    "lets a subscription end and comes back on day 40 for an offer", characteristicDay: 50
  ) { script in
    let product = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    subscription.renewalInfo.eligibleWinBackOfferIDs = [LifeCycleScript.winBackOfferID]
    cancel(&subscription, of: product, script: &script)
    script.winBack(&subscription, product, at: script.start.adding(days: 40))
  }

  static let autoRenewalRestored = LifeCycleStory(
    "turns auto-renewal off on day 12, and on again on day 18", characteristicDay: 22
  ) { script in
    let product = SimulatedApp.proMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    let cancelled = script.start.adding(days: 12)
    let end = script.start.adding(months: 1)
    let renewing = subscription.renewalInfo
    subscription.stopRenewing()
    script.sign(subscription, as: .autoRenewDisabled, at: cancelled, status: .active)
    script.expect(
      .active(product, willRenew: false, callToAction: .keepSubscription), from: cancelled)
    let restored = script.start.adding(days: 18)
    subscription.renewalInfo = renewing
    script.sign(subscription, as: .autoRenewEnabled, at: restored, status: .active)
    script.expect(.active(product, willRenew: true), from: restored)
    script.expectOverdueRenewal(product, from: end)
  }

  static let endedForOtherReason = LifeCycleStory(
    "has a subscription that Apple ended for another reason", characteristicDay: 40
  ) { script in
    let product = SimulatedApp.proMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    let end = script.start.adding(months: 1)
    subscription.stopRenewing(.other)
    script.sign(subscription, as: .expired, at: end, status: .expired)
    script.expect(.expired(product, .other, willRenew: false), from: end)
  }

  private static func writeCancellation(
    of product: SimulatedProduct, to script: inout LifeCycleScript
  ) {
    var subscription = script.subscribeForOneMonth(to: product)
    cancel(&subscription, of: product, script: &script)
  }

  static func cancel(
    _ subscription: inout ScriptedSubscription, of product: SimulatedProduct,
    script: inout LifeCycleScript
  ) {
    let cancelled = script.start.adding(days: 12)
    subscription.stopRenewing()
    script.sign(subscription, as: .autoRenewDisabled, at: cancelled, status: .active)
    script.expect(
      .active(product, willRenew: false, callToAction: .keepSubscription), from: cancelled)
    script.endCancelled(&subscription, product, at: script.start.adding(months: 1))
  }
}
