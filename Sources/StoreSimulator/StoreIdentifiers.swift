import EntitlementDomain

/// The identifiers of one simulated customer, in the lengths that the App Store uses.
///
/// They depend on the seed, the label and the index alone. Customers of one population never share
/// one: the index has digits of its own.
struct StoreIdentifiers: Sendable {
  let appAccountToken: AppAccountToken?
  /// The one that the app sets later, where it changes its mind (R43).
  let laterAppAccountToken: AppAccountToken?
  let appTransactionID: AppTransactionID
  private let block: Int64
  private var transactionCount: Int64 = 0

  /// Transactions that one customer has room for; the longest life cycle has fewer than ten.
  private static let transactionsPerCustomer: Int64 = 100
  /// Customers that one population has room for.
  static let maximumCustomers = 100_000_000

  init(seed: UInt64, label: String, index: Int, hasToken: Bool) {
    var world = SeededGenerator(seed: seed, label: label)
    // Populations of different seeds are apart in all but one of 90,000 cases.
    let slot = Int64(world.next() % 90_000)
    block = (slot * Int64(Self.maximumCustomers) + Int64(index)) * Self.transactionsPerCustomer
    var own = SeededGenerator(seed: seed, label: label, index: UInt64(index))
    let token = own.uuid()
    appAccountToken = hasToken ? AppAccountToken(token) : nil
    let laterToken = own.uuid()
    laterAppAccountToken = hasToken ? AppAccountToken(laterToken) : nil
    appTransactionID = AppTransactionID(String(704_000_000_000_000_000 + block / 100))
  }

  /// 16 digits, beginning with 2.
  mutating func nextTransactionID() -> TransactionID {
    transactionCount += 1
    return TransactionID(String(2_000_000_000_000_000 + block + transactionCount))
  }

  /// Numbered like the transaction that was made last.
  var webOrderLineItemID: WebOrderLineItemID {
    WebOrderLineItemID(String(3_000_000_000_000_000 + block + transactionCount))
  }
}
