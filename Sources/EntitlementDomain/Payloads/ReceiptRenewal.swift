/// What an archived response says of the next renewal of a chain. What is nil was not told.
package struct ReceiptRenewal: Hashable, Sendable {
  package var originalTransactionID: OriginalTransactionID
  package var productID: ProductID?
  package var autoRenewProductID: ProductID?
  package var autoRenewStatus: Int64?
  package var expirationIntent: ExpirationIntent?
  package var gracePeriodExpiresDate: Milliseconds?
  package var isInBillingRetryPeriod: Bool?
  package var priceIncreaseStatus: PriceIncreaseStatus?
  package var offer: Offer?

  package init(originalTransactionID: OriginalTransactionID) {
    self.originalTransactionID = originalTransactionID
  }
}
