import EntitlementDomain

// Life cycles with renewals that cannot be charged.
extension LifeCycleStory {
  static let grace = LifeCycleStory(
    "cannot be charged, has 16 days of grace, then loses access", characteristicDay: 36
  ) { script in
    let product = SimulatedApp.proMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    let end = script.start.adding(months: 1)
    let graceEnd = enterGrace(&subscription, product, script: &script)
    // Billing retry begins at the end of the grace period. The notification arrives later.
    script.expect(.billingRetry(product), from: graceEnd)
    subscription.renewalInfo.gracePeriodExpiresDate = nil
    subscription.renewalInfo.expirationIntent = .billingError
    script.sign(
      subscription, as: .gracePeriodExpired, at: graceEnd.adding(minutes: 5),
      status: .billingRetry)
    endBillingRetry(&subscription, product, end: end, script: &script)
  }

  static let graceRecovered = LifeCycleStory(
    "cannot be charged, pays on the fifth day of grace", characteristicDay: 45
  ) { script in
    let product = SimulatedApp.basicMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    _ = enterGrace(&subscription, product, script: &script)
    let end = script.start.adding(months: 1)
    let nextEnd = script.start.adding(months: 2)
    let paid = end.adding(days: 5)
    // Paid within the grace period: the new period begins where the old one ended.
    script.nextPeriod(of: &subscription, product, from: end, to: nextEnd)
    script.sign(subscription, as: .billingRecovery, at: paid, status: .active)
    script.expect(.active(product, willRenew: true), from: paid)
    script.expectOverdueRenewal(product, from: nextEnd)
  }

  static let billingRetry = LifeCycleStory(
    "cannot be charged and has no grace; the charge is retried", characteristicDay: 40
  ) { script in writeFailedBilling(of: SimulatedApp.basicMonthly, to: &script) }

  static let billingFailed = LifeCycleStory(
    "cannot be charged for 60 days, and the subscription ends", characteristicDay: 100
  ) { script in writeFailedBilling(of: SimulatedApp.proMonthly, to: &script) }

  static let billingRecovered = LifeCycleStory(
    "cannot be charged for 20 days, then pays", characteristicDay: 58
  ) { script in
    let product = SimulatedApp.proMonthly
    var subscription = script.subscribeForOneMonth(to: product)
    enterRetry(&subscription, product, script: &script)
    let paid = script.start.adding(months: 1).adding(days: 20)
    // Paid after the period ended: the new period begins with the payment.
    script.nextPeriod(of: &subscription, product, from: paid, to: paid.adding(months: 1))
    script.sign(subscription, as: .billingRecovery, at: paid, status: .active)
    script.expect(.active(product, willRenew: true), from: paid)
    script.expectOverdueRenewal(product, from: paid.adding(months: 1))
  }

  private static func writeFailedBilling(
    of product: SimulatedProduct, to script: inout LifeCycleScript
  ) {
    var subscription = script.subscribeForOneMonth(to: product)
    enterRetry(&subscription, product, script: &script)
    endBillingRetry(&subscription, product, end: script.start.adding(months: 1), script: &script)
  }

  /// - Returns: the end of the grace period.
  private static func enterGrace(
    _ subscription: inout ScriptedSubscription, _ product: SimulatedProduct,
    script: inout LifeCycleScript
  ) -> Milliseconds {
    let end = script.start.adding(months: 1)
    let graceEnd = end.adding(days: 16)
    subscription.renewalInfo.isInBillingRetryPeriod = true
    subscription.renewalInfo.gracePeriodExpiresDate = graceEnd
    script.sign(subscription, as: .renewalFailedIntoGrace, at: end, status: .grace)
    script.expect(.grace(product), from: end)
    return graceEnd
  }

  private static func enterRetry(
    _ subscription: inout ScriptedSubscription, _ product: SimulatedProduct,
    script: inout LifeCycleScript
  ) {
    let end = script.start.adding(months: 1)
    subscription.renewalInfo.isInBillingRetryPeriod = true
    subscription.renewalInfo.expirationIntent = .billingError
    script.sign(subscription, as: .renewalFailed, at: end, status: .billingRetry)
    script.expect(.billingRetry(product), from: end)
  }

  /// Billing retry ends after 60 days (R20). Then the subscription will not renew, whatever the
  /// last `autoRenewStatus` was. The notification arrives an hour later.
  private static func endBillingRetry(
    _ subscription: inout ScriptedSubscription, _ product: SimulatedProduct, end: Milliseconds,
    script: inout LifeCycleScript
  ) {
    let retryEnd = end.adding(days: 60)
    script.expect(.expired(product, .billingError, willRenew: false), from: retryEnd)
    subscription.stopRenewing(.billingError)
    subscription.renewalInfo.isInBillingRetryPeriod = false
    script.sign(
      subscription, as: .expiredForBilling, at: retryEnd.adding(hours: 1), status: .expired)
  }
}
