/// What the App Store signed about one transaction (`JWSTransaction`). Names and meanings are
/// Apple's; any field that is optional may be absent.
package struct TransactionFact: Hashable, Sendable {
  package var bundleID: BundleID
  package var environment: StoreEnvironment
  package var originalTransactionID: OriginalTransactionID
  package var transactionID: TransactionID
  package var productID: ProductID
  package var type: ProductType
  package var purchaseDate: Milliseconds
  package var originalPurchaseDate: Milliseconds?
  package var expiresDate: Milliseconds?
  package var webOrderLineItemID: WebOrderLineItemID?
  package var subscriptionGroupID: SubscriptionGroupID?
  package var quantity: Int64?
  package var appAccountToken: AppAccountToken?
  package var appTransactionID: AppTransactionID?
  package var previousOriginalTransactionID: OriginalTransactionID?
  package var ownership: OwnershipType?
  package var revocationDate: Milliseconds?
  package var revocationReason: RevocationReason?
  package var revocationType: RevocationType?
  package var isUpgraded: Bool
  package var offer: Offer?
  package var storefront: String?
  package var transactionReason: String?
  package var commitment: Commitment?
  package var signedDate: Milliseconds
  package var digest: PayloadDigest
  package var authority: FactAuthority

  package init(
    bundleID: BundleID, environment: StoreEnvironment,
    originalTransactionID: OriginalTransactionID, transactionID: TransactionID,
    productID: ProductID, type: ProductType, purchaseDate: Milliseconds, signedDate: Milliseconds,
    digest: PayloadDigest
  ) {
    self.bundleID = bundleID
    self.environment = environment
    self.originalTransactionID = originalTransactionID
    self.transactionID = transactionID
    self.productID = productID
    self.type = type
    self.purchaseDate = purchaseDate
    self.isUpgraded = false
    self.signedDate = signedDate
    self.digest = digest
    self.authority = .signedTransaction
  }

  package var scope: AppScope { AppScope(bundleID: bundleID, environment: environment) }
}
