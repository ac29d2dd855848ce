package import EntitlementDomain

/// Encodes one item of a legacy receipt or of an archived response as JSON, with the names of
/// Apple's signed payloads. Receipts are then stored and decoded like all other payloads (R51).
///
/// Equal items give equal bytes, and so equal digests: the order of the members is fixed, there is
/// no white space, and each character has one encoding.
package struct ReceiptPayload: Sendable {
  /// The values that all items of one receipt share.
  package struct Origin: Hashable, Sendable {
    package var bundleID: BundleID
    package var environment: StoreEnvironment
    /// The creation date of the receipt, or the date of the archived response.
    package var signedDate: Milliseconds
    /// Represents the Apple account, which receipts do not name, so that the items of one receipt
    /// stay together (R42). Nil for a receipt without purchases.
    package var appTransactionID: AppTransactionID?

    package init(
      bundleID: BundleID, environment: StoreEnvironment, signedDate: Milliseconds,
      appTransactionID: AppTransactionID?
    ) {
      self.bundleID = bundleID
      self.environment = environment
      self.signedDate = signedDate
      self.appTransactionID = appTransactionID
    }
  }

  private var members: [UInt8] = []

  private init() {
    // The size of a subscription purchase.
    members.reserveCapacity(640)
  }

  private var bytes: [UInt8] {
    [UInt8(ascii: "{")] + members + [UInt8(ascii: "}")]
  }

  /// Encodes a purchase as a `JWSTransactionDecodedPayload`, without `type`: only the catalog knows
  /// the type.
  package static func transaction(_ purchase: ReceiptPurchase, of origin: Origin) -> [UInt8] {
    var payload = ReceiptPayload()
    payload.append("originalTransactionId", purchase.originalTransactionID)
    payload.append("transactionId", purchase.transactionID)
    payload.append("webOrderLineItemId", purchase.webOrderLineItemID)
    payload.append("bundleId", origin.bundleID)
    payload.append("productId", purchase.productID)
    payload.append("subscriptionGroupIdentifier", purchase.subscriptionGroupID)
    payload.append("purchaseDate", purchase.purchaseDate)
    payload.append("originalPurchaseDate", purchase.originalPurchaseDate)
    payload.append("expiresDate", purchase.expiresDate)
    payload.append("quantity", purchase.quantity)
    payload.append("appAccountToken", purchase.appAccountToken)
    payload.append("inAppOwnershipType", purchase.ownership?.rawValue)
    payload.append("signedDate", origin.signedDate)
    payload.append("revocationReason", purchase.revocationReason?.rawValue)
    payload.append("revocationDate", purchase.revocationDate)
    payload.append("isUpgraded", purchase.isUpgraded)
    payload.append(purchase.offer)
    payload.append("environment", origin.environment.rawValue)
    payload.append("appTransactionId", origin.appTransactionID)
    return payload.bytes
  }

  /// Encodes a renewal as a `JWSRenewalInfoDecodedPayload`.
  package static func renewalInfo(_ renewal: ReceiptRenewal, of origin: Origin) -> [UInt8] {
    var payload = ReceiptPayload()
    payload.append("originalTransactionId", renewal.originalTransactionID)
    payload.append("productId", renewal.productID)
    payload.append("autoRenewProductId", renewal.autoRenewProductID)
    payload.append("autoRenewStatus", renewal.autoRenewStatus)
    payload.append("expirationIntent", renewal.expirationIntent?.rawValue)
    payload.append("gracePeriodExpiresDate", renewal.gracePeriodExpiresDate)
    payload.append("isInBillingRetryPeriod", renewal.isInBillingRetryPeriod)
    payload.append("priceIncreaseStatus", renewal.priceIncreaseStatus?.rawValue)
    payload.append(renewal.offer)
    payload.append("signedDate", origin.signedDate)
    payload.append("environment", origin.environment.rawValue)
    payload.append("appTransactionId", origin.appTransactionID)
    return payload.bytes
  }

  /// Encodes an `AppTransaction`.
  package static func appTransaction(
    applicationVersion: String?, originalApplicationVersion: String?,
    originalPurchaseDate: Milliseconds?, of origin: Origin
  ) -> [UInt8] {
    var payload = ReceiptPayload()
    payload.append("receiptType", origin.environment.rawValue)
    payload.append("bundleId", origin.bundleID)
    payload.append("applicationVersion", applicationVersion)
    payload.append("receiptCreationDate", origin.signedDate)
    payload.append("originalPurchaseDate", originalPurchaseDate)
    payload.append("originalApplicationVersion", originalApplicationVersion)
    payload.append("appTransactionId", origin.appTransactionID)
    return payload.bytes
  }

  private mutating func append(_ offer: Offer?) {
    append("offerType", offer?.type.rawValue)
    append("offerIdentifier", offer?.identifier)
    append("offerDiscountType", offer?.discountType?.rawValue)
  }

  private mutating func append<Kind>(_ name: StaticString, _ identifier: Identifier<Kind>?) {
    append(name, identifier?.rawValue)
  }

  private mutating func append(_ name: StaticString, _ moment: Milliseconds?) {
    append(name, moment?.rawValue)
  }

  private mutating func append(_ name: StaticString, _ number: Int64?) {
    guard let number else { return }
    append(name: name)
    members += String(number).utf8
  }

  private mutating func append(_ name: StaticString, _ flag: Bool?) {
    guard let flag else { return }
    append(name: name)
    members += (flag ? "true" : "false").utf8
  }

  private mutating func append(_ name: StaticString, _ text: String?) {
    guard let text else { return }
    append(name: name)
    members.append(UInt8(ascii: "\""))
    guard text.utf8.contains(where: Self.isEscaped) else {
      members += text.utf8
      members.append(UInt8(ascii: "\""))
      return
    }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        members += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        members += "\\u00".utf8
        members += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default:
        members.append(byte)
      }
    }
    members.append(UInt8(ascii: "\""))
  }

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func append(name: StaticString) {
    if !members.isEmpty { members.append(UInt8(ascii: ",")) }
    members.append(UInt8(ascii: "\""))
    members += UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    members += [UInt8(ascii: "\""), UInt8(ascii: ":")]
  }
}

/// One in-app purchase of a receipt or an archived response. The fields that a fact requires are
/// not optional; nil means that the document has no such field.
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

/// The renewal of a chain in an archived response. Nil means that the response has no such field.
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
