package import EntitlementDomain

/// Which transactions of a customer are listed. Different filters must all match; of several values
/// of one filter, one must. The same query must be used for all pages, and with a stored revision.
package struct HistoryQuery: Hashable, Sendable {
  /// `productType` as a filter. Transactions name their types differently.
  package enum ProductType: String, Hashable, Sendable, CaseIterable {
    case autoRenewable = "AUTO_RENEWABLE"
    case nonRenewable = "NON_RENEWABLE"
    case consumable = "CONSUMABLE"
    case nonConsumable = "NON_CONSUMABLE"
  }

  /// The earliest `purchaseDate`.
  package var startDate: Milliseconds?
  /// Later than the latest `purchaseDate`.
  package var endDate: Milliseconds?
  package var productIDs: [ProductID] = []
  package var productTypes: [ProductType] = []
  package var subscriptionGroupIDs: [SubscriptionGroupID] = []
  package var ownershipType: OwnershipType?
  /// By the last modification, the latest first. Only revisions of the ascending order may be
  /// stored: they lead to what is new.
  package var isDescending = false
  /// True: only revoked transactions; false: no revoked ones.
  package var isRevoked: Bool?

  package init() {}

  /// The names and values of the URL, in the order of Apple's page.
  func items(revision: String?) -> [(String, String?)] {
    var items: [(String, String?)] = [
      ("revision", revision), ("startDate", startDate?.description),
      ("endDate", endDate?.description),
    ]
    items += productIDs.map { ("productId", $0.rawValue) }
    items += productTypes.map { ("productType", $0.rawValue) }
    items += subscriptionGroupIDs.map { ("subscriptionGroupIdentifier", $0.rawValue) }
    items += [
      ("inAppOwnershipType", ownershipType?.rawValue), ("sort", isDescending ? "DESCENDING" : nil),
      ("revoked", isRevoked.map { $0 ? "true" : "false" }),
    ]
    return items
  }
}

/// Which notifications of an app are listed.
package struct NotificationHistoryQuery: Hashable, Sendable {
  package enum Filter: Hashable, Sendable {
    /// A transaction id or an original transaction id of the customer.
    case transaction(TransactionID)
    case type(NotificationType, NotificationSubtype?)
  }

  /// Within the last 180 days, in Sandbox 30.
  package var startDate: Milliseconds
  /// A date in the future counts as now.
  package var endDate: Milliseconds
  package var filter: Filter?
  /// Only what has not reached the server, also while Apple still retries it.
  package var onlyFailures: Bool

  package init(
    startDate: Milliseconds, endDate: Milliseconds, filter: Filter? = nil,
    onlyFailures: Bool = false
  ) {
    self.startDate = startDate
    self.endDate = endDate
    self.filter = filter
    self.onlyFailures = onlyFailures
  }

  /// The body, which must be the same for all pages. Apple refuses empty values.
  var body: [UInt8] {
    var transaction: TransactionID?
    var type: NotificationType?
    var subtype: NotificationSubtype?
    switch filter {
    case .transaction(let id): transaction = id
    case .type(let filterType, let filterSubtype): (type, subtype) = (filterType, filterSubtype)
    case nil: break
    }
    return RequestValue.object([
      "startDate": .integer(startDate.rawValue), "endDate": .integer(endDate.rawValue),
      "notificationType": type.map { .text($0.rawValue) },
      "notificationSubtype": subtype.map { .text($0.rawValue) },
      "transactionId": transaction.map { .text($0.rawValue) },
      "onlyFailures": onlyFailures ? .boolean(true) : nil,
    ])
  }
}
