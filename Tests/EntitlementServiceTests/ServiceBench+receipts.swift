import EntitlementDomain
import EntitlementService
import EntitlementStore
import SQLiteStore
import StoreSimulator

extension ServiceBench {
  /// Shared by all tests, as RSA keys take long to generate.
  static let receiptAuthority = Result { try ReceiptAuthority.generate() }

  /// A receipt with one of the app's non-consumable for each id, bought ten days ago.
  static func receipt(
    _ ids: [String], daysAgo: Int64 = 1, type: String = "Production"
  ) -> SimulatedReceipt {
    var receipt = SimulatedReceipt(
      receiptType: type, creationDate: now.advanced(by: -daysAgo * Milliseconds.dayLength))
    receipt.applicationVersion = "2.1"
    receipt.originalApplicationVersion = "1.0"
    receipt.originalPurchaseDate = now.advanced(by: -20 * Milliseconds.dayLength)
    receipt.items = ids.map { item($0) }
    return receipt
  }

  static func item(_ id: String) -> SimulatedReceiptItem {
    SimulatedReceiptItem(
      transactionID: TransactionID(id), originalTransactionID: OriginalTransactionID(id),
      productID: "com.example.scribe.adfree", purchaseDate: boughtInReceipt)
  }

  /// The purchase time in receipts. ``purchase(_:_:)`` signs later purchases.
  static let boughtInReceipt = now.advanced(by: -10 * Milliseconds.dayLength)

  func signed(_ receipt: SimulatedReceipt) throws -> [UInt8] {
    try Self.receiptAuthority.get().sign(receipt)
  }

  func submit(
    receipt: SimulatedReceipt, device: [UInt8]? = nil, bundleID: BundleID? = nil,
    account: AccountID? = nil
  ) async throws -> ReceiptResult {
    try await service.submit(
      ReceiptSubmission(
        receipt: try signed(receipt), deviceIdentifier: device, bundleID: bundleID,
        accountID: account))
  }

  func importArchive(
    _ receipt: SimulatedReceipt, bundleID: BundleID = SimulatedApp.bundleID,
    account: AccountID? = nil
  ) async throws -> ReceiptResult {
    try await service.importArchive(
      ArchiveSubmission(
        response: receipt.archivedResponse(), bundleID: bundleID, accountID: account))
  }

  /// The sources of each entitlement, with their evidence.
  func sources(of account: AccountID) async throws -> [EntitlementSource] {
    try await state(of: account).entitlements.flatMap(\.sources)
  }

  /// The number of changes in the store.
  func changeCount() async throws -> Int {
    try await store.changes(after: 0, limit: 1_000).count
  }
}
