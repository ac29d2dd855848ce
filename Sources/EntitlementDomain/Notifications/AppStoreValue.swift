/// One of Apple's enumerations: any raw value is kept, some are known (R10).
package protocol AppStoreValue: RawRepresentable, Hashable {
  /// The values of appstore.md §2.
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

/// `transactionReason`, which facts keep as text.
struct TransactionReason: AppStoreValue {
  let rawValue: String

  static let known = ["PURCHASE", "RENEWAL"].map(TransactionReason.init(rawValue:))
}

/// `originalPlatform`, which facts keep as text.
struct OriginalPlatform: AppStoreValue {
  let rawValue: String

  static let known = ["iOS", "macOS", "tvOS", "visionOS"].map(OriginalPlatform.init(rawValue:))
}
