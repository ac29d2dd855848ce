// Apple's enumerated values. Each keeps the raw value, so that one which is not known yet is
// reported as it came and grants nothing by itself (R10).

/// `type` of a transaction.
package struct ProductType: RawRepresentable, Hashable, Sendable {
  package let rawValue: String

  /// The known types share their text: every fact has one, and text that is a constant of the
  /// program is copied without counting.
  package init(rawValue: String) {
    self.rawValue =
      switch rawValue {
      case "Auto-Renewable Subscription": "Auto-Renewable Subscription"
      case "Non-Renewing Subscription": "Non-Renewing Subscription"
      default: rawValue
      }
  }

  package static let autoRenewable = ProductType(rawValue: "Auto-Renewable Subscription")
  package static let nonRenewing = ProductType(rawValue: "Non-Renewing Subscription")
  package static let nonConsumable = ProductType(rawValue: "Non-Consumable")
  package static let consumable = ProductType(rawValue: "Consumable")
}

/// `inAppOwnershipType` (R25).
package struct OwnershipType: RawRepresentable, Hashable, Sendable {
  package let rawValue: String
  package init(rawValue: String) { self.rawValue = rawValue }

  package static let purchased = OwnershipType(rawValue: "PURCHASED")
  package static let familyShared = OwnershipType(rawValue: "FAMILY_SHARED")
  package static let assigned = OwnershipType(rawValue: "ASSIGNED")
}

/// `offerType`.
package struct OfferType: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int64
  package init(rawValue: Int64) { self.rawValue = rawValue }

  package static let introductory = OfferType(rawValue: 1)
  package static let promotional = OfferType(rawValue: 2)
  package static let offerCode = OfferType(rawValue: 3)
  package static let winBack = OfferType(rawValue: 4)
}

/// `offerDiscountType`.
package struct OfferDiscountType: RawRepresentable, Hashable, Sendable {
  package let rawValue: String
  package init(rawValue: String) { self.rawValue = rawValue }

  package static let freeTrial = OfferDiscountType(rawValue: "FREE_TRIAL")
  package static let payAsYouGo = OfferDiscountType(rawValue: "PAY_AS_YOU_GO")
  package static let payUpFront = OfferDiscountType(rawValue: "PAY_UP_FRONT")
  package static let oneTime = OfferDiscountType(rawValue: "ONE_TIME")
}

/// `revocationReason`: 1 is an issue with the app, 0 any other.
package struct RevocationReason: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int64
  package init(rawValue: Int64) { self.rawValue = rawValue }

  package static let other = RevocationReason(rawValue: 0)
  package static let appIssue = RevocationReason(rawValue: 1)
}

/// `revocationType`.
package struct RevocationType: RawRepresentable, Hashable, Sendable {
  package let rawValue: String
  package init(rawValue: String) { self.rawValue = rawValue }

  package static let refundFull = RevocationType(rawValue: "REFUND_FULL")
  package static let refundProrated = RevocationType(rawValue: "REFUND_PRORATED")
  package static let familyRevoke = RevocationType(rawValue: "FAMILY_REVOKE")
}

/// `expirationIntent` (R21).
package struct ExpirationIntent: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int64
  package init(rawValue: Int64) { self.rawValue = rawValue }

  package static let cancelled = ExpirationIntent(rawValue: 1)
  package static let billingError = ExpirationIntent(rawValue: 2)
  package static let noPriceConsent = ExpirationIntent(rawValue: 3)
  package static let productUnavailable = ExpirationIntent(rawValue: 4)
  package static let other = ExpirationIntent(rawValue: 5)
}

/// `priceIncreaseStatus` (R23).
package struct PriceIncreaseStatus: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int64
  package init(rawValue: Int64) { self.rawValue = rawValue }

  package static let pending = PriceIncreaseStatus(rawValue: 0)
  package static let accepted = PriceIncreaseStatus(rawValue: 1)
}
