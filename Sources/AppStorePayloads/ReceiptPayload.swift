package import EntitlementDomain
import JSON

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

  /// JSON in UTF-8.
  package let bytes: [UInt8]
  /// Whether decoding gives the values back without a change.
  let isPlain: Bool

  fileprivate init(_ members: inout PayloadMembers) {
    bytes = members.end()
    isPlain = members.arePlain && bytes.count <= JSONLimits.length
  }

  /// Encodes a renewal as a `JWSRenewalInfoDecodedPayload`.
  package static func renewalInfo(_ renewal: ReceiptRenewal, of origin: Origin) -> ReceiptPayload {
    var members = PayloadMembers()
    members.append("originalTransactionId", renewal.originalTransactionID)
    members.append("productId", renewal.productID)
    members.append("autoRenewProductId", renewal.autoRenewProductID)
    members.append("autoRenewStatus", renewal.autoRenewStatus)
    members.append("expirationIntent", renewal.expirationIntent?.rawValue)
    members.append("gracePeriodExpiresDate", renewal.gracePeriodExpiresDate)
    members.append("isInBillingRetryPeriod", renewal.isInBillingRetryPeriod)
    members.append("priceIncreaseStatus", renewal.priceIncreaseStatus?.rawValue)
    members.append(renewal.offer)
    members.append("signedDate", origin.signedDate)
    members.append("environment", origin.environment.rawValue)
    members.append("appTransactionId", origin.appTransactionID)
    return ReceiptPayload(&members)
  }

  /// Encodes an `AppTransaction`.
  package static func appTransaction(
    applicationVersion: String?, originalApplicationVersion: String?,
    originalPurchaseDate: Milliseconds?, of origin: Origin
  ) -> ReceiptPayload {
    var members = PayloadMembers()
    members.append("receiptType", origin.environment.rawValue)
    members.append("bundleId", origin.bundleID)
    members.append("applicationVersion", applicationVersion)
    members.append("receiptCreationDate", origin.signedDate)
    members.append("originalPurchaseDate", originalPurchaseDate)
    members.append("originalApplicationVersion", originalApplicationVersion)
    members.append("appTransactionId", origin.appTransactionID)
    return ReceiptPayload(&members)
  }
}

/// Encodes the purchases of one receipt, of which there may be hundreds. What they share is encoded
/// once, and all are written in the same memory.
package struct PurchaseEncoder: ~Copyable {
  private let app: PayloadMembers.Shared
  private let date: PayloadMembers.Shared
  private let account: PayloadMembers.Shared
  private var members = PayloadMembers()

  package init(of origin: ReceiptPayload.Origin) {
    members.append("bundleId", origin.bundleID)
    app = members.shared()
    members.restart()
    members.append("signedDate", origin.signedDate)
    date = members.shared()
    members.restart()
    members.append("environment", origin.environment.rawValue)
    members.append("appTransactionId", origin.appTransactionID)
    account = members.shared()
  }

  /// Encodes a purchase as a `JWSTransactionDecodedPayload`, without `type`: only the catalog knows
  /// the type.
  package mutating func payload(of purchase: ReceiptPurchase) -> ReceiptPayload {
    members.restart()
    members.append("originalTransactionId", purchase.originalTransactionID)
    members.append("transactionId", purchase.transactionID)
    members.append("webOrderLineItemId", purchase.webOrderLineItemID)
    members.append(app)
    members.append("productId", purchase.productID)
    members.append("subscriptionGroupIdentifier", purchase.subscriptionGroupID)
    members.append("purchaseDate", purchase.purchaseDate)
    members.append("originalPurchaseDate", purchase.originalPurchaseDate)
    members.append("expiresDate", purchase.expiresDate)
    members.append("quantity", purchase.quantity)
    members.append("appAccountToken", purchase.appAccountToken)
    members.append("inAppOwnershipType", purchase.ownership?.rawValue)
    members.append(date)
    members.append("revocationReason", purchase.revocationReason?.rawValue)
    members.append("revocationDate", purchase.revocationDate)
    members.append("isUpgraded", purchase.isUpgraded)
    members.append(purchase.offer)
    members.append(account)
    return ReceiptPayload(&members)
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
}

extension ReceiptPurchase {
  /// The fields that a receipt has. An archived response has more.
  // All at once, as of ``TransactionFact``.
  package init(
    transactionID: TransactionID, originalTransactionID: OriginalTransactionID,
    productID: ProductID, purchaseDate: Milliseconds, originalPurchaseDate: Milliseconds? = nil,
    expiresDate: Milliseconds? = nil, webOrderLineItemID: WebOrderLineItemID? = nil,
    quantity: Int64? = nil, revocationDate: Milliseconds? = nil, offer: Offer? = nil
  ) {
    self.init(
      transactionID: transactionID, originalTransactionID: originalTransactionID,
      productID: productID, purchaseDate: purchaseDate, originalPurchaseDate: originalPurchaseDate,
      expiresDate: expiresDate, webOrderLineItemID: webOrderLineItemID, subscriptionGroupID: nil,
      quantity: quantity, revocationDate: revocationDate, offer: offer)
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
