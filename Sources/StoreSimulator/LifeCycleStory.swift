import EntitlementDomain

/// One life cycle, told to a script.
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
  /// A subscription bought at the start for one month.
  mutating func subscribeForOneMonth(to product: SimulatedProduct) -> ScriptedSubscription {
    let subscription = subscription(to: product, ends: start.adding(months: 1))
    sign(subscription, as: .firstSubscription, at: start, status: .active)
    expect(.active(product, willRenew: true), from: start)
    return subscription
  }

  /// Nothing more is heard of a subscription that should have renewed at `end` (R24).
  mutating func expectSilence(_ product: SimulatedProduct, from end: Milliseconds) {
    expect(.expired(product, .unknown, willRenew: true), from: end)
  }

  /// A cancelled subscription ends at `end`, and the App Store says why ten minutes later. Until
  /// then the reason is unknown (R21).
  mutating func endCancelled(
    _ subscription: inout ScriptedSubscription, _ product: SimulatedProduct,
    at end: Milliseconds
  ) {
    expect(.expired(product, .unknown, willRenew: false), from: end)
    let told = end.adding(minutes: 10)
    subscription.stopRenewing(.cancelled)
    sign(subscription, as: .expiredVoluntarily, at: told, status: .expired)
    expect(.expired(product, .customerCancelled, willRenew: false), from: told)
  }

  static let winBackOfferID = "come-back"

  /// The chain goes on at `moment`, after a while without access, at half the price.
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
    expectSilence(product, from: end)
  }
}
