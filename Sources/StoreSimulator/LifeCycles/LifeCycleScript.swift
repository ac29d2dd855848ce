import EntitlementDomain

/// Records a life cycle: the signed events, and separately the expected states. Neither is derived
/// from the other.
struct LifeCycleScript {
  let start: Milliseconds
  private let environment: StoreEnvironment
  var storefront: Storefront
  var identifiers: StoreIdentifiers
  private var notificationIDs: SeededGenerator
  private(set) var events: [StoreEvent] = []
  private(set) var intervals = [ExpectedInterval(from: Milliseconds(.min), state: .new)]

  /// The build of the app that is on sale during a life cycle.
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
    // The start is part of the seed: the same customer with another start must have other
    // notification ids, or the service would take its notifications for repeats.
    notificationIDs = SeededGenerator(
      seed: generator.next() ^ UInt64(bitPattern: start.rawValue))
  }

  /// Removes and returns the events that were signed since the last call.
  mutating func takeEvents() -> [StoreEvent] {
    defer { events = [] }
    return events
  }

  /// Adds the expected state from `moment` on.
  mutating func expect(_ state: ExpectedState, from moment: Milliseconds) {
    intervals.append(ExpectedInterval(from: moment, state: state))
  }

  /// Makes a purchase at `moment` in a new chain. It is not signed yet.
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

  /// Makes an auto-renewable chain whose first period ends at `end`. It is not signed yet.
  ///
  /// - Parameter moment: the time of the purchase; nil for the start of the life cycle.
  mutating func subscription(
    to product: SimulatedProduct, at moment: Milliseconds? = nil, ends end: Milliseconds
  ) -> ScriptedSubscription {
    let begun = moment ?? start
    let transaction = purchase(product, at: begun, ends: end)
    var renewalInfo = RenewalInfoPayload(
      originalTransactionID: transaction.originalTransactionID, signedDate: begun,
      environment: environment)
    renewalInfo.productID = product.id
    renewalInfo.autoRenewProductID = product.id
    renewalInfo.autoRenews = true
    renewalInfo.recentSubscriptionStartDate = begun
    renewalInfo.renewalDate = end
    renewalInfo.renewalPrice = product.price
    renewalInfo.currency = storefront.currency
    renewalInfo.appAccountToken = identifiers.appAccountToken
    renewalInfo.appTransactionID = identifiers.appTransactionID
    return ScriptedSubscription(transaction: transaction, renewalInfo: renewalInfo)
  }

  /// Makes the chain's next period: a new transaction, and a renewal info without the fields of
  /// earlier billing problems. It is not signed yet.
  ///
  /// - Parameter reason: `transactionReason`; PURCHASE when the customer acted.
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

  /// Signs a chain's latest transaction and renewal info at `moment`, with a notification.
  ///
  /// - Parameter others: transactions that change at the same time and are not in the notification.
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

  /// Signs a transaction without a renewal info at `moment`, with a notification.
  mutating func sign(
    _ transaction: TransactionPayload, as name: NotificationName, at moment: Milliseconds,
    status: SubscriptionStatus? = nil, others: [TransactionPayload] = [],
    consumptionRequestReason: String? = nil
  ) {
    var notification = notification(name, at: moment)
    notification.status = status?.rawValue
    notification.consumptionRequestReason = consumptionRequestReason
    sign([transaction] + others, nil, in: notification)
  }

  /// Adds a notification without any fact.
  mutating func notify(
    _ name: NotificationName, at moment: Milliseconds,
    about subject: StoreNotification.Subject = .data
  ) {
    var notification = notification(name, at: moment)
    notification.subject = subject
    events.append(StoreEvent(at: moment, transactions: [], notification: notification))
  }

  /// Signs an app transaction at `moment`, as a separate event. With `name`, a notification carries
  /// it.
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

  /// A new UUID, for objects other than notifications.
  mutating func nextUUID() -> String { notificationIDs.uuid() }

  /// The token that the app sets later (R43); nil for a customer without a token.
  var laterAppAccountToken: AppAccountToken? { identifiers.laterAppAccountToken }
}

/// The latest transaction and renewal info of a chain. A script changes and signs them.
struct ScriptedSubscription {
  var transaction: TransactionPayload
  var renewalInfo: RenewalInfoPayload

  /// Turns auto-renewal off and removes the next renewal.
  mutating func stopRenewing(_ intent: ExpirationIntent? = nil) {
    renewalInfo.autoRenews = false
    renewalInfo.renewalDate = nil
    renewalInfo.renewalPrice = nil
    renewalInfo.expirationIntent = intent
  }
}

/// The App Store of a country, in which a customer buys.
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
