package import EntitlementDomain

// What a customer, or the App Store for one, does. Each action takes place a millisecond after all
// that was signed before, and returns what happened.
extension World {
  /// What an action did.
  package struct Outcome: Sendable {
    package let customer: Int
    package let at: Milliseconds
    package let events: [WorldEvent]
  }

  /// Buys a product.
  ///
  /// - Parameters:
  ///   - name: the customer; a new one if there is none of this name, or nil.
  ///   - token: `appAccountToken`; also of later purchases, but for those of another chain that has
  ///     one.
  ///   - offer: the offer of an auto-renewable subscription.
  package mutating func buy(
    _ productID: ProductID, by name: String?, token: AppAccountToken? = nil,
    offer: StoreOffer? = nil
  ) throws(WorldRefusal) -> Outcome {
    let product = try Self.product(productID)
    guard offer == nil || product.type == .autoRenewable else {
      throw WorldRefusal(.invalid, "only auto-renewable subscriptions have offers here")
    }
    let moment = beginAction()
    let index: Int
    if let name, let known = try? self.index(of: name) {
      index = known
    } else {
      index = try addCustomer(name, token: token, at: moment)
    }
    makeLive(index)
    try requireRoom(index)
    if let token { customers[index].script?.identifiers.appAccountToken = token }
    if product.type == .autoRenewable {
      try subscribe(index, to: product, offer: offer, token: token)
    } else {
      try charge(index, for: product)
    }
    return endAction(of: index, begun: moment)
  }

  private func requireRoom(_ index: Int) throws(WorldRefusal) {
    guard records.customers[index].transactionIDs.count < Self.maximumTransactions else {
      throw WorldRefusal(.impossible, "the customer has \(Self.maximumTransactions) transactions")
    }
  }

  private mutating func charge(
    _ index: Int, for product: SimulatedProduct
  ) throws(WorldRefusal) {
    let state = expectedStates(of: index).first { $0.product == product }
    guard state?.coreState != .active else {
      throw WorldRefusal(.impossible, "the customer has \(product.id) already")
    }
    guard let purchase = customers[index].script?.purchase(product, at: now) else { return }
    customers[index].script?.sign(purchase, as: .oneTimeCharge, at: now)
    publish(index)
  }

  private mutating func subscribe(
    _ index: Int, to product: SimulatedProduct, offer: StoreOffer?, token: AppAccountToken?
  ) throws(WorldRefusal) {
    guard var script = customers[index].script else { return }
    guard customers[index].cardWorks else {
      throw WorldRefusal(.impossible, "the customer's card does not work")
    }
    let months = product.months ?? 1
    let end = offer?.kind == .introductory ? now.adding(days: 7) : now.adding(months: months)
    let name: NotificationName
    var subscription: ScriptedSubscription
    if let known = customers[index].subscription {
      switch ChainPhase(of: known.transaction, known.renewalInfo, at: now) {
      case .active where known.transaction.productID == product.id:
        throw WorldRefusal(.impossible, "the customer has \(product.id) already")
      case .active:
        guard offer == nil else {
          throw WorldRefusal(.impossible, "a change of product has no offer here")
        }
        return try change(index, to: product, token: token)
      case .grace, .billingRetry:
        throw WorldRefusal(.impossible, "a charge is being retried: the card must work first")
      case .expired, .revoked: break
      }
      guard offer?.kind != .introductory else {
        throw WorldRefusal(.impossible, "the customer has subscribed before")
      }
      subscription = known
      script.nextPeriod(of: &subscription, product, from: now, to: end, reason: "PURCHASE")
      subscription.transaction.appAccountToken =
        token ?? known.renewalInfo.appAccountToken ?? script.identifiers.appAccountToken
      subscription.renewalInfo.recentSubscriptionStartDate = now
      subscription.renewalInfo.eligibleWinBackOfferIDs = []
      name = .resubscription
    } else {
      subscription = script.subscription(to: product, at: now, ends: end)
      name = .firstSubscription
    }
    if let offer {
      subscription.transaction.offer = offer.signed
      subscription.transaction.price = offer.kind == .introductory ? 0 : product.price / 2
    }
    subscription.renewalInfo.appAccountToken = subscription.transaction.appAccountToken
    script.sign(subscription, as: name, at: now, status: .active)
    customers[index].script = script
    customers[index].subscription = subscription
    publish(index)
    updateMembers(of: index)
  }

  /// Changes the product of a subscription: to a higher level now, else at the renewal. A change
  /// to the present product withdraws an earlier one.
  package mutating func changeProduct(
    of name: String, to productID: ProductID
  ) throws(WorldRefusal) -> Outcome {
    let product = try Self.product(productID)
    guard product.type == .autoRenewable else {
      throw WorldRefusal(.invalid, "\(productID) is no auto-renewable subscription")
    }
    return try onSubscription(of: name, in: [.active]) { (world, index) throws(WorldRefusal) in
      try world.change(index, to: product)
    }
  }

