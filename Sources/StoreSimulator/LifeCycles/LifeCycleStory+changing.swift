import EntitlementDomain

// Other products and other prices.
extension LifeCycleStory {
  static let upgrade = LifeCycleStory(
    "changes to the better product on day 10, at once", characteristicDay: 20
  ) { script in
    var subscription = script.subscribeForOneMonth(to: SimulatedApp.basicMonthly)
    let upgraded = script.start.adding(days: 10)
    let end = upgraded.adding(months: 1)
    var replaced = subscription.transaction
    replaced.isUpgraded = true
    let product = SimulatedApp.proMonthly
    script.nextPeriod(of: &subscription, product, from: upgraded, to: end, reason: "PURCHASE")
    script.sign(
      subscription, as: .upgrade, at: upgraded, status: .active, others: [replaced])
    script.expect(.active(product, willRenew: true), from: upgraded)
    script.expectSilence(product, from: end)
  }

  static let downgrade = LifeCycleStory(
    "asks on day 8 for the smaller product, which comes with the renewal", characteristicDay: 15
  ) { script in
    let current = SimulatedApp.proMonthly
    let next = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: current)
    let asked = script.start.adding(days: 8)
    let renewed = script.start.adding(months: 1)
    let end = script.start.adding(months: 2)
    subscription.renewalInfo.autoRenewProductID = next.id
    subscription.renewalInfo.renewalPrice = next.price
    script.sign(subscription, as: .downgrade, at: asked, status: .active)
    script.expect(.active(current, willRenew: true, pending: next), from: asked)
    script.nextPeriod(of: &subscription, next, from: renewed, to: end)
    script.sign(subscription, as: .renewal, at: renewed, status: .active)
    script.expect(.active(next, willRenew: true), from: renewed)
    script.expectSilence(next, from: end)
  }

  static let priceIncrease = LifeCycleStory(
    "is asked on day 5 for consent to a higher price and gives it on day 15", characteristicDay: 10
  ) { script in
    let product = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    askForConsent(&subscription, product, script: &script)
    let accepted = script.start.adding(days: 15)
    subscription.renewalInfo.priceIncreaseStatus = .accepted
    script.sign(subscription, as: .priceIncreaseAccepted, at: accepted, status: .active)
    script.expect(.active(product, willRenew: true), from: accepted)
    let renewed = script.start.adding(months: 1)
    let end = script.start.adding(months: 2)
    script.nextPeriod(of: &subscription, product, from: renewed, to: end)
    subscription.transaction.price = increasedPrice
    subscription.renewalInfo.renewalPrice = increasedPrice
    script.sign(subscription, as: .renewal, at: renewed.adding(hours: -6), status: .active)
    script.expectSilence(product, from: end)
  }

  static let priceIncreaseDeclined = LifeCycleStory(
    "does not consent to a higher price, and the subscription ends", characteristicDay: 40
  ) { script in
    let product = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    askForConsent(&subscription, product, script: &script)
    let end = script.start.adding(months: 1)
    subscription.stopRenewing(.noPriceConsent)
    script.sign(subscription, as: .expiredForPrice, at: end, status: .expired)
    script.expect(.expired(product, .priceIncreaseDeclined, willRenew: false), from: end)
  }

  private static func askForConsent(
    _ subscription: inout ScriptedSubscription, _ product: SimulatedProduct,
    script: inout LifeCycleScript
  ) {
    let asked = script.start.adding(days: 5)
    subscription.renewalInfo.priceIncreaseStatus = .pending
    subscription.renewalInfo.renewalPrice = increasedPrice
    script.sign(subscription, as: .priceIncreasePending, at: asked, status: .active)
    script.expect(
      .active(product, willRenew: true, callToAction: .consentToPrice), from: asked)
  }

  /// In thousandths of the currency's unit.
  private static let increasedPrice: Int64 = 5_990
}
