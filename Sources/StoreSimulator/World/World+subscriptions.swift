import EntitlementDomain

// What happens to subscriptions without a request: renewals, failed charges, ends.
extension World {
  /// Takes the step of a subscription that is due now.
  mutating func continueSubscription(of index: Int) {
    guard var script = customers[index].script, var subscription = customers[index].subscription
    else { return }
    let end = subscription.transaction.expiresDate ?? now
    if let grace = subscription.renewalInfo.gracePeriodExpiresDate, now >= grace {
      subscription.renewalInfo.gracePeriodExpiresDate = nil
      subscription.renewalInfo.expirationIntent = .billingError
      script.sign(subscription, as: .gracePeriodExpired, at: now, status: .billingRetry)
    } else if subscription.renewalInfo.isInBillingRetryPeriod == true {
      subscription.stopRenewing(.billingError)
      subscription.renewalInfo.isInBillingRetryPeriod = false
      script.sign(subscription, as: .expiredForBilling, at: now, status: .expired)
    } else if subscription.renewalInfo.autoRenews != true {
      subscription.renewalInfo.expirationIntent = .cancelled
      script.sign(subscription, as: .expiredVoluntarily, at: now, status: .expired)
    } else if subscription.renewalInfo.priceIncreaseStatus == .pending {
      subscription.stopRenewing(.noPriceConsent)
      script.sign(subscription, as: .expiredForPrice, at: now, status: .expired)
    } else if customers[index].cardWorks {
      Self.renew(&subscription, from: end, script: &script)
      script.sign(subscription, as: .renewal, at: now, status: .active)
    } else {
      fail(&subscription, end: end, script: &script)
    }
    customers[index].script = script
    customers[index].subscription = subscription
    publish(index)
    updateMembers(of: index)
  }

  /// Makes the next period: of the product that the customer wants next, with its offer and price.
  static func renew(
    _ subscription: inout ScriptedSubscription, from begin: Milliseconds,
    script: inout LifeCycleScript
  ) {
    let former = subscription
    let wanted = former.renewalInfo.autoRenewProductID ?? former.transaction.productID
    guard let product = SimulatedApp.product(wanted) else { return }
    // A commitment is billed by the month, whatever the product's period.
    let commitment = former.transaction.commitment.map { $0.next(from: begin) }
    let months = commitment == nil ? product.months ?? 1 : 1
    script.nextPeriod(
      of: &subscription, product, from: begin, to: begin.adding(months: months))
    // Of the chain: other purchases of the customer may have another one.
    subscription.transaction.appAccountToken = former.renewalInfo.appAccountToken
    subscription.transaction.commitment = commitment
    subscription.transaction.advancedCommerce = former.transaction.advancedCommerce
    // A price that differs from the product's is that of an increase, or of a commitment.
    let price = former.renewalInfo.renewalPrice ?? product.price
    subscription.transaction.price = price
    subscription.transaction.offer = former.renewalInfo.renewalOffer
    subscription.renewalInfo.renewalOffer = nil
    subscription.renewalInfo.renewalPrice =
      former.renewalInfo.renewalOffer == nil ? price : product.price
  }

  private func fail(
    _ subscription: inout ScriptedSubscription, end: Milliseconds, script: inout LifeCycleScript
  ) {
    subscription.renewalInfo.isInBillingRetryPeriod = true
    if configuration.graceDays > 0 {
      subscription.renewalInfo.gracePeriodExpiresDate = end.adding(days: configuration.graceDays)
      script.sign(subscription, as: .renewalFailedIntoGrace, at: now, status: .grace)
    } else {
      subscription.renewalInfo.expirationIntent = .billingError
      script.sign(subscription, as: .renewalFailed, at: now, status: .billingRetry)
    }
  }

  // MARK: Family members

  /// Lets the chains of family members follow that of the payer: new periods, extensions, refunds
  /// and ends. They have no renewal info (R25).
  mutating func updateMembers(of payer: Int) {
    guard let subscription = customers[payer].subscription else { return }
    for member in customers[payer].members {
      guard var script = customers[member].script, var shared = customers[member].shared else {
        continue
      }
      let former = shared
      let paid = subscription.transaction
      if customers[member].followed != paid.transactionID {
        follow(paid, with: &shared, former: former, script: &script)
      } else if shared.expiresDate != paid.expiresDate {
        shared.expiresDate = paid.expiresDate
        script.sign(shared, as: .renewalExtended, at: now, status: .active)
      } else if paid.revocationDate != nil, shared.revocationDate == nil {
        shared.revoke(at: now, as: .familyRevoke)
        script.sign(shared, as: .sharingEnded, at: now, status: .revoked)
      } else if paid.revocationDate == nil, shared.revocationDate != nil {
        shared.withdrawRevocation()
        let phase = ChainPhase(of: shared, nil, at: now)
        script.sign(shared, as: .refundReversed, at: now, status: phase.status)
      } else if paid.revocationDate == nil, paid.expiresDate == now {
        let isCancelled = subscription.renewalInfo.expirationIntent == .cancelled
        script.sign(
          shared, as: isCancelled ? .expiredVoluntarily : .expired, at: now, status: .expired)
      }
      customers[member].script = script
      customers[member].shared = shared
      customers[member].followed = paid.transactionID
      publish(member)
    }
  }

  private func follow(
    _ paid: TransactionPayload, with shared: inout TransactionPayload, former: TransactionPayload,
    script: inout LifeCycleScript
  ) {
    guard let product = SimulatedApp.product(paid.productID) else { return }
    shared = script.sharedPurchase(of: product, at: paid.purchaseDate, ends: paid.expiresDate)
    shared.originalTransactionID = former.originalTransactionID
    shared.originalPurchaseDate = former.originalPurchaseDate
    shared.transactionReason = paid.transactionReason
    guard paid.transactionReason == "PURCHASE", paid.productID != former.productID,
      let end = former.expiresDate, paid.purchaseDate < end, former.revocationDate == nil
    else {
      let name = paid.transactionReason == "PURCHASE" ? NotificationName.resubscription : .renewal
      return script.sign(shared, as: name, at: now, status: .active)
    }
    var replaced = former
    replaced.isUpgraded = true
    script.sign(shared, as: .upgrade, at: now, status: .active, others: [replaced])
  }
}

extension LifeCycleScript {
  /// A transaction of a chain that a family member pays for.
  mutating func sharedPurchase(
    of product: SimulatedProduct, at moment: Milliseconds, ends end: Milliseconds?
  ) -> TransactionPayload {
    var transaction = purchase(product, at: moment, ends: end)
    transaction.ownership = .familyShared
    transaction.appAccountToken = nil
    return transaction
  }
}

extension TransactionPayload {
  mutating func revoke(at moment: Milliseconds, as type: RevocationType) {
    revocationDate = moment
    revocationReason = .other
    revocationType = type
  }

  mutating func withdrawRevocation() {
    revocationDate = nil
    revocationReason = nil
    revocationType = nil
    revocationPercentage = nil
  }
}

extension Commitment {
  /// The next month, of this commitment or of the next one.
  fileprivate func next(from begin: Milliseconds) -> Commitment {
    guard billingPeriodNumber < totalBillingPeriods else {
      return Commitment(
        billingPeriodNumber: 1, totalBillingPeriods: totalBillingPeriods,
        expiresDate: begin.adding(months: Int(totalBillingPeriods)))
    }
    var next = self
    next.billingPeriodNumber += 1
    return next
  }
}
