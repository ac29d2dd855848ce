import EntitlementDomain

// Other products and other prices.
extension LifeCycleStory {
  static let upgrade = LifeCycleStory(
    "changes to the better product on day 10, at once", characteristicDay: 20
  ) { script in writeUpgrade(as: .upgrade, to: &script) }

  static let downgrade = LifeCycleStory(
    "asks on day 8 for the smaller product, which comes with the renewal", characteristicDay: 15
  ) { script in
    writeChangeAtRenewal(to: SimulatedApp.basicMonthly, months: 1, as: .downgrade, in: &script)
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

  /// Another duration comes with the renewal, whatever the level.
  static let crossgrade = LifeCycleStory(
    "changes from months to years at the renewal, and the app sets another token",
    characteristicDay: 45
  ) { script in
    let token = script.laterAppAccountToken
    writeChangeAtRenewal(
      to: SimulatedApp.proYearly, months: 12, as: .downgrade, in: &script,
      asking: { $0.renewalInfo.appAccountToken = token },
      renewing: { $0.transaction.appAccountToken = token })
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

  /// On day 10 the better product takes the place of the smaller one.
  ///
  /// - Parameter change: made to the new period before it is signed.
  static func writeUpgrade(
    as name: NotificationName, to script: inout LifeCycleScript,
    change: (inout ScriptedSubscription, SimulatedProduct) -> Void = { _, _ in }
  ) {
    var subscription = script.subscribeForOneMonth(to: SimulatedApp.basicMonthly)
    let upgraded = script.start.adding(days: 10)
    let end = upgraded.adding(months: 1)
    var replaced = subscription.transaction
    replaced.isUpgraded = true
    let product = SimulatedApp.proMonthly
    script.nextPeriod(of: &subscription, product, from: upgraded, to: end, reason: "PURCHASE")
    change(&subscription, product)
    script.sign(subscription, as: name, at: upgraded, status: .active, others: [replaced])
    script.expect(.active(product, willRenew: true), from: upgraded)
    script.expectSilence(product, from: end)
  }

  /// Asked for on day 8, another product comes when the better one's month ends.
  ///
  /// - Parameters:
  ///   - months: the length of the other product's period.
  ///   - asking: a change made to what is signed when it is asked for.
  ///   - renewing: a change made to the new period before it is signed.
  static func writeChangeAtRenewal(
    to next: SimulatedProduct, months: Int, as name: NotificationName,
    in script: inout LifeCycleScript, asking: (inout ScriptedSubscription) -> Void = { _ in },
    renewing: (inout ScriptedSubscription) -> Void = { _ in }
  ) {
    let current = SimulatedApp.proMonthly
    var subscription = script.subscribeForOneMonth(to: current)
    let asked = script.start.adding(days: 8)
    let renewed = script.start.adding(months: 1)
    let end = script.start.adding(months: 1 + months)
    subscription.renewalInfo.autoRenewProductID = next.id
    subscription.renewalInfo.renewalPrice = next.price
    asking(&subscription)
    script.sign(subscription, as: name, at: asked, status: .active)
    script.expect(.active(current, willRenew: true, pending: next), from: asked)
    script.nextPeriod(of: &subscription, next, from: renewed, to: end)
    renewing(&subscription)
    script.sign(subscription, as: .renewal, at: renewed, status: .active)
    script.expect(.active(next, willRenew: true), from: renewed)
    script.expectSilence(next, from: end)
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
