import EntitlementDomain

/// Writes down a life cycle: what is signed when, and beside it what must be said of the customer.
/// Nothing here derives one from the other.
struct LifeCycleScript {
  let start: Milliseconds
  private let environment: StoreEnvironment
  private let storefront: Storefront
  private var identifiers: StoreIdentifiers
  private var notificationIDs: SeededGenerator
  private(set) var events: [StoreEvent] = []
  private(set) var stretches = [ExpectedStretch(from: Milliseconds(.min), state: .new)]

  /// The build that is on sale while the life cycle runs.
  static let bundleVersion = "412"

  init(
    start: Milliseconds, environment: StoreEnvironment, identifiers: StoreIdentifiers,
    generator: SeededGenerator
  ) {
    self.start = start
    self.environment = environment
    self.identifiers = identifiers
    var generator = generator
    storefront = Storefront.all[generator.number(below: Storefront.all.count)]
    // A customer that is simulated again from another start sends other notifications, which must
    // not be taken for repeats.
    notificationIDs = SeededGenerator(
      seed: generator.next() ^ UInt64(bitPattern: start.rawValue))
  }

  /// States what must be said from `moment` on.
  mutating func expect(_ state: ExpectedState, from moment: Milliseconds) {
    stretches.append(ExpectedStretch(from: moment, state: state))
  }

  /// A new purchase at `moment` in a chain of its own. It is not signed yet.
  mutating func purchase(
    _ product: SimulatedProduct, at moment: Milliseconds, ends end: Milliseconds? = nil
  ) -> TransactionPayload {
    let id = identifiers.nextTransactionID()
    var transaction = TransactionPayload(
      transactionID: id, originalTransactionID: OriginalTransactionID(id.rawValue),
      bundleID: SimulatedApp.bundleID, productID: product.id, type: product.type,
      purchaseDate: moment, signedDate: moment, environment: environment)
    transaction.originalPurchaseDate = moment
    transaction.expiresDate = end
    transaction.subscriptionGroupID = product.group
    transaction.webOrderLineItemID = product.group == nil ? nil : identifiers.webOrderLineItemID
    transaction.appAccountToken = identifiers.appAccountToken
    transaction.appTransactionID = identifiers.appTransactionID
    transaction.transactionReason = "PURCHASE"
    transaction.storefront = storefront.countryCode
    transaction.storefrontID = storefront.identifier
    transaction.currency = storefront.currency
    transaction.price = product.price
    return transaction
  }

  /// A new auto-renewable chain whose first period lasts to `end`. It is not signed yet.
  mutating func subscription(to product: SimulatedProduct, ends end: Milliseconds)
    -> ScriptedSubscription
  {
    let transaction = purchase(product, at: start, ends: end)
    var renewalInfo = RenewalInfoPayload(
      originalTransactionID: transaction.originalTransactionID, signedDate: start,
      environment: environment)
    renewalInfo.productID = product.id
    renewalInfo.autoRenewProductID = product.id
    renewalInfo.autoRenews = true
    renewalInfo.recentSubscriptionStartDate = start
    renewalInfo.renewalDate = end
    renewalInfo.renewalPrice = product.price
    renewalInfo.currency = storefront.currency
    renewalInfo.appAccountToken = identifiers.appAccountToken
    renewalInfo.appTransactionID = identifiers.appTransactionID
    return ScriptedSubscription(transaction: transaction, renewalInfo: renewalInfo)
  }

  /// The chain's next period: a new transaction and a renewal info without old trouble. It is not
  /// signed yet.
  ///
  /// - Parameter reason: `transactionReason`, PURCHASE where the customer acted.
  mutating func nextPeriod(
    of subscription: inout ScriptedSubscription, _ product: SimulatedProduct,
    from start: Milliseconds, to end: Milliseconds, reason: String = "RENEWAL"
  ) {
    var transaction = purchase(product, at: start, ends: end)
    transaction.originalTransactionID = subscription.transaction.originalTransactionID
    transaction.originalPurchaseDate = subscription.transaction.originalPurchaseDate
    transaction.transactionReason = reason
    subscription.transaction = transaction
    subscription.renewalInfo.productID = product.id
    subscription.renewalInfo.autoRenewProductID = product.id
    subscription.renewalInfo.autoRenews = true
    subscription.renewalInfo.expirationIntent = nil
    subscription.renewalInfo.isInBillingRetryPeriod = nil
    subscription.renewalInfo.gracePeriodExpiresDate = nil
    subscription.renewalInfo.priceIncreaseStatus = nil
    subscription.renewalInfo.renewalDate = end
    subscription.renewalInfo.renewalPrice = product.price
  }

