import EntitlementDomain

// Life cycles with a change of product or price.
extension LifeCycleStory {
  static let upgrade = LifeCycleStory(
    "upgrades to the better product on day 10", characteristicDay: 20
  ) { script in writeUpgrade(as: .upgrade, to: &script) }

  static let downgrade = LifeCycleStory(
    "requests a downgrade on day 8, which takes effect at the renewal", characteristicDay: 15
  ) { script in
    writeChangeAtRenewal(to: SimulatedApp.basicMonthly, months: 1, as: .downgrade, in: &script)
  }

  static let priceIncrease = LifeCycleStory(
    "is asked for consent to a higher price on day 5, and consents on day 15",
    characteristicDay: 10
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
    script.expectOverdueRenewal(product, from: end)
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

  /// A change to another duration takes effect at the renewal, whatever the level.
  static let crossgrade = LifeCycleStory(
    "changes to a yearly product at the renewal, and the app sets another token",
    characteristicDay: 45
  ) { script in
    let token = script.laterAppAccountToken
    writeChangeAtRenewal(
      to: SimulatedApp.proYearly, months: 12, as: .downgrade, in: &script,
      requesting: { $0.renewalInfo.appAccountToken = token },
      renewing: { $0.transaction.appAccountToken = token })
  }

  static let downgradeWithdrawn = LifeCycleStory(
    "requests a downgrade on day 8, and withdraws it on day 14", characteristicDay: 20
  ) { script in
    let current = SimulatedApp.proMonthly
    let next = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: current)
    let requested = script.start.adding(days: 8)
    subscription.renewalInfo.autoRenewProductID = next.id
    subscription.renewalInfo.renewalPrice = next.price
    script.sign(subscription, as: .downgrade, at: requested, status: .active)
    script.expect(.active(current, willRenew: true, pending: next), from: requested)
    let withdrawn = script.start.adding(days: 14)
    subscription.renewalInfo.autoRenewProductID = current.id
    subscription.renewalInfo.renewalPrice = current.price
    script.sign(subscription, as: .preferenceReset, at: withdrawn, status: .active)
    script.expect(.active(current, willRenew: true), from: withdrawn)
    script.expectOverdueRenewal(current, from: script.start.adding(months: 1))
  }

  static let advancedCommerce = LifeCycleStory(
    "migrates to the Advanced Commerce API, then the name and the price change",
    characteristicDay: 20
  ) { script in
    let product = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    var details = AdvancedCommerce(
      requestReferenceID: script.nextUUID(), taxCode: "S021-08-1",
      displayName: "Scribe Basic", description: "Write and keep documents")
    func send(_ name: NotificationName, onDay day: Int64) {
      subscription.transaction.advancedCommerce = details
      subscription.renewalInfo.advancedCommerce = details
      script.sign(subscription, as: name, at: script.start.adding(days: day), status: .active)
    }
    send(.migration, onDay: 5)
    details.displayName = "Scribe Home"
    send(.metadataUpdate, onDay: 8)
    subscription.renewalInfo.renewalPrice = increasedPrice
    send(.priceChange, onDay: 11)
    script.expectOverdueRenewal(product, from: script.start.adding(months: 1))
  }

  /// Upgrades to the better product on day 10.
  ///
  /// - Parameter change: changes the new period before it is signed.
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
    script.expectOverdueRenewal(product, from: end)
  }

  /// Requests another product on day 8. The change takes effect when the month ends.
  ///
  /// - Parameters:
  ///   - months: the length of the new product's period.
  ///   - requesting: changes the payloads that are signed with the request.
  ///   - renewing: changes the new period before it is signed.
  static func writeChangeAtRenewal(
    to next: SimulatedProduct, months: Int, as name: NotificationName,
    in script: inout LifeCycleScript, requesting: (inout ScriptedSubscription) -> Void = { _ in },
    renewing: (inout ScriptedSubscription) -> Void = { _ in }
  ) {
    let current = SimulatedApp.proMonthly
    var subscription = script.subscribeForOneMonth(to: current)
    let requested = script.start.adding(days: 8)
    let renewed = script.start.adding(months: 1)
    let end = script.start.adding(months: 1 + months)
    subscription.renewalInfo.autoRenewProductID = next.id
    subscription.renewalInfo.renewalPrice = next.price
    requesting(&subscription)
    script.sign(subscription, as: name, at: requested, status: .active)
    script.expect(.active(current, willRenew: true, pending: next), from: requested)
    script.nextPeriod(of: &subscription, next, from: renewed, to: end)
    renewing(&subscription)
    script.sign(subscription, as: .renewal, at: renewed, status: .active)
    script.expect(.active(next, willRenew: true), from: renewed)
    script.expectOverdueRenewal(next, from: end)
  }

  private static func askForConsent(
    _ subscription: inout ScriptedSubscription, _ product: SimulatedProduct,
    script: inout LifeCycleScript
  ) {
    let requested = script.start.adding(days: 5)
    subscription.renewalInfo.priceIncreaseStatus = .pending
    subscription.renewalInfo.renewalPrice = increasedPrice
    script.sign(subscription, as: .priceIncreasePending, at: requested, status: .active)
    script.expect(
      .active(product, willRenew: true, callToAction: .consentToPrice), from: requested)
  }

  /// In thousandths of the currency's unit.
  private static let increasedPrice: Int64 = 5_990
}
