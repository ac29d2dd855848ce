package import EntitlementDomain

// Extensions of renewal dates, which only the App Store Server API requests.
extension World {
  /// Why a renewal date cannot be extended.
  package enum ExtensionRefusal: Error, Hashable, Sendable {
    case notFound
    case familyShared
    /// The subscription is not active, or in a free offer.
    case state
    /// It was extended twice in 365 days.
    case maximum
  }

  /// What an extension did.
  package struct Extension: Sendable {
    package let webOrderLineItemID: WebOrderLineItemID?
    package let effectiveDate: Milliseconds
    package let events: [WorldEvent]
  }

  /// Extends the renewal date of a subscription.
  package mutating func extendRenewalDate(
    of chain: OriginalTransactionID, days: Int64
  ) throws(ExtensionRefusal) -> Extension {
    guard let customer = records.transactions[TransactionID(chain.rawValue)]?.customer,
      let latest = records.chains(of: customer)
        .first(where: { $0.payload.originalTransactionID == chain })
    else { throw .notFound }
    guard latest.payload.ownership == .purchased else { throw .familyShared }
    _ = beginAction()
    makeLive(customer)
    let transaction = try extend(customer, chain, days: days)
    // Never nil: an active subscription has an end.
    let end = transaction.expiresDate ?? now
    return Extension(
      webOrderLineItemID: transaction.webOrderLineItemID, effectiveDate: end,
      events: takeEvents())
  }

  private mutating func extend(
    _ index: Int, _ chain: OriginalTransactionID, days: Int64
  ) throws(ExtensionRefusal) -> TransactionPayload {
    guard var script = customers[index].script,
      var subscription = customers[index].subscription,
      subscription.transaction.originalTransactionID == chain,
      let end = subscription.transaction.expiresDate,
      ChainPhase(of: subscription.transaction, subscription.renewalInfo, at: now) == .active,
      subscription.transaction.offer?.discountType != .freeTrial
    else { throw .state }
    let recent = customers[index].extensions.filter { $0.adding(days: 365) > now }
    guard recent.count < 2 else { throw .maximum }
    customers[index].extensions = recent + [now]
    subscription.transaction.expiresDate = end.adding(days: days)
    if subscription.renewalInfo.renewalDate != nil {
      subscription.renewalInfo.renewalDate = end.adding(days: days)
    }
    script.sign(subscription, as: .renewalExtended, at: now, status: .active)
    customers[index].script = script
    customers[index].subscription = subscription
    publish(index)
    updateMembers(of: index)
    return subscription.transaction
  }

  /// Requests the extension of all active subscriptions to a product. It takes an hour. A request
  /// of the same identifier and product changes nothing.
  package mutating func requestMassExtension(_ request: MassExtension.Request) {
    guard massExtension(request.identifier, of: request.productID) == nil else { return }
    if massExtensions.count >= MassExtension.maximumCount { massExtensions.removeFirst() }
    massExtensions.append(MassExtension(request: request, due: now.adding(hours: 1)))
  }

  /// A request by its identifier and product.
  package func massExtension(_ identifier: String, of product: ProductID) -> MassExtension? {
    massExtensions.last {
      $0.request.identifier == identifier && $0.request.productID == product
    }
  }

  /// Does what a mass extension requested, and announces its outcome.
  mutating func extendAll(at position: Int) {
    let request = massExtensions[position].request
    massExtensions[position].completed = now
    for index in customers.indices {
      for chain in records.chains(of: index).map(\.payload)
      where chain.productID == request.productID && chain.ownership == .purchased {
        let renewalInfo = records.customers[index].renewalInfos[chain.originalTransactionID]
        let country = chain.storefront ?? ""
        guard ChainPhase(of: chain, renewalInfo, at: now) == .active,
          request.countries.isEmpty || request.countries.contains(country)
        else { continue }
        makeLive(index)
        do {
          _ = try extend(index, chain.originalTransactionID, days: request.days)
          massExtensions[position].succeededCount += 1
        } catch {
          massExtensions[position].failedCount += 1
          if let subscription = customers[index].subscription {
            customers[index].script?.sign(
              subscription, as: .extensionFailed, at: now, status: .active)
            publish(index)
          }
        }
      }
    }
    announce(
      .massExtensionDone,
      about: .summary(
        RenewalExtensionSummary(
          requestIdentifier: request.identifier, productID: request.productID,
          storefrontCountryCodes: request.countries,
          succeededCount: massExtensions[position].succeededCount,
          failedCount: massExtensions[position].failedCount)), at: now)
  }

  /// Asks for a test notification.
  ///
  /// - Returns: the notification, which is the last event.
  package mutating func requestTestNotification() -> [WorldEvent] {
    let moment = beginAction()
    announce(.test, about: .data, at: moment)
    return takeEvents()
  }
}

/// A request to extend the renewal dates of all subscribers of a product, and its outcome.
package struct MassExtension: Sendable {
  package struct Request: Hashable, Sendable {
    package let identifier: String
    package let productID: ProductID
    package let days: Int64
    /// ISO 3166-1, three letters each; empty: every storefront.
    package let countries: [String]

    package init(identifier: String, productID: ProductID, days: Int64, countries: [String]) {
      self.identifier = identifier
      self.productID = productID
      self.days = days
      self.countries = countries
    }
  }

  static let maximumCount = 1_000

  package let request: Request
  let due: Milliseconds
  package fileprivate(set) var completed: Milliseconds?
  package fileprivate(set) var succeededCount: Int64 = 0
  package fileprivate(set) var failedCount: Int64 = 0

  package var isComplete: Bool { completed != nil }
}
