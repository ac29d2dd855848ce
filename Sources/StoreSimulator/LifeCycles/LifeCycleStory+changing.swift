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

  static let crossgrade = LifeCycleStory(
    "changes from months to years at the renewal, and the app sets another token",
    characteristicDay: 45
  ) { script in
    let current = SimulatedApp.proMonthly
    let next = SimulatedApp.proYearly
    var subscription = script.subscribeForOneMonth(to: current)
    let asked = script.start.adding(days: 8)
    let renewed = script.start.adding(months: 1)
    let end = script.start.adding(months: 13)
    subscription.renewalInfo.autoRenewProductID = next.id
    subscription.renewalInfo.renewalPrice = next.price
    subscription.renewalInfo.appAccountToken = script.laterAppAccountToken
    // Another duration comes with the renewal, whatever the level.
    script.sign(subscription, as: .downgrade, at: asked, status: .active)
    script.expect(.active(current, willRenew: true, pending: next), from: asked)
    script.nextPeriod(of: &subscription, next, from: renewed, to: end)
    subscription.transaction.appAccountToken = script.laterAppAccountToken
    script.sign(subscription, as: .renewal, at: renewed, status: .active)
    script.expect(.active(next, willRenew: true), from: renewed)
    script.expectSilence(next, from: end)
  }

  static let downgradeWithdrawn = LifeCycleStory(
    "asks on day 8 for the smaller product, and takes it back on day 14", characteristicDay: 20
  ) { script in
    let current = SimulatedApp.proMonthly
    let next = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: current)
    let asked = script.start.adding(days: 8)
    subscription.renewalInfo.autoRenewProductID = next.id
    subscription.renewalInfo.renewalPrice = next.price
    script.sign(subscription, as: .downgrade, at: asked, status: .active)
    script.expect(.active(current, willRenew: true, pending: next), from: asked)
    let withdrawn = script.start.adding(days: 14)
    subscription.renewalInfo.autoRenewProductID = current.id
    subscription.renewalInfo.renewalPrice = current.price
    script.sign(subscription, as: .preferenceReset, at: withdrawn, status: .active)
    script.expect(.active(current, willRenew: true), from: withdrawn)
    script.expectSilence(current, from: script.start.adding(months: 1))
  }

  static let advancedCommerce = LifeCycleStory(
    "is moved to the Advanced Commerce API, and later to other words and another price",
    characteristicDay: 20
  ) { script in
    let product = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    var details = AdvancedCommerce(
      requestReferenceID: script.nextUUID(), taxCode: "S021-08-1",
      displayName: "Scribe Basic", description: "Write and keep documents")
    func tell(_ name: NotificationName, onDay day: Int64) {
      subscription.transaction.advancedCommerce = details
      subscription.renewalInfo.advancedCommerce = details
      script.sign(subscription, as: name, at: script.start.adding(days: day), status: .active)
    }
    tell(.migration, onDay: 5)
    details.displayName = "Scribe Home"
    tell(.metadataUpdate, onDay: 8)
    subscription.renewalInfo.renewalPrice = increasedPrice
    tell(.priceChange, onDay: 11)
    script.expectSilence(product, from: script.start.adding(months: 1))
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
