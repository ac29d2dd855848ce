// Apple's enumerated values. Each type keeps the raw value: an unknown value is reported unchanged
// and grants nothing (R10).

/// `type` of a transaction.
public struct ProductType: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  /// Replaces the two long known types by string literals. Every transaction has a type, and
  /// copying a literal needs no reference counting.
  public init(rawValue: String) {
    self.rawValue =
      switch rawValue {
      case "Auto-Renewable Subscription": "Auto-Renewable Subscription"
      case "Non-Renewing Subscription": "Non-Renewing Subscription"
      default: rawValue
      }
  }

  /// An auto-renewable subscription.
  public static let autoRenewable = ProductType(rawValue: "Auto-Renewable Subscription")
  /// A non-renewing subscription.
  public static let nonRenewing = ProductType(rawValue: "Non-Renewing Subscription")
  /// A product that is bought once and kept.
  public static let nonConsumable = ProductType(rawValue: "Non-Consumable")
  /// A product that is used up.
  public static let consumable = ProductType(rawValue: "Consumable")
}

/// `inAppOwnershipType` (R25).
public struct OwnershipType: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The customer bought it.
  public static let purchased = OwnershipType(rawValue: "PURCHASED")
  /// A family member shares it.
  public static let familyShared = OwnershipType(rawValue: "FAMILY_SHARED")
  /// An organization assigned it.
  public static let assigned = OwnershipType(rawValue: "ASSIGNED")
}

/// `offerType`.
public struct OfferType: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// An introductory offer.
  public static let introductory = OfferType(rawValue: 1)
  /// A promotional offer.
  public static let promotional = OfferType(rawValue: 2)
  /// An offer code.
  public static let offerCode = OfferType(rawValue: 3)
  /// A win-back offer.
  public static let winBack = OfferType(rawValue: 4)
}

/// `offerDiscountType`.
public struct OfferDiscountType: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A free trial.
  public static let freeTrial = OfferDiscountType(rawValue: "FREE_TRIAL")
  /// A reduced price in each of several periods.
  public static let payAsYouGo = OfferDiscountType(rawValue: "PAY_AS_YOU_GO")
  /// One payment for several periods.
  public static let payUpFront = OfferDiscountType(rawValue: "PAY_UP_FRONT")
  /// A one-time purchase at a reduced price.
  public static let oneTime = OfferDiscountType(rawValue: "ONE_TIME")
}

/// `revocationReason`: 1 is an issue with the app, 0 any other.
public struct RevocationReason: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// Any other reason.
  public static let other = RevocationReason(rawValue: 0)
  /// An issue with the app.
  public static let appIssue = RevocationReason(rawValue: 1)
}

/// `revocationType`.
public struct RevocationType: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A full refund.
  public static let refundFull = RevocationType(rawValue: "REFUND_FULL")
  /// A refund of a part.
  public static let refundProrated = RevocationType(rawValue: "REFUND_PRORATED")
  /// The end of family sharing.
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

/// One of Apple's enumerations. Any raw value is kept; some are known (R10).
package protocol AppStoreValue: RawRepresentable, Hashable {
  /// The known values (app-store.md §2).
  static var known: [Self] { get }
}

extension AppStoreValue {
  package var isKnown: Bool { Self.known.contains(self) }
}

extension ProductType: AppStoreValue {
  package static let known: [ProductType] = [autoRenewable, nonRenewing, nonConsumable, consumable]
}

extension OwnershipType: AppStoreValue {
  package static let known: [OwnershipType] = [purchased, familyShared, assigned]
}

extension OfferType: AppStoreValue {
  package static let known: [OfferType] = [introductory, promotional, offerCode, winBack]
}

extension OfferDiscountType: AppStoreValue {
  package static let known: [OfferDiscountType] = [freeTrial, payAsYouGo, payUpFront, oneTime]
}

extension RevocationReason: AppStoreValue {
  package static let known: [RevocationReason] = [other, appIssue]
}

extension RevocationType: AppStoreValue {
  package static let known: [RevocationType] = [refundFull, refundProrated, familyRevoke]
}

extension ExpirationIntent: AppStoreValue {
  package static let known: [ExpirationIntent] = [
    cancelled, billingError, noPriceConsent, productUnavailable, other,
  ]
}

extension PriceIncreaseStatus: AppStoreValue {
  package static let known: [PriceIncreaseStatus] = [pending, accepted]
}

/// The known values of `transactionReason`, which facts keep as text.
struct TransactionReason: AppStoreValue {
  let rawValue: String

  static let known = ["PURCHASE", "RENEWAL"].map(TransactionReason.init(rawValue:))
}

/// The known values of `originalPlatform`, which facts keep as text.
struct OriginalPlatform: AppStoreValue {
  let rawValue: String

  static let known = ["iOS", "macOS", "tvOS", "visionOS"].map(OriginalPlatform.init(rawValue:))
}
