/// How a product or a group stands at a moment (R29).
public struct Standing: Hashable, Sendable {
  public var coreState: CoreState
  public var status: DetailedStatus
  /// Why it ended; set when and only when ``status`` is `.expired`.
  public var expirationReason: ExpirationReason?
  /// The product of the period that decided, and that period's transaction and chain.
  public var productID: ProductID
  public var productType: ProductType
  public var transactionID: TransactionID
  public var originalTransactionID: OriginalTransactionID
  public var periodStart: Milliseconds
  /// Nil when the purchase has no end.
  public var periodEnd: Milliseconds?
  /// End of the grace period, while in grace.
  public var graceEnd: Milliseconds?
  /// Nil when no renewal info of this period is known, or the product does not renew.
  public var willRenew: Bool?
  public var pendingChange: PendingChange?
  public var priceConsent: PriceConsent?
  /// The offer under which the period was bought.
  public var offer: Offer?
  /// The offer under which it will renew, while it will.
  public var renewalOffer: Offer?
  /// The win-back offers that Apple says the customer is eligible for, while the call is to win
  /// back.
  public var winBackOfferIDs: [String]
  public var ownership: OwnershipType?
  public var storefront: String?
  public var revocation: Revocation?
  public var commitment: Commitment?
  /// The earliest purchase of this product, or in this group.
  public var firstPurchaseAt: Milliseconds
  public var callToAction: CallToAction
  /// What the reader should know beside the status, in the order of the raw values.
  public var notices: [Notice]

  public init(
    coreState: CoreState, status: DetailedStatus, productID: ProductID, productType: ProductType,
    transactionID: TransactionID, originalTransactionID: OriginalTransactionID,
    periodStart: Milliseconds, firstPurchaseAt: Milliseconds, callToAction: CallToAction
  ) {
    self.coreState = coreState
    self.status = status
    self.productID = productID
    self.productType = productType
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID
    self.periodStart = periodStart
    self.firstPurchaseAt = firstPurchaseAt
    self.callToAction = callToAction
    self.winBackOfferIDs = []
    self.notices = []
  }
}

/// Raw values are those of the wire.
public enum DetailedStatus: Int, Hashable, Sendable, CaseIterable {
  case active = 1
  /// Active although the period has ended (R19).
  case grace = 2
  /// Inactive while Apple retries the charge (R20).
  case billingRetry = 3
  case expired = 4
  case revoked = 5
  /// Another product of its group took its place, at once (an upgrade, R17) or at a renewal; only
  /// products say this, never groups.
  case replaced = 6
  /// Bought, but its period has not begun.
  case upcoming = 7
  /// A consumable: history only (R11).
  case consumed = 8
  /// The catalog lacks what is needed to say, such as a duration (R12), or the type is unknown.
  case undetermined = 9
}

/// R21. Raw values are those of the wire.
public enum ExpirationReason: Int, Hashable, Sendable, CaseIterable {
  /// Apple gave no reason. Never read as "cancelled".
  case unknown = 1
  case customerCancelled = 2
  case billingError = 3
  case priceIncreaseDeclined = 4
  case productUnavailable = 5
  /// Apple's "other", or a reason that is not known yet.
  case other = 6
  /// It ran its time: a non-renewing purchase.
  case ended = 7
}

/// R23. Raw values are those of the wire.
public enum PriceConsent: Int, Hashable, Sendable, CaseIterable {
  case pending = 1
  case accepted = 2
}

/// Another product at the next renewal (R23).
public struct PendingChange: Hashable, Sendable {
  public var productID: ProductID
  public var effectiveAt: Milliseconds

  public init(productID: ProductID, effectiveAt: Milliseconds) {
    self.productID = productID
    self.effectiveAt = effectiveAt
  }
}

/// A refund, or the end of sharing (R16).
public struct Revocation: Hashable, Sendable {
  public var date: Milliseconds
  public var reason: RevocationReason?
  public var type: RevocationType?

  public init(date: Milliseconds, reason: RevocationReason?, type: RevocationType?) {
    self.date = date
    self.reason = reason
    self.type = type
  }
}

/// Raw values are those of the wire.
public enum Notice: Int, Hashable, Sendable, CaseIterable {
  /// The period was upgraded, and its successor has not been seen: a refetch is due (R17).
  case successorMissing = 1
  /// Ended with auto-renew on and no retry: the renewal has not been heard of (R24).
  case renewalOverdue = 2
  /// Concluded from silence rather than from a fact (R20).
  case inferred = 3
  /// The catalog gives no duration for this non-renewing product (R12).
  case durationMissing = 4
  /// The catalog does not name the product (R14).
  case productUnknown = 5
  /// The transaction's type is not known (R10).
  case typeUnknown = 6
  /// An auto-renewable period without `expiresDate`.
  case expiresDateMissing = 7
}
