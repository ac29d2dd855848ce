package import EntitlementDomain

/// The payload of a transaction (`JWSTransaction`). Names, meanings and units are Apple's; a nil
/// field is left out.
package struct TransactionPayload: Hashable, Sendable {
  package var transactionID: TransactionID
  package var originalTransactionID: OriginalTransactionID
  package var webOrderLineItemID: WebOrderLineItemID?
  package var bundleID: BundleID
  package var productID: ProductID
  package var subscriptionGroupID: SubscriptionGroupID?
  package var purchaseDate: Milliseconds
  package var originalPurchaseDate: Milliseconds?
  package var expiresDate: Milliseconds?
  package var quantity: Int64? = 1
  package var type: ProductType
  package var appAccountToken: AppAccountToken?
  package var ownership: OwnershipType? = .purchased
  package var signedDate: Milliseconds
  package var revocationDate: Milliseconds?
  package var revocationReason: RevocationReason?
  package var revocationType: RevocationType?
  /// In thousandths of a percent, as Apple sends it.
  package var revocationPercentage: Int64?
  package var isUpgraded: Bool?
  package var offer: Offer?
  /// Nil leaves the field out, as in payloads of 2021.
  package var environment: StoreEnvironment?
  package var transactionReason: String?
  package var storefront: String?
  package var storefrontID: String?
  /// In thousandths of the currency's unit.
  package var price: Int64?
  /// ISO 4217.
  package var currency: String?
  package var appTransactionID: AppTransactionID?
  package var previousOriginalTransactionID: OriginalTransactionID?
  package var commitment: Commitment?
  package var advancedCommerce: AdvancedCommerce?

  package init(
    transactionID: TransactionID, originalTransactionID: OriginalTransactionID,
    bundleID: BundleID, productID: ProductID, type: ProductType, purchaseDate: Milliseconds,
    signedDate: Milliseconds, environment: StoreEnvironment?
  ) {
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID
    self.bundleID = bundleID
    self.productID = productID
    self.type = type
    self.purchaseDate = purchaseDate
    self.signedDate = signedDate
    self.environment = environment
  }

  /// The payload as signed; the same values give the same bytes.
  package var json: [UInt8] {
    var writer = JSONObjectWriter()
    writer.set("transactionId", transactionID.rawValue)
    writer.set("originalTransactionId", originalTransactionID.rawValue)
    writer.set("webOrderLineItemId", webOrderLineItemID?.rawValue)
    writer.set("bundleId", bundleID.rawValue)
    writer.set("productId", productID.rawValue)
    writer.set("subscriptionGroupIdentifier", subscriptionGroupID?.rawValue)
    writer.set("purchaseDate", purchaseDate, signedIn: environment)
    writer.set("originalPurchaseDate", originalPurchaseDate, signedIn: environment)
    writer.set("expiresDate", expiresDate, signedIn: environment)
    writer.set("quantity", quantity)
    writer.set("type", type.rawValue)
    writer.set("appAccountToken", appAccountToken?.rawValue)
    writer.set("inAppOwnershipType", ownership?.rawValue)
    writer.set("signedDate", signedDate, signedIn: environment)
    writer.set("revocationReason", revocationReason?.rawValue)
    writer.set("revocationDate", revocationDate, signedIn: environment)
    writer.set("revocationType", revocationType?.rawValue)
    writer.set("revocationPercentage", revocationPercentage)
    writer.set("isUpgraded", isUpgraded)
    writer.set(offer)
    writer.set("environment", environment?.rawValue)
    writer.set("transactionReason", transactionReason)
    writer.set("storefront", storefront)
    writer.set("storefrontId", storefrontID)
    writer.set("price", price)
    writer.set("currency", currency)
    writer.set("appTransactionId", appTransactionID?.rawValue)
    writer.set("previousOriginalTransactionId", previousOriginalTransactionID?.rawValue)
    if let commitment {
      writer.set("billingPlanType", "MONTHLY")
      var progress = JSONObjectWriter()
      progress.set("billingPeriodNumber", commitment.billingPeriodNumber)
      progress.set("totalBillingPeriods", commitment.totalBillingPeriods)
      progress.set(
        "commitmentExpiresDate", commitment.expiresDate, signedIn: environment)
      writer.set("commitmentInfo", progress)
    }
    writer.set("advancedCommerceInfo", advancedCommerce?.json)
    return writer.bytes
  }
}

extension JSONObjectWriter {
  mutating func set(_ offer: Offer?) {
    set("offerType", offer?.type.rawValue)
    set("offerIdentifier", offer?.identifier)
    set("offerDiscountType", offer?.discountType?.rawValue)
    set("offerPeriod", offer?.period)
  }
}

/// `advancedCommerceInfo` of a subscription, with the fields that are simulated. Names and meanings
/// are Apple's.
package struct AdvancedCommerce: Hashable, Sendable {
  package var requestReferenceID: String
  package var taxCode: String
  package var displayName: String
  package var description: String

  package init(
    requestReferenceID: String, taxCode: String, displayName: String, description: String
  ) {
    self.requestReferenceID = requestReferenceID
    self.taxCode = taxCode
    self.displayName = displayName
    self.description = description
  }

  var json: JSONObjectWriter {
    var writer = JSONObjectWriter()
    writer.set("requestReferenceId", requestReferenceID)
    writer.set("taxCode", taxCode)
    writer.set("displayName", displayName)
    writer.set("description", description)
    return writer
  }
}
