package import EntitlementDomain

/// What the simulated App Store knows of all customers: the current content of each transaction,
/// renewal info and app transaction. Requests of the App Store Server API are answered from it.
package struct StoreRecords: Sendable {
  /// A transaction, and when it was last changed.
  package struct StoredTransaction: Sendable {
    package fileprivate(set) var payload: TransactionPayload
    package fileprivate(set) var customer: Int
    /// The number of the last change, over all customers: the order of a history.
    package fileprivate(set) var modification: Int64
    /// The number of the change that revoked it: the order of a refund history. Nil when it is not
    /// revoked.
    package fileprivate(set) var revocation: Int64?
    /// Whether a server or the app has finished it.
    package internal(set) var isFinished = false
  }

  /// What is known of one customer.
  package struct StoredCustomer: Sendable {
    package fileprivate(set) var transactionIDs: [TransactionID] = []
    package fileprivate(set) var renewalInfos: [OriginalTransactionID: RenewalInfoPayload] = [:]
    package fileprivate(set) var appTransaction: AppTransactionPayload?
    package fileprivate(set) var appTransactionID: AppTransactionID?
  }

  package private(set) var customers: [StoredCustomer] = []
  package internal(set) var transactions: [TransactionID: StoredTransaction] = [:]
  private var customerByAppTransaction: [AppTransactionID: Int] = [:]
  private var modifications: Int64 = 0

  /// Adds a customer without purchases.
  mutating func addCustomer() {
    customers.append(StoredCustomer())
  }

  /// Takes over what an event says of a customer. A transaction that only has another signing date
  /// is not changed.
  mutating func record(_ event: StoreEvent, of customer: Int) {
    for payload in event.transactions { record(payload, of: customer) }
    if let renewalInfo = event.renewalInfo {
      customers[customer].renewalInfos[renewalInfo.originalTransactionID] = renewalInfo
    }
    if let appTransaction = event.appTransaction {
      customers[customer].appTransaction = appTransaction
      note(appTransaction.appTransactionID, of: customer)
    }
  }

  private mutating func record(_ payload: TransactionPayload, of customer: Int) {
    note(payload.appTransactionID, of: customer)
    guard var known = transactions[payload.transactionID] else {
      modifications += 1
      transactions[payload.transactionID] = StoredTransaction(
        payload: payload, customer: customer, modification: modifications,
        revocation: payload.revocationDate.map { _ in modifications })
      customers[customer].transactionIDs.append(payload.transactionID)
      return
    }
    var former = known.payload
    former.signedDate = payload.signedDate
    if former != payload {
      modifications += 1
      known.modification = modifications
      if former.revocationDate != payload.revocationDate {
        known.revocation = payload.revocationDate.map { _ in modifications }
      }
    }
    known.payload = payload
    transactions[payload.transactionID] = known
  }

  private mutating func note(_ id: AppTransactionID?, of customer: Int) {
    guard let id else { return }
    customers[customer].appTransactionID = id
    customerByAppTransaction[id] = customer
  }

  /// The customer with a transaction or app transaction of this id.
  package func customer(ofAnyID id: String) -> Int? {
    transactions[TransactionID(id)]?.customer ?? customerByAppTransaction[AppTransactionID(id)]
  }

  package func isAppTransactionID(_ id: String) -> Bool {
    customerByAppTransaction[AppTransactionID(id)] != nil
  }

  /// The transactions of a customer in the order of their purchase.
  package func transactions(of customer: Int) -> [StoredTransaction] {
    customers[customer].transactionIDs.compactMap { transactions[$0] }
  }

  /// The latest transaction of each auto-renewable chain of a customer, by the chain's first
  /// transaction.
  package func chains(of customer: Int) -> [StoredTransaction] {
    var order: [OriginalTransactionID] = []
    var latest: [OriginalTransactionID: StoredTransaction] = [:]
    for stored in transactions(of: customer) where stored.payload.subscriptionGroupID != nil {
      let chain = stored.payload.originalTransactionID
      if latest[chain] == nil { order.append(chain) }
      latest[chain] = stored
    }
    return order.compactMap { latest[$0] }
  }

  // MARK: Histories

  /// The filters of Get Transaction History: all that are set must hold, and of a list one member.
  package struct Filter: Hashable, Sendable {
    /// `startDate` ≤ purchaseDate.
    package var startDate: Milliseconds?
    /// purchaseDate < `endDate`.
    package var endDate: Milliseconds?
    package var productIDs: [ProductID] = []
    package var productTypes: [ProductType] = []
    package var groups: [SubscriptionGroupID] = []
    package var ownership: OwnershipType?
    /// Only revoked ones, or only others.
    package var isRevoked: Bool?
    /// Whether finished consumables are left out, as in version 1 of the endpoint.
    package var leavesOutFinishedConsumables = false

    package init() {}

    func admits(_ stored: StoredTransaction) -> Bool {
      let payload = stored.payload
      if let startDate, payload.purchaseDate < startDate { return false }
      if let endDate, payload.purchaseDate >= endDate { return false }
      if !productIDs.isEmpty, !productIDs.contains(payload.productID) { return false }
      if !productTypes.isEmpty, !productTypes.contains(payload.type) { return false }
      if !groups.isEmpty {
        guard let group = payload.subscriptionGroupID, groups.contains(group) else { return false }
      }
      if let ownership, payload.ownership != ownership { return false }
      if let isRevoked, (payload.revocationDate != nil) != isRevoked { return false }
      let isFinishedConsumable = stored.isFinished && payload.type == .consumable
      return !(leavesOutFinishedConsumables && isFinishedConsumable)
    }
  }

  /// A page of a history, and the number after which the next page begins.
  package struct Page: Sendable {
    package let transactions: [TransactionPayload]
    package let position: Int64
    package let hasMore: Bool
  }

  /// The page of a customer's history after a position.
  ///
  /// - Parameters:
  ///   - position: the modification number of the last transaction before the page; nil for the
  ///     first page.
  ///   - isDescending: the latest modification first.
  ///   - count: positive.
  package func history(
    of customer: Int, _ filter: Filter, after position: Int64?, isDescending: Bool, count: Int
  ) -> Page {
    var found = transactions(of: customer).filter { stored in
      guard let position else { return filter.admits(stored) }
      let isAfter =
        isDescending ? stored.modification < position : stored.modification > position
      return isAfter && filter.admits(stored)
    }
    found.sort {
      isDescending ? $0.modification > $1.modification : $0.modification < $1.modification
    }
    let page = found.prefix(count)
    return Page(
      transactions: page.map(\.payload), position: page.last?.modification ?? position ?? 0,
      hasMore: found.count > count)
  }

  /// The page of a customer's refunds after a position, in the order in which they were made. A
  /// transaction that was revoked because sharing ended is no refund.
  ///
  /// - Parameters:
  ///   - position: the revocation number of the last transaction before the page; nil for the first
  ///     page.
  ///   - count: positive.
  package func refunds(of customer: Int, after position: Int64?, count: Int) -> Page {
    let found = transactions(of: customer)
      .compactMap { stored in stored.revocation.map { (number: $0, payload: stored.payload) } }
      .filter { $0.number > position ?? 0 && $0.payload.revocationType != .familyRevoke }
      .sorted { $0.number < $1.number }
    let page = found.prefix(count)
    return Page(
      transactions: page.map(\.payload), position: page.last?.number ?? position ?? 0,
      hasMore: found.count > count)
  }
}

extension TransactionPayload {
  /// The id of the order that a customer finds in the App Store's receipt: made from the
  /// transaction's id, so that it can be looked up.
  package var orderID: String { OrderID.make(of: transactionID) }
}

/// Order ids look like Apple's: letters and digits, beginning with M.
package enum OrderID {
  static func make(of id: TransactionID) -> String {
    "M" + String(Int64(id.rawValue) ?? 0, radix: 36, uppercase: true)
  }

  /// The transaction of an order; nil for an id of another form.
  package static func transactionID(of order: String) -> TransactionID? {
    guard order.hasPrefix("M"), let number = Int64(order.dropFirst(), radix: 36), number > 0 else {
      return nil
    }
    return TransactionID(String(number))
  }
}
