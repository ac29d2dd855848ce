import EntitlementDomain

// Subscriptions that go on.
extension LifeCycleStory {
  static let firstPurchase = LifeCycleStory(
    "subscribes for the first time; the renewal is never heard of", characteristicDay: 10
  ) { script in
    _ = script.subscribeForOneMonth(to: SimulatedApp.proMonthly)
    script.expectSilence(SimulatedApp.proMonthly, from: script.start.adding(months: 1))
  }

  static let renewals = LifeCycleStory(
    "renews twice, each time charged before the period ends", characteristicDay: 75
  ) { script in
    let product = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    let second = script.start.adding(months: 1)
    let third = script.start.adding(months: 2)
    let end = script.start.adding(months: 3)
    // Charged early, to begin when the first period ends (R18).
    script.nextPeriod(of: &subscription, product, from: second, to: third)
    script.sign(subscription, as: .renewal, at: second.adding(hours: -6), status: .active)
    // Charged early, and begun at the charge: two periods overlap (R18).
    let charged = third.adding(hours: -6)
    script.nextPeriod(of: &subscription, product, from: charged, to: end)
    script.sign(subscription, as: .renewal, at: charged, status: .active)
    script.expectSilence(product, from: end)
  }

  static let freeTrial = LifeCycleStory(
    "tries a week for free, then pays", characteristicDay: 3
  ) { script in
    let product = SimulatedApp.proMonthly
    let trialEnd = script.start.adding(days: 7)
    let end = trialEnd.adding(months: 1)
    var subscription = script.subscription(to: product, ends: trialEnd)
    subscription.transaction.offer = Offer(
      type: .introductory, discountType: .freeTrial, period: "P1W")
    subscription.transaction.price = 0
    script.sign(subscription, as: .firstSubscription, at: script.start, status: .active)
    script.expect(.active(product, willRenew: true), from: script.start)
    script.nextPeriod(of: &subscription, product, from: trialEnd, to: end)
    script.sign(subscription, as: .renewal, at: trialEnd.adding(hours: -12), status: .active)
    script.expectSilence(product, from: end)
  }

  static let renewalExtended = LifeCycleStory(
    "is given two weeks more on day 20", characteristicDay: 35
  ) { script in
    let product = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    let end = script.start.adding(months: 1).adding(days: 14)
    subscription.transaction.expiresDate = end
    subscription.renewalInfo.renewalDate = end
    script.sign(
      subscription, as: .renewalExtended, at: script.start.adding(days: 20), status: .active)
    script.expectSilence(product, from: end)
  }
}
