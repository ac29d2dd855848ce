import EntitlementDomain

// Life cycles of subscriptions that renew.
extension LifeCycleStory {
  static let firstPurchase = LifeCycleStory(
    "subscribes for the first time; no renewal follows", characteristicDay: 10
  ) { script in
    _ = script.subscribeForOneMonth(to: SimulatedApp.proMonthly)
    script.expectOverdueRenewal(SimulatedApp.proMonthly, from: script.start.adding(months: 1))
  }

  static let renewals = LifeCycleStory(
    "renews twice, each time charged before the period ends", characteristicDay: 75
  ) { script in
    let product = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    let second = script.start.adding(months: 1)
    let third = script.start.adding(months: 2)
    let end = script.start.adding(months: 3)
    // Charged early. The new period begins when the first one ends (R18).
    script.nextPeriod(of: &subscription, product, from: second, to: third)
    script.sign(subscription, as: .renewal, at: second.adding(hours: -6), status: .active)
    // Charged early. The new period begins at the charge, so two periods overlap (R18).
    let charged = third.adding(hours: -6)
    script.nextPeriod(of: &subscription, product, from: charged, to: end)
    script.sign(subscription, as: .renewal, at: charged, status: .active)
    script.expectOverdueRenewal(product, from: end)
  }

  static let freeTrial = LifeCycleStory(
    "has a free trial for a week, then pays", characteristicDay: 3
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
    script.expectOverdueRenewal(product, from: end)
  }

  static let renewalExtended = LifeCycleStory(
    "gets two more weeks on day 20", characteristicDay: 35
  ) { script in
    let product = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    let end = script.start.adding(months: 1).adding(days: 14)
    subscription.transaction.expiresDate = end
    subscription.renewalInfo.renewalDate = end
    script.sign(
      subscription, as: .renewalExtended, at: script.start.adding(days: 20), status: .active)
    script.expectOverdueRenewal(product, from: end)
  }

  static let monthlyCommitment = LifeCycleStory(
    "has committed to a year, billed monthly, and is in the third month", characteristicDay: 75
  ) { script in
    let product = SimulatedApp.proYearly
    let monthlyPrice = product.price / 12
    let commitmentEnd = script.start.adding(months: 12)
    func progress(_ number: Int64) -> Commitment {
      Commitment(billingPeriodNumber: number, totalBillingPeriods: 12, expiresDate: commitmentEnd)
    }
    var subscription = script.subscription(to: product, ends: script.start.adding(months: 1))
    subscription.transaction.commitment = progress(1)
    subscription.transaction.price = monthlyPrice
    subscription.renewalInfo.renewalPrice = monthlyPrice
    subscription.renewalInfo.renewalBillingPlanType = "MONTHLY"
    script.sign(subscription, as: .firstSubscription, at: script.start, status: .active)
    script.expect(.active(product, willRenew: true), from: script.start)
    for month in 1...2 {
      let begin = script.start.adding(months: month)
      // Access follows the month that was paid, not the commitment (R26).
      let end = script.start.adding(months: month + 1)
      script.nextPeriod(of: &subscription, product, from: begin, to: end)
      subscription.transaction.commitment = progress(Int64(month) + 1)
      subscription.transaction.price = monthlyPrice
      subscription.renewalInfo.renewalPrice = monthlyPrice
      script.sign(subscription, as: .renewal, at: begin.adding(hours: -6), status: .active)
    }
    script.expectOverdueRenewal(product, from: script.start.adding(months: 3))
  }

  static let massExtension = LifeCycleStory(
    "gets another week on day 20, as all subscribers do", characteristicDay: 33
  ) { script in
    let product = SimulatedApp.proMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    let end = script.start.adding(months: 1).adding(days: 7)
    let extended = script.start.adding(days: 20)
    subscription.transaction.expiresDate = end
    subscription.renewalInfo.renewalDate = end
    script.sign(subscription, as: .renewalExtended, at: extended, status: .active)
    script.notify(
      .massExtensionDone, at: extended.adding(hours: 2),
      about: .summary(
        RenewalExtensionSummary(
          requestIdentifier: "0d4b0b9e-91a3-4e0f-9d55-2f6f6cb1f0a7", productID: product.id,
          succeededCount: 1_204, failedCount: 1)))
    script.expectOverdueRenewal(product, from: end)
  }

  static let extensionFailed = LifeCycleStory(
    "should get another week on day 20, but the extension fails", characteristicDay: 24
  ) { script in
    let product = SimulatedApp.basicMonthly
    let subscription = script.subscribeForOneMonth(to: product)
    script.sign(
      subscription, as: .extensionFailed, at: script.start.adding(days: 20), status: .active)
    script.expectOverdueRenewal(product, from: script.start.adding(months: 1))
  }
}