  /// - Parameter token: `appAccountToken` of the purchase; nil for that of the chain.
  private mutating func change(
    _ index: Int, to product: SimulatedProduct, token: AppAccountToken? = nil
  ) throws(WorldRefusal) {
    guard var script = customers[index].script, var subscription = customers[index].subscription,
      let current = SimulatedApp.product(subscription.transaction.productID)
    else { return }
    let pending = subscription.renewalInfo.autoRenewProductID ?? current.id
    guard product != current || pending != current.id else {
      throw WorldRefusal(.impossible, "the customer has \(product.id) already")
    }
    let isUpgrade = (product.level ?? .max) < (current.level ?? .max)
    guard isUpgrade || subscription.renewalInfo.autoRenews == true else {
      throw WorldRefusal(.impossible, "the subscription does not renew")
    }
    if let token { subscription.renewalInfo.appAccountToken = token }
    if isUpgrade {
      try requireRoom(index)
      var replaced = subscription.transaction
      replaced.isUpgraded = true
      script.nextPeriod(
        of: &subscription, product, from: now, to: now.adding(months: product.months ?? 1),
        reason: "PURCHASE")
      subscription.transaction.appAccountToken = subscription.renewalInfo.appAccountToken
      subscription.renewalInfo.renewalOffer = nil
      script.sign(subscription, as: .upgrade, at: now, status: .active, others: [replaced])
    } else {
      subscription.renewalInfo.autoRenewProductID = product.id
      subscription.renewalInfo.renewalPrice = product.price
      subscription.renewalInfo.priceIncreaseStatus = nil
      script.sign(
        subscription, as: product == current ? .preferenceReset : .downgrade, at: now,
        status: .active)
    }
    customers[index].script = script
    customers[index].subscription = subscription
    publish(index)
    updateMembers(of: index)
  }

  /// Turns auto-renewal off. While a charge is retried, that ends the subscription.
  package mutating func cancel(_ name: String) throws(WorldRefusal) -> Outcome {
    try changeSubscription(of: name, in: [.active, .grace, .billingRetry]) {
      (script, subscription, phase, now) throws(WorldRefusal) in
      guard subscription.renewalInfo.autoRenews == true else {
        throw WorldRefusal(.impossible, "auto-renewal is off already")
      }
      subscription.stopRenewing()
      var status = phase.status
      if phase != .active {
        // EXPIRED follows.
        subscription.renewalInfo.isInBillingRetryPeriod = false
        subscription.renewalInfo.gracePeriodExpiresDate = nil
        status = .expired
      }
      script.sign(subscription, as: .autoRenewDisabled, at: now, status: status)
    }
  }

  /// Turns auto-renewal on again.
  package mutating func resume(_ name: String) throws(WorldRefusal) -> Outcome {
    try changeSubscription(of: name, in: [.active]) {
      (script, subscription, phase, now) throws(WorldRefusal) in
      guard subscription.renewalInfo.autoRenews == false else {
        throw WorldRefusal(.impossible, "auto-renewal is on already")
      }
      let product = SimulatedApp.product(subscription.transaction.productID)
      subscription.renewalInfo.autoRenews = true
      subscription.renewalInfo.autoRenewProductID = product?.id
      subscription.renewalInfo.expirationIntent = nil
      subscription.renewalInfo.renewalDate = subscription.transaction.expiresDate
      subscription.renewalInfo.renewalPrice = product?.price
      script.sign(subscription, as: .autoRenewEnabled, at: now, status: phase.status)
    }
  }

  /// Lets charges fail from now on, or succeed: then a charge that is being retried succeeds now.
  package mutating func changeCard(
    of name: String, works: Bool
  ) throws(WorldRefusal) -> Outcome {
    let moment = beginAction()
    let index = try liveCustomer(name)
    customers[index].cardWorks = works
    if works, var script = customers[index].script,
      var subscription = customers[index].subscription
    {
      let end = subscription.transaction.expiresDate ?? moment
      let phase = ChainPhase(of: subscription.transaction, subscription.renewalInfo, at: moment)
      if phase == .grace || phase == .billingRetry {
        // Paid in grace, the period begins where the last one ended; later, with the payment.
        Self.renew(&subscription, from: phase == .grace ? end : moment, script: &script)
        script.sign(subscription, as: .billingRecovery, at: moment, status: .active)
        customers[index].script = script
        customers[index].subscription = subscription
        publish(index)
        updateMembers(of: index)
      }
    }
    return endAction(of: index, begun: moment)
  }

