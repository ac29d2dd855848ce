package import EntitlementDomain

/// The payload of a renewal info (`JWSRenewalInfo`). Names, meanings and units are Apple's; a nil
/// field is left out.
package struct RenewalInfoPayload: Hashable, Sendable {
  package var originalTransactionID: OriginalTransactionID
  package var productID: ProductID?
  package var autoRenewProductID: ProductID?
  /// `autoRenewStatus`: true is 1.
  package var autoRenews: Bool?
  package var expirationIntent: ExpirationIntent?
  package var gracePeriodExpiresDate: Milliseconds?
  package var isInBillingRetryPeriod: Bool?
  package var priceIncreaseStatus: PriceIncreaseStatus?
  package var renewalOffer: Offer?
  package var signedDate: Milliseconds
  package var environment: StoreEnvironment?
  package var recentSubscriptionStartDate: Milliseconds?
  package var renewalDate: Milliseconds?
  /// In thousandths of the currency's unit.
  package var renewalPrice: Int64?
  /// ISO 4217.
  package var currency: String?
  package var eligibleWinBackOfferIDs: [String] = []
  package var appAccountToken: AppAccountToken?
  package var appTransactionID: AppTransactionID?
  /// `renewalBillingPlanType`: BILLED_UPFRONT or MONTHLY.
  package var renewalBillingPlanType: String?
  package var advancedCommerce: AdvancedCommerce?

  package init(
    originalTransactionID: OriginalTransactionID, signedDate: Milliseconds,
    environment: StoreEnvironment?
  ) {
    self.originalTransactionID = originalTransactionID
    self.signedDate = signedDate
    self.environment = environment
  }

  /// The payload as signed; the same values give the same bytes.
  package var json: [UInt8] {
    var writer = JSONObjectWriter()
    writer.set("originalTransactionId", originalTransactionID.rawValue)
    writer.set("autoRenewProductId", autoRenewProductID?.rawValue)
    writer.set("productId", productID?.rawValue)
    writer.set("autoRenewStatus", autoRenews.map { $0 ? 1 : 0 })
    writer.set("expirationIntent", expirationIntent?.rawValue)
    writer.set("isInBillingRetryPeriod", isInBillingRetryPeriod)
    writer.set("priceIncreaseStatus", priceIncreaseStatus?.rawValue)
    writer.set("gracePeriodExpiresDate", gracePeriodExpiresDate, signedIn: environment)
    writer.set(renewalOffer)
    writer.set("signedDate", signedDate, signedIn: environment)
    writer.set("environment", environment?.rawValue)
    writer.set("recentSubscriptionStartDate", recentSubscriptionStartDate, signedIn: environment)
    writer.set("renewalDate", renewalDate, signedIn: environment)
    writer.set("currency", currency)
    writer.set("renewalPrice", renewalPrice)
    writer.set("eligibleWinBackOfferIds", eligibleWinBackOfferIDs)
    writer.set("appAccountToken", appAccountToken?.rawValue)
    writer.set("appTransactionId", appTransactionID?.rawValue)
    writer.set("renewalBillingPlanType", renewalBillingPlanType)
    writer.set("advancedCommerceInfo", advancedCommerce?.json)
    return writer.bytes
  }
}
