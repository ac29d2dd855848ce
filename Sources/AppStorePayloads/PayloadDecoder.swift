package import EntitlementDomain

/// Decodes facts from the JSON payloads that the App Store signed. Decoding does not verify the
/// signature.
///
/// Unknown enumerated values are kept raw, and unknown fields are ignored (R10). A field whose JSON
/// type differs from Apple's documentation is an error, because its meaning is uncertain.
package enum PayloadDecoder {
  /// Decodes a fact of the given kind.
  ///
  /// - Parameters:
  ///   - payload: the JSON text.
  ///   - digest: that of `payload`.
  ///   - bundleID: the app of a renewal info, which contains no bundle id. Payloads of the other
  ///     kinds contain their own.
  ///   - authority: of the fact, which its payload does not contain; that of a JWS if it is left out.
  /// - Throws: ``PayloadError`` when the payload is not JSON, or lacks a required field.
  package static func fact(
    kind: FactKind, payload: [UInt8], digest: PayloadDigest, bundleID: BundleID,
    authority: FactAuthority = .signedTransaction
  ) throws(PayloadError) -> Fact {
    let fields = try PayloadFields(json: payload)
    switch kind {
    case .transaction:
      var fact = try transaction(fields, digest: digest)
      fact.authority = authority
      return .transaction(fact)
    case .renewalInfo:
      var fact = try renewalInfo(fields, digest: digest, bundleID: bundleID)
      fact.authority = authority
      return .renewalInfo(fact)
    case .appTransaction:
      var fact = try appTransaction(fields, digest: digest)
      fact.authority = authority
      return .appTransaction(fact)
    }
  }

  /// The environment in a field.
  ///
  /// - Throws: ``PayloadError/Code/environmentAbsent`` or
  ///   ``PayloadError/Code/environmentUnknown``.
  static func environment(
    _ name: StaticString, in fields: PayloadFields
  ) throws(PayloadError) -> StoreEnvironment {
    guard let value = try fields.identifier(name) else {
      throw PayloadError(.environmentAbsent, field: name, "is missing")
    }
    guard let environment = StoreEnvironment(rawValue: value) else {
      throw PayloadError(.environmentUnknown, field: name, "is not a known environment")
    }
    return environment
  }

  /// The offer of a period; nil without an `offerType`.
  static func offer(in fields: PayloadFields) throws(PayloadError) -> Offer? {
    guard let type = try fields.integer("offerType") else { return nil }
    return Offer(
      type: OfferType(rawValue: type),
      identifier: try fields.identifier("offerIdentifier"),
      discountType: try fields.identifier("offerDiscountType").map(
        OfferDiscountType.init(rawValue:)),
      period: try fields.identifier("offerPeriod"))
  }

  /// The `appAccountToken` in lower case. It is a hint and not an identity (R43), so a text that is
  /// not a UUID, and the UUID of zeros, count as absent and are no errors.
  static func appAccountToken(in fields: PayloadFields) throws(PayloadError) -> AppAccountToken? {
    guard let text = try fields.text("appAccountToken") else { return nil }
    var characters = Array(text.utf8)
    guard characters.count == 36 else { return nil }
    for (index, character) in characters.enumerated() {
      switch (index, character) {
      case (8, UInt8(ascii: "-")), (13, UInt8(ascii: "-")), (18, UInt8(ascii: "-")),
        (23, UInt8(ascii: "-")):
        break
      case (8, _), (13, _), (18, _), (23, _):
        return nil
      case (_, UInt8(ascii: "0")...UInt8(ascii: "9")), (_, UInt8(ascii: "a")...UInt8(ascii: "f")):
        break
      case (_, UInt8(ascii: "A")...UInt8(ascii: "F")):
        characters[index] = character | 0x20
      default:
        return nil
      }
    }
    return AppAccountToken(String(decoding: characters, as: UTF8.self)).ofCustomer
  }
}