  /// Signs a chain's latest transaction and renewal info at `moment`, and notifies of them.
  ///
  /// - Parameter others: transactions that change at the same moment and are not in the notification.
  mutating func sign(
    _ subscription: ScriptedSubscription, as name: NotificationName, at moment: Milliseconds,
    status: SubscriptionStatus, others: [TransactionPayload] = [],
    consumptionRequestReason: String? = nil
  ) {
    var notification = notification(name, at: moment)
    notification.status = status.rawValue
    notification.consumptionRequestReason = consumptionRequestReason
    sign([subscription.transaction] + others, subscription.renewalInfo, in: notification)
  }

  /// Signs a transaction without a renewal info at `moment`, and notifies of it.
  mutating func sign(
    _ transaction: TransactionPayload, as name: NotificationName, at moment: Milliseconds,
    status: SubscriptionStatus? = nil, consumptionRequestReason: String? = nil
  ) {
    var notification = notification(name, at: moment)
    notification.status = status?.rawValue
    notification.consumptionRequestReason = consumptionRequestReason
    sign([transaction], nil, in: notification)
  }

  /// Notifies of something that is no purchase, without any fact.
  mutating func notify(
    _ name: NotificationName, at moment: Milliseconds,
    about subject: StoreNotification.Subject = .data
  ) {
    var notification = notification(name, at: moment)
    notification.subject = subject
    events.append(StoreEvent(at: moment, transactions: [], notification: notification))
  }

  /// Signs at `moment` what the App Store states of the purchase of the app itself: an event of its
  /// own, in a notification where one is named.
  mutating func signAppTransaction(
    version: String, originalVersion: String, originalPurchaseDate: Milliseconds,
    as name: NotificationName? = nil, at moment: Milliseconds
  ) {
    var payload = AppTransactionPayload(
      bundleID: SimulatedApp.bundleID, appAppleID: SimulatedApp.appAppleID, signedDate: moment,
      environment: environment)
    payload.applicationVersion = version
    payload.originalApplicationVersion = originalVersion
    payload.originalPurchaseDate = originalPurchaseDate
    payload.originalPlatform = "iOS"
    payload.appTransactionID = identifiers.appTransactionID
    var event = StoreEvent(at: moment, transactions: [], appTransaction: payload)
    if let name {
      var notification = notification(name, at: moment)
      notification.subject = .appData
      event.notification = notification
    }
    events.append(event)
  }

  private mutating func sign(
    _ transactions: [TransactionPayload], _ renewalInfo: RenewalInfoPayload?,
    in notification: StoreNotification
  ) {
    let moment = notification.signedDate
    let dated = transactions.map { transaction in
      var dated = transaction
      dated.signedDate = moment
      return dated
    }
    var renewalInfo = renewalInfo
    renewalInfo?.signedDate = moment
    events.append(
      StoreEvent(
        at: moment, transactions: dated, renewalInfo: renewalInfo, notification: notification))
  }

  private mutating func notification(
    _ name: NotificationName, at moment: Milliseconds
  ) -> StoreNotification {
    var notification = StoreNotification(
      type: name.type, subtype: name.subtype,
      uuid: NotificationUUID(notificationIDs.uuid()), signedDate: moment,
      environment: environment, appAppleID: SimulatedApp.appAppleID,
      bundleID: SimulatedApp.bundleID, status: nil)
    notification.bundleVersion = Self.bundleVersion
    return notification
  }

  /// For what is named by a UUID of its own.
  mutating func nextUUID() -> String { notificationIDs.uuid() }

  /// The token that the app sets from now on; nil for a customer without any.
  var laterAppAccountToken: AppAccountToken? { identifiers.laterAppAccountToken }
}

/// The latest statements about one chain, while a script changes them.
struct ScriptedSubscription {
  var transaction: TransactionPayload
  var renewalInfo: RenewalInfoPayload

  /// Auto-renew is off, and nothing is due at the end of the period.
  mutating func stopRenewing(_ intent: ExpirationIntent? = nil) {
    renewalInfo.autoRenews = false
    renewalInfo.renewalDate = nil
    renewalInfo.renewalPrice = nil
    renewalInfo.expirationIntent = intent
  }
}

/// The country's shop that a customer buys in.
struct Storefront: Sendable {
  /// ISO 3166-1, three letters.
  let countryCode: String
  let identifier: String
  /// ISO 4217.
  let currency: String

  static let all = [
    Storefront(countryCode: "USA", identifier: "143441", currency: "USD"),
    Storefront(countryCode: "DEU", identifier: "143443", currency: "EUR"),
    Storefront(countryCode: "GBR", identifier: "143444", currency: "GBP"),
    Storefront(countryCode: "CAN", identifier: "143455", currency: "CAD"),
  ]
}
