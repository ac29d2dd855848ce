extension PayloadDecoder {
  /// `JWSTransactionDecodedPayload`. A transaction without a `type` is kept with an empty one,
  /// which like an unknown one grants nothing by itself (R10).
  ///
  /// - Throws: ``PayloadError``.
  package static func transaction(
    _ fields: PayloadFields, digest: PayloadDigest
  ) throws(PayloadError) -> TransactionFact {
    var fact = TransactionFact(
      bundleID: BundleID(try fields.requiredIdentifier("bundleId")),
      environment: try environment("environment", in: fields),
      originalTransactionID: OriginalTransactionID(
        try fields.requiredIdentifier("originalTransactionId")),
      transactionID: TransactionID(try fields.requiredIdentifier("transactionId")),
      productID: ProductID(try fields.requiredIdentifier("productId")),
      type: ProductType(rawValue: try fields.identifier("type") ?? ""),
      purchaseDate: try fields.requiredMoment("purchaseDate"),
      signedDate: try fields.requiredMoment("signedDate"),
      digest: digest)
    fact.originalPurchaseDate = try fields.moment("originalPurchaseDate")
    fact.expiresDate = try fields.moment("expiresDate")
    fact.webOrderLineItemID = try fields.identifier("webOrderLineItemId")
      .map(WebOrderLineItemID.init(_:))
    fact.subscriptionGroupID = try fields.identifier("subscriptionGroupIdentifier")
      .map(SubscriptionGroupID.init(_:))
    fact.quantity = try fields.integer("quantity")
    fact.appAccountToken = try appAccountToken(in: fields)
    fact.appTransactionID = try fields.identifier("appTransactionId")
      .map(AppTransactionID.init(_:))
    fact.previousOriginalTransactionID = try fields.identifier("previousOriginalTransactionId")
      .map(OriginalTransactionID.init(_:))
    fact.ownership = try fields.identifier("inAppOwnershipType").map(OwnershipType.init(rawValue:))
    fact.revocationDate = try fields.moment("revocationDate")
    fact.revocationReason = try fields.integer("revocationReason")
      .map(RevocationReason.init(rawValue:))
    fact.revocationType = try fields.identifier("revocationType").map(
      RevocationType.init(rawValue:))
    fact.isUpgraded = try fields.boolean("isUpgraded") ?? false
    fact.offer = try offer(in: fields)
    fact.storefront = try fields.identifier("storefront")
    fact.transactionReason = try fields.identifier("transactionReason")
    fact.commitment = try commitment(in: fields)
    return fact
  }

  /// `JWSRenewalInfoDecodedPayload`. An `autoRenewStatus` other than 0 and 1 counts as absent
  /// (R10).
  ///
  /// - Parameter bundleID: the app that it is bound to; it names none itself.
  /// - Throws: ``PayloadError``.
  package static func renewalInfo(
    _ fields: PayloadFields, digest: PayloadDigest, bundleID: BundleID
  ) throws(PayloadError) -> RenewalInfoFact {
    var fact = RenewalInfoFact(
      bundleID: bundleID,
      environment: try environment("environment", in: fields),
      originalTransactionID: OriginalTransactionID(
        try fields.requiredIdentifier("originalTransactionId")),
      signedDate: try fields.requiredMoment("signedDate"),
      digest: digest)
    fact.productID = try fields.identifier("productId").map(ProductID.init(_:))
    fact.autoRenewProductID = try fields.identifier("autoRenewProductId").map(ProductID.init(_:))
    switch try fields.integer("autoRenewStatus") {
    case 0: fact.autoRenews = false
    case 1: fact.autoRenews = true
    case let other: fact.unknownAutoRenewStatus = other
    }
    fact.expirationIntent = try fields.integer("expirationIntent")
      .map(ExpirationIntent.init(rawValue:))
    fact.gracePeriodExpiresDate = try fields.moment("gracePeriodExpiresDate")
    fact.isInBillingRetryPeriod = try fields.boolean("isInBillingRetryPeriod")
    fact.priceIncreaseStatus = try fields.integer("priceIncreaseStatus")
      .map(PriceIncreaseStatus.init(rawValue:))
    fact.renewalOffer = try offer(in: fields)
    fact.renewalDate = try fields.moment("renewalDate")
    fact.recentSubscriptionStartDate = try fields.moment("recentSubscriptionStartDate")
    fact.eligibleWinBackOfferIDs = try fields.texts("eligibleWinBackOfferIds") ?? []
    fact.appAccountToken = try appAccountToken(in: fields)
    fact.appTransactionID = try fields.identifier("appTransactionId")
      .map(AppTransactionID.init(_:))
    return fact
  }

  /// `AppTransaction`; its environment is in `receiptType`.
  ///
  /// - Throws: ``PayloadError``.
  package static func appTransaction(
    _ fields: PayloadFields, digest: PayloadDigest
  ) throws(PayloadError) -> AppTransactionFact {
    var fact = AppTransactionFact(
      bundleID: BundleID(try fields.requiredIdentifier("bundleId")),
      environment: try environment("receiptType", in: fields),
      signedDate: try fields.requiredMoment("receiptCreationDate"),
      digest: digest)
    fact.appAppleID = try fields.integer("appAppleId")
    fact.appTransactionID = try fields.identifier("appTransactionId")
      .map(AppTransactionID.init(_:))
    fact.originalPurchaseDate = try fields.moment("originalPurchaseDate")
    fact.originalApplicationVersion = try fields.identifier("originalApplicationVersion")
    fact.originalPlatform = try fields.identifier("originalPlatform")
    fact.preorderDate = try fields.moment("preorderDate")
    return fact
  }

  /// Progress of a commitment; nil unless both of its counts are there (R26).
  private static func commitment(in fields: PayloadFields) throws(PayloadError) -> Commitment? {
    guard let commitment = try fields.object("commitmentInfo"),
      let number = try commitment.integer("billingPeriodNumber"),
      let total = try commitment.integer("totalBillingPeriods")
    else { return nil }
    return Commitment(
      billingPeriodNumber: number, totalBillingPeriods: total,
      expiresDate: try commitment.moment("commitmentExpiresDate"))
  }
}
