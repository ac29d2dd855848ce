import EntitlementDomain

/// The identifiers of one simulated customer, in the lengths that the App Store uses.
///
/// They depend on the seed, the label and the index alone. Customers of one population never share
/// an identifier, because the index has its own digits.
struct StoreIdentifiers: Sendable {
  var appAccountToken: AppAccountToken?
  /// A second token that the app sets later (R43).
  let laterAppAccountToken: AppAccountToken?
  var appTransactionID: AppTransactionID
  private let block: Int64
  private var transactionCount: Int64 = 0

  /// The range of transaction ids of one customer. The longest life cycle uses fewer than ten.
  private static let transactionsPerCustomer: Int64 = 100
  /// The maximum number of customers of one population.
  static let maximumCustomers = 100_000_000

  init(seed: UInt64, label: String, index: Int, hasToken: Bool) {
    var shared = SeededGenerator(seed: seed, label: label)
    // Populations of two seeds share identifiers with a probability of 1 in 90,000.
    let slot = Int64(shared.next() % 90_000)
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

  /// Has the number of the last transaction.
  var webOrderLineItemID: WebOrderLineItemID {
    WebOrderLineItemID(String(3_000_000_000_000_000 + block + transactionCount))
  }
}