extension PayloadDecoder {
  /// Decodes a `JWSTransactionDecodedPayload`. A missing `type` is kept as an empty one; like an
  /// unknown type, it grants nothing (R10).
  ///
  /// - Throws: ``PayloadError``.
  package static func transaction(
    _ fields: PayloadFields, digest: PayloadDigest
  ) throws(PayloadError) -> TransactionFact {
    let fields = fields.withDates(ofEnvironmentIn: "environment")
    return TransactionFact(
      bundleID: BundleID(try fields.requiredIdentifier("bundleId")),
      environment: try environment("environment", in: fields),
      originalTransactionID: OriginalTransactionID(
        try fields.requiredIdentifier("originalTransactionId")),
      transactionID: TransactionID(try fields.requiredIdentifier("transactionId")),
      productID: ProductID(try fields.requiredIdentifier("productId")),
      type: ProductType(rawValue: try fields.identifier("type") ?? ""),
      purchaseDate: try fields.requiredMoment("purchaseDate"),
      signedDate: try fields.requiredMoment("signedDate"),
      digest: digest,
      originalPurchaseDate: try fields.moment("originalPurchaseDate"),
      expiresDate: try fields.moment("expiresDate"),
      webOrderLineItemID: try fields.identifier("webOrderLineItemId")
        .map(WebOrderLineItemID.init(_:)),
      subscriptionGroupID: try fields.identifier("subscriptionGroupIdentifier")
        .map(SubscriptionGroupID.init(_:)),
      quantity: try fields.integer("quantity"),
      appAccountToken: try appAccountToken(in: fields),
      appTransactionID: try fields.identifier("appTransactionId").map(AppTransactionID.init(_:)),
      previousOriginalTransactionID: try fields.identifier("previousOriginalTransactionId")
        .map(OriginalTransactionID.init(_:)),
      ownership: try fields.identifier("inAppOwnershipType").map(OwnershipType.init(rawValue:)),
      revocationDate: try fields.moment("revocationDate"),
      revocationReason: try fields.integer("revocationReason")
        .map(RevocationReason.init(rawValue:)),
      revocationType: try fields.identifier("revocationType").map(RevocationType.init(rawValue:)),
      isUpgraded: try fields.boolean("isUpgraded") ?? false,
      offer: try offer(in: fields),
      storefront: try fields.identifier("storefront"),
      transactionReason: try fields.identifier("transactionReason"),
      commitment: try commitment(in: fields))
  }

  // Made once: its initializer compares texts.
  private static let absentType = ProductType(rawValue: "")

  /// The fact of a purchase: what the decoder reads from its payload. A receipt has hundreds, and
  /// reading what was just written takes longer than all else, so that is done only for a payload
  /// from which something else than the values themselves may be read.
  ///
  /// - Parameters:
  ///   - payload: the purchase, encoded with `origin`.
  ///   - digest: that of `payload`.
  ///   - authority: of the fact.
  /// - Throws: ``PayloadError``.
  package static func transaction(
    _ purchase: ReceiptPurchase, of origin: ReceiptPayload.Origin, in payload: ReceiptPayload,
    digest: PayloadDigest, authority: FactAuthority
  ) throws(PayloadError) -> TransactionFact {
    guard payload.isPlain, purchase.appAccountToken == nil else {
      var fact = try transaction(try PayloadFields(json: payload.bytes), digest: digest)
      fact.authority = authority
      return fact
    }
    return TransactionFact(
      bundleID: origin.bundleID, environment: origin.environment,
      originalTransactionID: purchase.originalTransactionID,
      transactionID: purchase.transactionID, productID: purchase.productID,
      type: absentType, purchaseDate: purchase.purchaseDate,
      signedDate: origin.signedDate, digest: digest, authority: authority,
      originalPurchaseDate: purchase.originalPurchaseDate, expiresDate: purchase.expiresDate,
      webOrderLineItemID: purchase.webOrderLineItemID,
      subscriptionGroupID: purchase.subscriptionGroupID, quantity: purchase.quantity,
      appTransactionID: origin.appTransactionID, ownership: purchase.ownership,
      revocationDate: purchase.revocationDate, revocationReason: purchase.revocationReason,
      isUpgraded: purchase.isUpgraded ?? false,
      offer: purchase.offer.map {
        Offer(type: $0.type, identifier: $0.identifier, discountType: $0.discountType)
      })
  }

  /// Decodes a `JWSRenewalInfoDecodedPayload`. An `autoRenewStatus` other than 0 and 1 counts as
  /// absent (R10).
  ///
  /// - Parameter bundleID: the app of the chain; the payload contains no bundle id.
  /// - Throws: ``PayloadError``.
  package static func renewalInfo(
    _ fields: PayloadFields, digest: PayloadDigest, bundleID: BundleID
  ) throws(PayloadError) -> RenewalInfoFact {
    let fields = fields.withDates(ofEnvironmentIn: "environment")
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

  /// Decodes an `AppTransaction`. Its environment is in `receiptType`.
  ///
  /// - Throws: ``PayloadError``.
  package static func appTransaction(
    _ fields: PayloadFields, digest: PayloadDigest
  ) throws(PayloadError) -> AppTransactionFact {
    let fields = fields.withDates(ofEnvironmentIn: "receiptType")
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

  /// The progress of a commitment; nil unless both of its counts are present (R26).
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
