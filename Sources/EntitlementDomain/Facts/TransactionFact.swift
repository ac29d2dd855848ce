/// The App Store's statement about one transaction (`JWSTransaction`). Names and meanings are
/// Apple's.
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

  package var scope: AppScope { AppScope(bundleID: bundleID, environment: environment) }
}

extension TransactionFact {
  // All fields at once, by the initializer that the compiler makes: setting them one after the other
  // copies the whole fact at the end.
  package init(
    bundleID: BundleID, environment: StoreEnvironment,
    originalTransactionID: OriginalTransactionID, transactionID: TransactionID,
    productID: ProductID, type: ProductType, purchaseDate: Milliseconds, signedDate: Milliseconds,
    digest: PayloadDigest, authority: FactAuthority = .signedTransaction,
    originalPurchaseDate: Milliseconds? = nil, expiresDate: Milliseconds? = nil,
    webOrderLineItemID: WebOrderLineItemID? = nil, subscriptionGroupID: SubscriptionGroupID? = nil,
    quantity: Int64? = nil, appAccountToken: AppAccountToken? = nil,
    appTransactionID: AppTransactionID? = nil,
    previousOriginalTransactionID: OriginalTransactionID? = nil, ownership: OwnershipType? = nil,
    revocationDate: Milliseconds? = nil, revocationReason: RevocationReason? = nil,
    revocationType: RevocationType? = nil, isUpgraded: Bool = false, offer: Offer? = nil,
    storefront: String? = nil, transactionReason: String? = nil, commitment: Commitment? = nil
  ) {
    self.init(
      bundleID: bundleID, environment: environment, originalTransactionID: originalTransactionID,
      transactionID: transactionID, productID: productID, type: type, purchaseDate: purchaseDate,
      originalPurchaseDate: originalPurchaseDate, expiresDate: expiresDate,
      webOrderLineItemID: webOrderLineItemID, subscriptionGroupID: subscriptionGroupID,
      quantity: quantity, appAccountToken: appAccountToken, appTransactionID: appTransactionID,
      previousOriginalTransactionID: previousOriginalTransactionID, ownership: ownership,
      revocationDate: revocationDate, revocationReason: revocationReason,
      revocationType: revocationType, isUpgraded: isUpgraded, offer: offer, storefront: storefront,
      transactionReason: transactionReason, commitment: commitment, signedDate: signedDate,
      digest: digest, authority: authority)
  }
}

/// The offer under which a period was bought or will renew.
public struct Offer: Hashable, Sendable {
  /// The type of the offer.
  public var type: OfferType
  /// `offerIdentifier`, for promotional, code and win-back offers.
  public var identifier: String?
  /// The type of the discount.
  public var discountType: OfferDiscountType?
  /// `offerPeriod`, an ISO 8601 duration.
  public var period: String?

  public init(
    type: OfferType, identifier: String? = nil, discountType: OfferDiscountType? = nil,
    period: String? = nil
  ) {
    self.type = type
    self.identifier = identifier
    self.discountType = discountType
    self.period = period
  }
}

/// The progress of a commitment that is billed monthly (R26). It does not decide access; the
/// monthly period does.
public struct Commitment: Hashable, Sendable {
  /// The number of the current billing period, from 1.
  public var billingPeriodNumber: Int64
  /// The number of billing periods of the commitment.
  public var totalBillingPeriods: Int64
  /// The end of the commitment.
  public var expiresDate: Milliseconds?

  public init(
    billingPeriodNumber: Int64, totalBillingPeriods: Int64, expiresDate: Milliseconds? = nil
  ) {
    self.billingPeriodNumber = billingPeriodNumber
    self.totalBillingPeriods = totalBillingPeriods
    self.expiresDate = expiresDate
  }
}
