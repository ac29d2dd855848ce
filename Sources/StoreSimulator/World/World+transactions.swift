package import EntitlementDomain

// What happens to one transaction, and what the actions on subscriptions share.
extension World {
  /// Refunds a transaction. A refund of the present period of a subscription ends it.
  package mutating func refund(_ id: TransactionID) throws(WorldRefusal) -> Outcome {
    try onTransaction(id) { (payload, isLatest, subscription) throws(WorldRefusal) in
      guard payload.ownership == .purchased else {
        throw WorldRefusal(.impossible, "only the payer can be refunded")
      }
      guard payload.revocationDate == nil else {
        throw WorldRefusal(.impossible, "the transaction is refunded already")
      }
      payload.revoke(at: payload.signedDate, as: .refundFull)
      if isLatest { subscription?.endByRefund() }
      return .refund
    }
  }

  /// Reverses a refund. Auto-renewal stays off.
  package mutating func reverseRefund(of id: TransactionID) throws(WorldRefusal) -> Outcome {
    try onTransaction(id) { (payload, _, _) throws(WorldRefusal) in
      guard payload.revocationDate != nil, payload.ownership == .purchased else {
        throw WorldRefusal(.impossible, "the transaction is not refunded")
      }
      payload.withdrawRevocation()
      return .refundReversed
    }
  }

  /// Declines the refund that a customer asked for.
  package mutating func declineRefund(of id: TransactionID) throws(WorldRefusal) -> Outcome {
    try onTransaction(id) { (payload, _, _) throws(WorldRefusal) in
      guard payload.revocationDate == nil else {
        throw WorldRefusal(.impossible, "the transaction is refunded")
      }
      return .refundDeclined
    }
  }

  /// Asks the developer about consumption: a customer wants a refund.
  ///
  /// - Parameter reason: `consumptionRequestReason`.
  package mutating func requestConsumption(
    of id: TransactionID, reason: String
  ) throws(WorldRefusal) -> Outcome {
    try onTransaction(id, consumptionRequestReason: reason) {
      (payload, _, _) throws(WorldRefusal) in
      guard payload.revocationDate == nil, payload.ownership == .purchased else {
        throw WorldRefusal(.impossible, "the transaction cannot be refunded")
      }
      return .consumptionRequest
    }
  }

  /// Changes a transaction, and signs it with a notification.
  ///
  /// - Parameter change: gets the payload, whose signing date is now; whether it is the latest one
  ///   of the chain that the customer buys, and that chain.
  private mutating func onTransaction(
    _ id: TransactionID, consumptionRequestReason: String? = nil,
    change: (inout TransactionPayload, Bool, inout ScriptedSubscription?) throws(WorldRefusal) ->
      NotificationName
  ) throws(WorldRefusal) -> Outcome {
    let moment = beginAction()
    guard let stored = records.transactions[id] else {
      throw WorldRefusal(.notFound, "there is no transaction of this id")
    }
    let index = stored.customer
    makeLive(index)
    guard var script = customers[index].script else {
      throw WorldRefusal(.notFound, "there is no transaction of this id")
    }
    var payload = stored.payload
    payload.signedDate = moment
    var subscription = customers[index].subscription
    let isLatest = subscription?.transaction.transactionID == id
    let name = try change(&payload, isLatest, &subscription)
    let isOfChain =
      subscription?.transaction.originalTransactionID == payload.originalTransactionID
    if isOfChain, var chain = subscription {
      if isLatest { chain.transaction = payload }
      let phase = ChainPhase(of: chain.transaction, chain.renewalInfo, at: moment)
      script.sign(
        ScriptedSubscription(transaction: payload, renewalInfo: chain.renewalInfo), as: name,
        at: moment, status: phase.status, consumptionRequestReason: consumptionRequestReason)
      subscription = chain
    } else {
      script.sign(payload, as: name, at: moment, consumptionRequestReason: consumptionRequestReason)
    }
    customers[index].script = script
    customers[index].subscription = subscription
    publish(index)
    if isLatest { updateMembers(of: index) }
    return endAction(of: index, begun: moment)
  }

  // MARK: Requests of the App Store Server API

  /// Sets the token of a chain or purchase, and of its later periods.
  ///
  /// - Parameter id: an original transaction.
  package mutating func setToken(_ token: AppAccountToken, of id: TransactionID) -> [WorldEvent] {
    let moment = beginAction()
    guard let stored = records.transactions[id] else { return takeEvents() }
    let index = stored.customer
    makeLive(index)
    let chain = OriginalTransactionID(id.rawValue)
    if customers[index].subscription?.transaction.originalTransactionID == chain {
      customers[index].subscription?.transaction.appAccountToken = token
      customers[index].subscription?.renewalInfo.appAccountToken = token
    }
    // Nothing is announced: only a request shows it.
    for var payload in records.transactions(of: index).map(\.payload)
    where payload.originalTransactionID == chain {
      payload.appAccountToken = token
      payload.signedDate = moment
      let renewalInfo = customers[index].subscription?.renewalInfo
      happen(
        StoreEvent(
          at: moment, transactions: [payload],
          renewalInfo: renewalInfo?.originalTransactionID == chain ? renewalInfo : nil),
        to: index)
    }
    return takeEvents()
  }

  /// Marks a transaction as finished.
  package mutating func finish(_ id: TransactionID) {
    records.transactions[id]?.isFinished = true
  }

  // MARK: Parts of actions

  static func product(_ id: ProductID) throws(WorldRefusal) -> SimulatedProduct {
    guard let product = SimulatedApp.product(id) else {
      throw WorldRefusal(.invalid, "the app has no product of this id")
    }
    return product
  }

  /// A customer by name, made live.
  mutating func liveCustomer(_ name: String) throws(WorldRefusal) -> Int {
    let index = try index(of: name)
    makeLive(index)
    return index
  }

  /// Acts on a customer's own subscription, if it is in one of some phases.
  mutating func onSubscription(
    of name: String, in phases: Set<ChainPhase>,
    _ body: (inout World, Int) throws(WorldRefusal) -> Void
  ) throws(WorldRefusal) -> Outcome {
    let moment = beginAction()
    let index = try liveCustomer(name)
    guard let subscription = customers[index].subscription,
      phases.contains(
        ChainPhase(of: subscription.transaction, subscription.renewalInfo, at: moment))
    else { throw WorldRefusal(.impossible, "the customer has no such subscription now") }
    try body(&self, index)
    return endAction(of: index, begun: moment)
  }

  mutating func changeSubscription(
    of name: String, in phases: Set<ChainPhase>,
    _ body: (inout LifeCycleScript, inout ScriptedSubscription, ChainPhase, Milliseconds)
      throws(WorldRefusal) -> Void
  ) throws(WorldRefusal) -> Outcome {
    try onSubscription(of: name, in: phases) { (world, index) throws(WorldRefusal) in
      guard var script = world.customers[index].script,
        var subscription = world.customers[index].subscription
      else { return }
      let phase = ChainPhase(
        of: subscription.transaction, subscription.renewalInfo, at: world.now)
      try body(&script, &subscription, phase, world.now)
      world.customers[index].script = script
      world.customers[index].subscription = subscription
      world.publish(index)
      world.updateMembers(of: index)
    }
  }
}

extension ScriptedSubscription {
  fileprivate mutating func endByRefund() {
    stopRenewing()
    renewalInfo.isInBillingRetryPeriod = nil
    renewalInfo.gracePeriodExpiresDate = nil
    renewalInfo.priceIncreaseStatus = nil
  }
}
