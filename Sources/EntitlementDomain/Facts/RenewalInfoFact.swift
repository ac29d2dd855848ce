/// What the App Store signed about the next renewal of a chain (`JWSRenewalInfo`).
///
/// It carries no bundle id: ``bundleID`` is that of the chain it was bound to when it arrived.
package struct RenewalInfoFact: Hashable, Sendable {
  package var bundleID: BundleID
  package var environment: StoreEnvironment
  package var originalTransactionID: OriginalTransactionID
  package var productID: ProductID?
  package var autoRenewProductID: ProductID?
  /// `autoRenewStatus` 1; nil when absent or not known.
  package var autoRenews: Bool?
  /// `autoRenewStatus` where it is neither 0 nor 1: it counts as absent (R10).
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
  /// Never ``FactAuthority/receipt``: a legacy receipt says nothing of renewals.
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
