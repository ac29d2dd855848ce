package import EntitlementDomain

/// One in-app purchase of a simulated receipt. Receipts do not contain the type of the product.
package struct SimulatedReceiptItem: Hashable, Sendable {
  /// Attribute 1701; nil leaves it out, as with every identifier.
  package var quantity: Int64? = 1
  /// 1702.
  package var productID: ProductID?
  /// 1703.
  package var transactionID: TransactionID?
  /// 1704; nil is an empty text, as with every date.
  package var purchaseDate: Milliseconds?
  /// 1705.
  package var originalTransactionID: OriginalTransactionID?
  /// 1706.
  package var originalPurchaseDate: Milliseconds?
  /// 1708.
  package var expiresDate: Milliseconds?
  /// 1711; nil, or a value that is not a number, is written as 0.
  package var webOrderLineItemID: WebOrderLineItemID?
  /// 1712: when it was refunded, or upgraded.
  package var cancellationDate: Milliseconds?
  /// 1713.
  package var isTrialPeriod = false
  /// 1719.
  package var isInIntroductoryOfferPeriod = false
  /// 1721: the identifier of a promotional offer; nil leaves it out, as the App Store does.
  package var promotionalOfferID: String?
  /// Fields that only a response of `verifyReceipt` has.
  package var response = ResponseDetails()
  /// Undocumented attributes, as in real receipts.
  package var extraAttributes = Self.usualExtraAttributes

  /// Fields of an archived response that receipts do not have. A nil field is left out.
  package struct ResponseDetails: Hashable, Sendable {
    /// `in_app_ownership_type`.
    package var ownership: OwnershipType?
    /// `cancellation_reason`.
    package var cancellationReason: RevocationReason?
    /// `is_upgraded`, written only when true.
    package var isUpgraded = false
    /// `subscription_group_identifier`.
    package var subscriptionGroupID: SubscriptionGroupID?
    /// `app_account_token`.
    package var appAccountToken: AppAccountToken?
    /// `promotional_offer_id` or `offer_code_ref_name`, by its type.
    package var offer: Offer?

    package init() {}
  }

  package init(
    transactionID: TransactionID, originalTransactionID: OriginalTransactionID,
    productID: ProductID, purchaseDate: Milliseconds
  ) {
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID
    self.productID = productID
    self.purchaseDate = purchaseDate
    originalPurchaseDate = purchaseDate
  }

  /// The item of a transaction.
  ///
  /// - Parameter upgraded: the time of the upgrade; nil if it was not upgraded.
  package init(_ transaction: TransactionPayload, upgraded: Milliseconds? = nil) {
    self.init(
      transactionID: transaction.transactionID,
      originalTransactionID: transaction.originalTransactionID,
      productID: transaction.productID, purchaseDate: transaction.purchaseDate)
    quantity = transaction.quantity
    originalPurchaseDate = transaction.originalPurchaseDate
    expiresDate = transaction.expiresDate
    webOrderLineItemID = transaction.webOrderLineItemID
    cancellationDate = transaction.revocationDate ?? upgraded
    let isIntroductory = transaction.offer?.type == .introductory
    let isFree = transaction.offer?.discountType == .freeTrial
    isTrialPeriod = isIntroductory && isFree
    isInIntroductoryOfferPeriod = isIntroductory && !isFree
    if transaction.offer?.type == .promotional {
      promotionalOfferID = transaction.offer?.identifier
    }
    response.ownership = transaction.ownership
    response.cancellationReason = transaction.revocationReason
    response.isUpgraded = upgraded != nil
    response.subscriptionGroupID = transaction.subscriptionGroupID
    response.appAccountToken = transaction.appAccountToken
    response.offer = transaction.offer
  }

  /// In the order of their types.
  package var attributes: [SimulatedReceiptAttribute] {
    var attributes: [SimulatedReceiptAttribute] = []
    if let quantity { attributes.append(.integer(1701, quantity)) }
    if let productID { attributes.append(.text(1702, productID.rawValue)) }
    if let transactionID { attributes.append(.text(1703, transactionID.rawValue)) }
    attributes.append(.date(1704, purchaseDate?.rfc3339))
    if let originalTransactionID {
      attributes.append(.text(1705, originalTransactionID.rawValue))
    }
    attributes += [
      .date(1706, originalPurchaseDate?.rfc3339),
      .date(1708, expiresDate?.rfc3339),
      .integer(1711, webOrderLineItemID.flatMap { Int64($0.rawValue) } ?? 0),
      .date(1712, cancellationDate?.rfc3339),
      .integer(1713, isTrialPeriod ? 1 : 0),
      .integer(1719, isInIntroductoryOfferPeriod ? 1 : 0),
    ]
    if let promotionalOfferID { attributes.append(.text(1721, promotionalOfferID)) }
    return attributes + extraAttributes
  }

  /// Undocumented numbers and empty texts.
  package static let usualExtraAttributes: [SimulatedReceiptAttribute] = [
    .integer(1707, 0), .text(1709, ""), .integer(1710, 0), .text(1714, ""), .text(1715, ""),
    .text(1716, ""), .text(1717, ""), .text(1718, ""), .integer(1722, 0),
  ]
}
