/// The life cycles that can be simulated. Each begins with a new customer and ends in a lasting
/// state. The names and their order are a contract: new cases are appended.
package enum LifeCycle: String, CaseIterable, Sendable {
  case firstPurchase = "first-purchase"
  case renewals
  case cancelled
  case expired
  case grace
  case billingRetry = "billing-retry"
  case refunded
  case upgrade
  case downgrade
  case familySharing = "family-sharing"
  case nonRenewing = "non-renewing"
  case nonConsumable = "non-consumable"
  case graceRecovered = "grace-recovered"
  case billingRecovered = "billing-recovered"
  case billingFailed = "billing-failed"
  case refundReversed = "refund-reversed"
  case earlierPeriodRefunded = "earlier-period-refunded"
  case familySharingEnded = "family-sharing-ended"
  case nonRenewingEnded = "non-renewing-ended"
  case nonConsumableRefunded = "non-consumable-refunded"
  case boughtAgain = "bought-again"
  case paidAppMigration = "paid-app-migration"
  case freeTrial = "free-trial"
  case priceIncrease = "price-increase"
  case priceIncreaseDeclined = "price-increase-declined"
  case productRemoved = "product-removed"
  case resubscribed
  case renewalExtended = "renewal-extended"
  case offerRedeemed = "offer-redeemed"
  case offerCodeFirst = "offer-code-first"
  case offerUpgrade = "offer-upgrade"
  case offerDowngrade = "offer-downgrade"
  case offerResubscribed = "offer-resubscribed"
  case wonBack = "won-back"
  case wonBackAfterRefund = "won-back-after-refund"
  case crossgrade
  case downgradeWithdrawn = "downgrade-withdrawn"
  case autoRenewalRestored = "auto-renewal-restored"
  case advancedCommerce = "advanced-commerce"
  case endedForOtherReason = "ended-for-other-reason"
  case refundDeclined = "refund-declined"
  case consumable
  case consumableRefunded = "consumable-refunded"
  case massExtension = "mass-extension"
  case extensionFailed = "extension-failed"
  case externalPurchase = "external-purchase"
  case consentRescinded = "consent-rescinded"
  case testNotification = "test-notification"
  case seatRevoked = "seat-revoked"
  case monthlyCommitment = "monthly-commitment"

  /// A description of the customer in one sentence.
  package var summary: String { story.summary }

  /// Days from the start to a time in the characteristic state. The state lasts for at least a day
  /// before and after that time, whatever the start.
  package var characteristicDay: Int64 { story.characteristicDay }

  var story: LifeCycleStory {
    switch self {
    case .firstPurchase: .firstPurchase
    case .renewals: .renewals
    case .cancelled: .cancelled
    case .expired: .expired
    case .grace: .grace
    case .billingRetry: .billingRetry
    case .refunded: .refunded
    case .upgrade: .upgrade
    case .downgrade: .downgrade
    case .familySharing: .familySharing
    case .nonRenewing: .nonRenewing
    case .nonConsumable: .nonConsumable
    case .graceRecovered: .graceRecovered
    case .billingRecovered: .billingRecovered
    case .billingFailed: .billingFailed
    case .refundReversed: .refundReversed
    case .earlierPeriodRefunded: .earlierPeriodRefunded
    case .familySharingEnded: .familySharingEnded
    case .nonRenewingEnded: .nonRenewingEnded
    case .nonConsumableRefunded: .nonConsumableRefunded
    case .boughtAgain: .boughtAgain
    case .paidAppMigration: .paidAppMigration
    case .freeTrial: .freeTrial
    case .priceIncrease: .priceIncrease
    case .priceIncreaseDeclined: .priceIncreaseDeclined
    case .productRemoved: .productRemoved
    case .resubscribed: .resubscribed
    case .renewalExtended: .renewalExtended
    case .offerRedeemed: .offerRedeemed
    case .offerCodeFirst: .offerCodeFirst
    case .offerUpgrade: .offerUpgrade
    case .offerDowngrade: .offerDowngrade
    case .offerResubscribed: .offerResubscribed
    case .wonBack: .wonBack
    case .wonBackAfterRefund: .wonBackAfterRefund
    case .crossgrade: .crossgrade
    case .downgradeWithdrawn: .downgradeWithdrawn
    case .autoRenewalRestored: .autoRenewalRestored
    case .advancedCommerce: .advancedCommerce
    case .endedForOtherReason: .endedForOtherReason
    case .refundDeclined: .refundDeclined
    case .consumable: .consumable
    case .consumableRefunded: .consumableRefunded
    case .massExtension: .massExtension
    case .extensionFailed: .extensionFailed
    case .externalPurchase: .externalPurchase
    case .consentRescinded: .consentRescinded
    case .testNotification: .testNotification
    case .seatRevoked: .seatRevoked
    case .monthlyCommitment: .monthlyCommitment
    }
  }
}
