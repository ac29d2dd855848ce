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
}
