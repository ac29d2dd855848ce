import EntitlementDomain

/// One life cycle: its description, and the function that writes it to a script.
struct LifeCycleStory: Sendable {
  let summary: String
  let characteristicDay: Int64
  let write: @Sendable (inout LifeCycleScript) -> Void

  /// - Parameter characteristicDay: see ``LifeCycle/characteristicDay``.
  init(
    _ summary: String, characteristicDay: Int64,
    write: @escaping @Sendable (inout LifeCycleScript) -> Void
  ) {
    self.summary = summary
    self.characteristicDay = characteristicDay
    self.write = write
  }
}

extension LifeCycleScript {
  /// Signs the purchase of a one-month subscription at the start.
  mutating func subscribeForOneMonth(to product: SimulatedProduct) -> ScriptedSubscription {
    let subscription = subscription(to: product, ends: start.adding(months: 1))
    sign(subscription, as: .firstSubscription, at: start, status: .active)
    expect(.active(product, willRenew: true), from: start)
    return subscription
  }

  /// Expects an overdue renewal: the subscription should have renewed at `end`, but no further fact
  /// arrives (R24).
  mutating func expectOverdueRenewal(_ product: SimulatedProduct, from end: Milliseconds) {
    expect(.expired(product, .unknown, willRenew: true), from: end)
  }

  /// Ends a cancelled subscription at `end`. The App Store sends the reason ten minutes later;
  /// until then it is unknown (R21).
  mutating func endCancelled(
    _ subscription: inout ScriptedSubscription, _ product: SimulatedProduct,
    at end: Milliseconds
  ) {
    expect(.expired(product, .unknown, willRenew: false), from: end)
    let notified = end.adding(minutes: 10)
    subscription.stopRenewing(.cancelled)
    sign(subscription, as: .expiredVoluntarily, at: notified, status: .expired)
    expect(.expired(product, .customerCancelled, willRenew: false), from: notified)
  }

  static let winBackOfferID = "come-back"

  /// Continues the chain at `moment`, after a time without access, with an offer at half the price.
  mutating func winBack(
    _ subscription: inout ScriptedSubscription, _ product: SimulatedProduct,
    at moment: Milliseconds
  ) {
    let end = moment.adding(months: 1)
    nextPeriod(of: &subscription, product, from: moment, to: end, reason: "PURCHASE")
    subscription.transaction.offer = Offer(
      type: .winBack, identifier: Self.winBackOfferID, discountType: .payAsYouGo, period: "P1M")
    subscription.transaction.price = product.price / 2
    subscription.renewalInfo.recentSubscriptionStartDate = moment
    subscription.renewalInfo.eligibleWinBackOfferIDs = []
    sign(subscription, as: .resubscription, at: moment, status: .active)
    expect(.active(product, willRenew: true), from: moment)
    expectOverdueRenewal(product, from: end)
  }
}
