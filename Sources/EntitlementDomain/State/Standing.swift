/// The state of a product or a subscription group at a moment (R29).
public struct Standing: Hashable, Sendable {
  /// Whether it confers access now (R27).
  public var coreState: CoreState
  /// The status in detail.
  public var status: DetailedStatus
  /// The reason of the expiry; set if and only if ``status`` is `.expired`.
  public var expirationReason: ExpirationReason?
  /// The product, transaction and chain of the deciding period.
  public var productID: ProductID
  /// The type of the product.
  public var productType: ProductType
  /// The transaction of the period that decided.
  public var transactionID: TransactionID
  /// The chain of the period that decided.
  public var originalTransactionID: OriginalTransactionID
  /// The start of the period that decided.
  public var periodStart: Milliseconds
  /// Nil when the purchase has no end.
  public var periodEnd: Milliseconds?
  /// The end of the grace period; set only in grace.
  public var graceEnd: Milliseconds?
  /// Nil when nothing is known of it (R56, R57), or when the product does not renew.
  public var willRenew: Bool?
  /// A change of the product at the next renewal; nil when there is none.
  public var pendingChange: PendingChange?
  /// The customer's answer to a price increase; nil when there is none.
  public var priceConsent: PriceConsent?
  /// The offer under which the period was bought.
  public var offer: Offer?
  /// The offer of the next renewal; nil if the subscription will not renew.
  public var renewalOffer: Offer?
  /// The win-back offers for which the customer is eligible according to Apple. Empty unless
  /// ``callToAction`` is `.winBack`.
  public var winBackOfferIDs: [String]
  /// How the customer got the purchase; nil when it is not known.
  public var ownership: OwnershipType?
  /// The storefront of the purchase, as a three-letter country code; nil when unknown.
  public var storefront: String?
  /// The refund, or the end of sharing; nil when there is none.
  public var revocation: Revocation?
  /// The customer's commitment to several billing periods; nil without one.
  public var commitment: Commitment?
  /// The earliest purchase of this product, or in this group.
  public var firstPurchaseAt: Milliseconds
  /// What to suggest to the customer.
  public var callToAction: CallToAction
  /// Remarks on the status, in the order of the raw values.
  public var notices: [Notice]
}

extension Standing {
  public init(
    coreState: CoreState, status: DetailedStatus, productID: ProductID, productType: ProductType,
    transactionID: TransactionID, originalTransactionID: OriginalTransactionID,
    periodStart: Milliseconds, firstPurchaseAt: Milliseconds, callToAction: CallToAction
  ) {
    self.init(
      coreState: coreState, status: status, productID: productID, productType: productType,
      transactionID: transactionID, originalTransactionID: originalTransactionID,
      periodStart: periodStart, winBackOfferIDs: [], firstPurchaseAt: firstPurchaseAt,
      callToAction: callToAction, notices: [])
  }
}

/// Raw values are the numbers on the wire.
public enum DetailedStatus: Int, Hashable, Sendable, CaseIterable {
  /// The period has begun and has not ended.
  case active = 1
  /// Active although the period has ended (R19).
  case grace = 2
  /// Inactive while Apple retries the charge (R20).
  case billingRetry = 3
  /// The period has ended.
  case expired = 4
  /// Apple has refunded it, or sharing has ended (R16).
  case revoked = 5
  /// Another product of the group took its place: immediately by an upgrade (R17), or at a renewal.
  /// A group has this status only while the successor is not known.
  case replaced = 6
  /// Bought, and the period has not begun.
  case upcoming = 7
  /// A consumable: history only (R11).
  case consumed = 8
  /// The catalog has no duration (R12), or the type is unknown.
  case undetermined = 9
}

/// R21. Raw values are the numbers on the wire.
public enum ExpirationReason: Int, Hashable, Sendable, CaseIterable {
  /// Apple gave no reason. It does not mean "cancelled".
  case unknown = 1
  /// The customer turned auto-renewal off.
  case customerCancelled = 2
  /// The renewal could not be charged.
  case billingError = 3
  /// The customer did not consent to a price increase.
  case priceIncreaseDeclined = 4
  /// The product was not available at the renewal.
  case productUnavailable = 5
  /// Apple's "other", or an unknown reason.
  case other = 6
  /// The duration of a non-renewing purchase is over.
  case ended = 7
}

/// R23. Raw values are the numbers on the wire.
public enum PriceConsent: Int, Hashable, Sendable, CaseIterable {
  /// The customer has not answered yet.
  case pending = 1
  /// The customer has consented.
  case accepted = 2
}

/// A change to another product at the next renewal (R23).
public struct PendingChange: Hashable, Sendable {
  /// The product after the change.
  public var productID: ProductID
  /// The time of the change.
  public var effectiveAt: Milliseconds

  public init(productID: ProductID, effectiveAt: Milliseconds) {
    self.productID = productID
    self.effectiveAt = effectiveAt
  }
}

/// A refund, or the end of family sharing or of an assignment (R16).
public struct Revocation: Hashable, Sendable {
  /// The time of the refund, or of the end of sharing.
  public var date: Milliseconds
  /// Apple's reason; nil when it has none.
  public var reason: RevocationReason?
  /// Apple's type of the revocation; nil when it has none.
  public var type: RevocationType?

  public init(date: Milliseconds, reason: RevocationReason?, type: RevocationType?) {
    self.date = date
    self.reason = reason
    self.type = type
  }
}

/// Raw values are the numbers on the wire.
public enum Notice: Int, Hashable, Sendable, CaseIterable {
  /// The period was upgraded, and its successor is not known. A refetch is due (R17).
  case successorMissing = 1
  /// The period ended with auto-renew on and without a retry, and no renewal is known (R24).
  case renewalOverdue = 2
  /// The status is inferred from the absence of facts (R20).
  case inferred = 3
  /// The catalog has no duration for this non-renewing product (R12).
  case durationMissing = 4
  /// The product is not in the catalog (R14).
  case productUnknown = 5
  /// The type of the transaction is unknown (R10).
  case typeUnknown = 6
  /// An auto-renewable period without `expiresDate`.
  case expiresDateMissing = 7
  /// A renewal whose period before it is not known. A refetch is due (R60).
  case predecessorMissing = 8
}
