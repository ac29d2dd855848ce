import EntitlementDomain

// Facts for the cases. Dates are small numbers: only their order matters.

let readerScope = AppScope(bundleID: "com.example.reader", environment: .production)

/// One version of a transaction.
struct TransactionSample {
  var id: TransactionID
  var chain: OriginalTransactionID
  var scope = readerScope
  var signedAt: Int64 = 1_000
  var productID: ProductID = "com.example.reader.monthly"
  var token: AppAccountToken?
  var appTransaction: AppTransactionID?
  var previousChain: OriginalTransactionID?
  var isRevoked = false
  var isUpgraded = false
  /// Distinguishes versions that are otherwise equal.
  var storefront = "USA"
  /// Length in bytes of an unknown field, for large payloads.
  var padding = 0

  init(_ id: String, _ chain: String) {
    self.id = TransactionID(id)
    self.chain = OriginalTransactionID(chain)
  }

  func with(_ change: (inout TransactionSample) -> Void) -> TransactionSample {
    var copy = self
    change(&copy)
    return copy
  }

  func signed() throws -> SignedFact {
    var payload = PayloadSample()
    payload.set("transactionId", id.rawValue)
    payload.set("originalTransactionId", chain.rawValue)
    payload.set("bundleId", scope.bundleID.rawValue)
    payload.set("environment", scope.environment.rawValue)
    payload.set("productId", productID.rawValue)
    payload.set("subscriptionGroupIdentifier", "20000001")
    payload.set("type", ProductType.autoRenewable.rawValue)
    payload.set("inAppOwnershipType", OwnershipType.purchased.rawValue)
    payload.set("purchaseDate", 100)
    payload.set("expiresDate", 2_592_000_100)
    payload.set("signedDate", signedAt)
    payload.set("appAccountToken", token?.rawValue)
    payload.set("appTransactionId", appTransaction?.rawValue)
    payload.set("previousOriginalTransactionId", previousChain?.rawValue)
    payload.set("revocationDate", isRevoked ? 900 : nil)
    if isUpgraded { payload.set("isUpgraded", true) }
    payload.set("storefront", storefront)
    if padding > 0 { payload.set("padding", String(repeating: "x", count: padding)) }
    return try payload.signed(.transaction, bundleID: scope.bundleID)
  }
}

/// One version of a chain's renewal info.
struct RenewalSample {
  var chain: OriginalTransactionID
  var scope = readerScope
  var signedAt: Int64 = 1_000
  var autoRenews = true
  var token: AppAccountToken?
  var appTransaction: AppTransactionID?

  init(_ chain: OriginalTransactionID) {
    self.chain = chain
  }

  func with(_ change: (inout RenewalSample) -> Void) -> RenewalSample {
    var copy = self
    change(&copy)
    return copy
  }

  func signed() throws -> SignedFact {
    var payload = PayloadSample()
    payload.set("originalTransactionId", chain.rawValue)
    payload.set("environment", scope.environment.rawValue)
    payload.set("autoRenewStatus", Int64(autoRenews ? 1 : 0))
    payload.set("signedDate", signedAt)
    payload.set("appAccountToken", token?.rawValue)
    payload.set("appTransactionId", appTransaction?.rawValue)
    return try payload.signed(.renewalInfo, bundleID: scope.bundleID)
  }
}

/// One version of an app transaction.
struct AppTransactionSample {
  var id: AppTransactionID?
  var scope = readerScope
  var signedAt: Int64 = 1_000
  /// The date of the original purchase.
  var purchasedAt: Int64?

  init(_ id: AppTransactionID?) {
    self.id = id
  }

  func with(_ change: (inout AppTransactionSample) -> Void) -> AppTransactionSample {
    var copy = self
    change(&copy)
    return copy
  }

  func signed() throws -> SignedFact {
    var payload = PayloadSample()
    payload.set("receiptType", scope.environment.rawValue)
    payload.set("bundleId", scope.bundleID.rawValue)
    payload.set("appTransactionId", id?.rawValue)
    payload.set("originalApplicationVersion", "7")
    payload.set("originalPurchaseDate", purchasedAt)
    payload.set("receiptCreationDate", signedAt)
    return try payload.signed(.appTransaction, bundleID: scope.bundleID)
  }
}

/// Token `number` of the suite.
func token(_ number: Int) -> AppAccountToken {
  let digits = String(number)
  let padding = String(repeating: "0", count: max(0, 12 - digits.count))
  return AppAccountToken("7e3fb204-2c8a-4d5f-9b1e-\(padding)\(digits)")
}
