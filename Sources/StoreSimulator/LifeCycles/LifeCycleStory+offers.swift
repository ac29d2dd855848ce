import EntitlementDomain

// Life cycles with offer codes.
extension LifeCycleStory {
  static let offerRedeemed = LifeCycleStory(
    "redeems a code on day 10, which makes the next month cheaper", characteristicDay: 20
  ) { script in
    let product = SimulatedApp.proMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    let renewed = script.start.adding(months: 1)
    let end = script.start.adding(months: 2)
    subscription.renewalInfo.renewalOffer = code
    subscription.renewalInfo.renewalPrice = product.price / 2
    script.sign(
      subscription, as: .offerRedeemed, at: script.start.adding(days: 10), status: .active)
    script.nextPeriod(of: &subscription, product, from: renewed, to: end)
    subscription.transaction.offer = code
    subscription.transaction.price = product.price / 2
    subscription.renewalInfo.renewalOffer = nil
    script.sign(subscription, as: .renewal, at: renewed.adding(hours: -6), status: .active)
    script.expectOverdueRenewal(product, from: end)
  }

  static let offerCodeFirst = LifeCycleStory(
    "subscribes for the first time with a code", characteristicDay: 10
  ) { script in
    let product = SimulatedApp.basicMonthly
    let end = script.start.adding(months: 1)
    var subscription = script.subscription(to: product, ends: end)
    redeem(&subscription, product)
    script.sign(subscription, as: .offerRedeemedAtFirst, at: script.start, status: .active)
    script.expect(.active(product, willRenew: true), from: script.start)
    script.expectOverdueRenewal(product, from: end)
  }

  static let offerUpgrade = LifeCycleStory(
    "upgrades to the better product with a code on day 10", characteristicDay: 20
  ) { script in
    writeUpgrade(as: .offerRedeemedToUpgrade, to: &script) { subscription, product in
      redeem(&subscription, product)
    }
  }

  static let offerDowngrade = LifeCycleStory(
    "redeems a code for a downgrade on day 8, which takes effect at the renewal",
    characteristicDay: 15
  ) { script in
    let next = SimulatedApp.basicMonthly
    writeChangeAtRenewal(
      to: next, months: 1, as: .offerRedeemedToDowngrade, in: &script,
      requesting: { subscription in
        subscription.renewalInfo.renewalOffer = code
        subscription.renewalInfo.renewalPrice = next.price / 2
      },
      renewing: { subscription in
        redeem(&subscription, next)
        subscription.renewalInfo.renewalOffer = nil
      })
  }

  static let offerResubscribed = LifeCycleStory(
    "lets a subscription end and subscribes again with a code on day 40", characteristicDay: 50
  ) { script in
    let product = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    cancel(&subscription, of: product, script: &script)
    let again = script.start.adding(days: 40)
    let end = again.adding(months: 1)
    script.nextPeriod(of: &subscription, product, from: again, to: end, reason: "PURCHASE")
    redeem(&subscription, product)
    subscription.renewalInfo.recentSubscriptionStartDate = again
    script.sign(subscription, as: .offerRedeemedToResubscribe, at: again, status: .active)
    script.expect(.active(product, willRenew: true), from: again)
    script.expectOverdueRenewal(product, from: end)
  }

  /// Half the price for one month.
  private static let code = Offer(
    type: .offerCode, identifier: "autumn", discountType: .payAsYouGo, period: "P1M")

  private static func redeem(
    _ subscription: inout ScriptedSubscription, _ product: SimulatedProduct
  ) {
    subscription.transaction.offer = code
    subscription.transaction.price = product.price / 2
  }
}
