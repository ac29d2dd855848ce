/// The App Store's statement about the next renewal of a chain (`JWSRenewalInfo`).
///
/// The payload contains no bundle id. ``bundleID`` is the app of the chain.
package struct RenewalInfoFact: Hashable, Sendable {
  package var bundleID: BundleID
  package var environment: StoreEnvironment
  package var originalTransactionID: OriginalTransactionID
  package var productID: ProductID?
  package var autoRenewProductID: ProductID?
  /// Whether `autoRenewStatus` is 1; nil when it is absent or unknown.
  package var autoRenews: Bool?
  /// An `autoRenewStatus` other than 0 and 1. It counts as absent (R10).
  package var unknownAutoRenewStatus: Int64?
  package var expirationIntent: ExpirationIntent?
  package var gracePeriodExpiresDate: Milliseconds?
  package var isInBillingRetryPeriod: Bool?
  package var priceIncreaseStatus: PriceIncreaseStatus?
  package var renewalOffer: Offer?
  package var renewalDate: Milliseconds?
  package var recentSubscriptionStartDate: Milliseconds?
  package var eligibleWinBackOfferIDs: [String]
  package var appAccountToken: AppAccountToken?
  package var appTransactionID: AppTransactionID?
  package var signedDate: Milliseconds
  package var digest: PayloadDigest
  /// Never ``FactAuthority/receipt``: legacy receipts contain no renewal info.
  package var authority: FactAuthority

  package init(
    bundleID: BundleID, environment: StoreEnvironment,
    originalTransactionID: OriginalTransactionID, signedDate: Milliseconds, digest: PayloadDigest
  ) {
    self.bundleID = bundleID
    self.environment = environment
    self.originalTransactionID = originalTransactionID
    self.eligibleWinBackOfferIDs = []
    self.signedDate = signedDate
    self.digest = digest
    self.authority = .signedTransaction
  }

  package var scope: AppScope { AppScope(bundleID: bundleID, environment: environment) }
}
