/// One in-app purchase as a receipt, or an archived response, tells it: with what a fact cannot be
/// without. What is nil was not told.
package struct ReceiptPurchase: Hashable, Sendable {
  package var transactionID: TransactionID
  package var originalTransactionID: OriginalTransactionID
  package var productID: ProductID
  package var purchaseDate: Milliseconds
  package var originalPurchaseDate: Milliseconds?
  package var expiresDate: Milliseconds?
  package var webOrderLineItemID: WebOrderLineItemID?
  package var subscriptionGroupID: SubscriptionGroupID?
  package var quantity: Int64?
  package var appAccountToken: AppAccountToken?
  package var ownership: OwnershipType?
  package var revocationDate: Milliseconds?
  package var revocationReason: RevocationReason?
  package var isUpgraded: Bool?
  package var offer: Offer?

  package init(
    transactionID: TransactionID, originalTransactionID: OriginalTransactionID,
    productID: ProductID, purchaseDate: Milliseconds
  ) {
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID
    self.productID = productID
    self.purchaseDate = purchaseDate
  }
}
