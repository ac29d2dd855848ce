// Apple's enumerated values. Each keeps the raw value, so that one which is not known yet is
// reported as it came and grants nothing by itself (R10).

/// `type` of a transaction.
public struct ProductType: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  /// The known types share their text: every fact has one, and text that is a constant of the
  /// program is copied without counting.
  public init(rawValue: String) {
    self.rawValue =
      switch rawValue {
      case "Auto-Renewable Subscription": "Auto-Renewable Subscription"
      case "Non-Renewing Subscription": "Non-Renewing Subscription"
      default: rawValue
      }
  }

  public static let autoRenewable = ProductType(rawValue: "Auto-Renewable Subscription")
  public static let nonRenewing = ProductType(rawValue: "Non-Renewing Subscription")
  public static let nonConsumable = ProductType(rawValue: "Non-Consumable")
  public static let consumable = ProductType(rawValue: "Consumable")
}

/// `inAppOwnershipType` (R25).
public struct OwnershipType: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let purchased = OwnershipType(rawValue: "PURCHASED")
  public static let familyShared = OwnershipType(rawValue: "FAMILY_SHARED")
  public static let assigned = OwnershipType(rawValue: "ASSIGNED")
}

/// `offerType`.
public struct OfferType: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static let introductory = OfferType(rawValue: 1)
  public static let promotional = OfferType(rawValue: 2)
  public static let offerCode = OfferType(rawValue: 3)
  public static let winBack = OfferType(rawValue: 4)
}

/// `offerDiscountType`.
public struct OfferDiscountType: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let freeTrial = OfferDiscountType(rawValue: "FREE_TRIAL")
  public static let payAsYouGo = OfferDiscountType(rawValue: "PAY_AS_YOU_GO")
  public static let payUpFront = OfferDiscountType(rawValue: "PAY_UP_FRONT")
  public static let oneTime = OfferDiscountType(rawValue: "ONE_TIME")
}

/// `revocationReason`: 1 is an issue with the app, 0 any other.
public struct RevocationReason: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static let other = RevocationReason(rawValue: 0)
  public static let appIssue = RevocationReason(rawValue: 1)
}

/// `revocationType`.
public struct RevocationType: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let refundFull = RevocationType(rawValue: "REFUND_FULL")
  public static let refundProrated = RevocationType(rawValue: "REFUND_PRORATED")
  public static let familyRevoke = RevocationType(rawValue: "FAMILY_REVOKE")
}

/// `expirationIntent` (R21).
public struct ExpirationIntent: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static let cancelled = ExpirationIntent(rawValue: 1)
  public static let billingError = ExpirationIntent(rawValue: 2)
  public static let noPriceConsent = ExpirationIntent(rawValue: 3)
  public static let productUnavailable = ExpirationIntent(rawValue: 4)
  public static let other = ExpirationIntent(rawValue: 5)
}

/// `priceIncreaseStatus` (R23).
public struct PriceIncreaseStatus: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static let pending = PriceIncreaseStatus(rawValue: 0)
  public static let accepted = PriceIncreaseStatus(rawValue: 1)
}