  /// Asks for consent to a higher price, in thousandths of the currency's unit.
  package mutating func raisePrice(
    of name: String, to price: Int64
  ) throws(WorldRefusal) -> Outcome {
    try changeSubscription(of: name, in: [.active]) {
      (script, subscription, phase, now) throws(WorldRefusal) in
      let present = subscription.renewalInfo.renewalPrice ?? 0
      guard subscription.renewalInfo.autoRenews == true, price > present else {
        throw WorldRefusal(.impossible, "the subscription does not renew at a lower price")
      }
      subscription.renewalInfo.priceIncreaseStatus = .pending
      subscription.renewalInfo.renewalPrice = price
      script.sign(subscription, as: .priceIncreasePending, at: now, status: phase.status)
    }
  }

  /// Consents to a higher price.
  package mutating func consent(_ name: String) throws(WorldRefusal) -> Outcome {
    try changeSubscription(of: name, in: [.active]) {
      (script, subscription, phase, now) throws(WorldRefusal) in
      guard subscription.renewalInfo.priceIncreaseStatus == .pending else {
        throw WorldRefusal(.impossible, "no consent is asked for")
      }
      subscription.renewalInfo.priceIncreaseStatus = .accepted
      script.sign(subscription, as: .priceIncreaseAccepted, at: now, status: phase.status)
    }
  }

  // MARK: Sharing

  /// Shares a subscription with a family member.
  ///
  /// - Parameter memberName: nil for a new customer.
  package mutating func share(
    _ name: String, with memberName: String?
  ) throws(WorldRefusal) -> Outcome {
    let moment = beginAction()
    let payer = try liveCustomer(name)
    guard let subscription = customers[payer].subscription,
      let product = SimulatedApp.product(subscription.transaction.productID),
      ChainPhase(of: subscription.transaction, subscription.renewalInfo, at: moment) == .active
    else { throw WorldRefusal(.impossible, "the customer has no active subscription to share") }
    guard customers[payer].members.count < 5 else {
      throw WorldRefusal(.impossible, "a family has six members")
    }
    let member: Int
    if let memberName, let known = try? index(of: memberName) {
      makeLive(known)
      member = known
    } else {
      member = try addCustomer(memberName, token: nil, at: moment)
    }
    guard member != payer, customers[member].sharedBy == nil,
      var script = customers[member].script
    else { throw WorldRefusal(.impossible, "the member has a shared subscription already") }
    try requireRoom(member)
    let former = customers[member].shared
    var shared = script.sharedPurchase(
      of: product, at: moment, ends: subscription.transaction.expiresDate)
    shared.originalTransactionID = former?.originalTransactionID ?? shared.originalTransactionID
    shared.originalPurchaseDate = former?.originalPurchaseDate ?? shared.originalPurchaseDate
    script.sign(
      shared, as: former == nil ? .firstSubscription : .resubscription, at: moment, status: .active)
    customers[member].script = script
    customers[member].shared = shared
    customers[member].sharedBy = payer
    customers[member].followed = subscription.transaction.transactionID
    customers[payer].members.append(member)
    publish(member)
    return endAction(of: member, begun: moment)
  }

  /// Ends sharing.
  ///
  /// - Parameter memberName: the member, not the payer.
  package mutating func stopSharing(_ memberName: String) throws(WorldRefusal) -> Outcome {
    let moment = beginAction()
    let member = try liveCustomer(memberName)
    guard let payer = customers[member].sharedBy, var shared = customers[member].shared,
      shared.revocationDate == nil
    else { throw WorldRefusal(.impossible, "the customer has no shared subscription") }
    shared.revoke(at: moment, as: .familyRevoke)
    customers[member].script?.sign(shared, as: .sharingEnded, at: moment, status: .revoked)
    customers[member].shared = shared
    customers[member].sharedBy = nil
    customers[payer].members.removeAll { $0 == member }
    publish(member)
    return endAction(of: member, begun: moment)
  }
}

/// An offer under which a subscription is bought. The introductory one is a week for nothing; with
/// the others the first period costs half.
package struct StoreOffer: Hashable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    case introductory
    case promotional
    case offerCode = "offer-code"
    case winBack = "win-back"
  }

  package let kind: Kind
  package let identifier: String?

  package init(_ kind: Kind, identifier: String? = nil) {
    self.kind = kind
    self.identifier = identifier
  }

  fileprivate var signed: Offer {
    switch kind {
    case .introductory: Offer(type: .introductory, discountType: .freeTrial, period: "P1W")
    case .promotional: paid(.promotional)
    case .offerCode: paid(.offerCode)
    case .winBack: paid(.winBack)
    }
  }

  private func paid(_ type: OfferType) -> Offer {
    Offer(
      type: type, identifier: identifier ?? kind.rawValue, discountType: .payAsYouGo, period: "P1M")
  }
}
