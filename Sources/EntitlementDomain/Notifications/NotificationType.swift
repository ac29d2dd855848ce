/// The raw `notificationType` of an App Store Server Notification (V2), known or unknown (R10;
/// app-store.md §2).
package struct NotificationType: AppStoreValue, Sendable {
  package let rawValue: String
  package init(rawValue: String) { self.rawValue = rawValue }

  package static let subscribed = NotificationType(rawValue: "SUBSCRIBED")
  package static let didChangeRenewalPreference = NotificationType(
    rawValue: "DID_CHANGE_RENEWAL_PREF")
  package static let didChangeRenewalStatus = NotificationType(
    rawValue: "DID_CHANGE_RENEWAL_STATUS")
  package static let offerRedeemed = NotificationType(rawValue: "OFFER_REDEEMED")
  package static let didRenew = NotificationType(rawValue: "DID_RENEW")
  package static let expired = NotificationType(rawValue: "EXPIRED")
  package static let didFailToRenew = NotificationType(rawValue: "DID_FAIL_TO_RENEW")
  package static let gracePeriodExpired = NotificationType(rawValue: "GRACE_PERIOD_EXPIRED")
  package static let priceIncrease = NotificationType(rawValue: "PRICE_INCREASE")
  package static let priceChange = NotificationType(rawValue: "PRICE_CHANGE")
  package static let refund = NotificationType(rawValue: "REFUND")
  package static let refundDeclined = NotificationType(rawValue: "REFUND_DECLINED")
  package static let refundReversed = NotificationType(rawValue: "REFUND_REVERSED")
  package static let consumptionRequest = NotificationType(rawValue: "CONSUMPTION_REQUEST")
  package static let renewalExtended = NotificationType(rawValue: "RENEWAL_EXTENDED")
  package static let renewalExtension = NotificationType(rawValue: "RENEWAL_EXTENSION")
  package static let revoke = NotificationType(rawValue: "REVOKE")
  package static let test = NotificationType(rawValue: "TEST")
  package static let externalPurchaseToken = NotificationType(
    rawValue: "EXTERNAL_PURCHASE_TOKEN")
  package static let oneTimeCharge = NotificationType(rawValue: "ONE_TIME_CHARGE")
  package static let rescindConsent = NotificationType(rawValue: "RESCIND_CONSENT")
  package static let metadataUpdate = NotificationType(rawValue: "METADATA_UPDATE")
  package static let migration = NotificationType(rawValue: "MIGRATION")

  package static let known: [NotificationType] = [
    subscribed, didChangeRenewalPreference, didChangeRenewalStatus, offerRedeemed, didRenew,
    expired, didFailToRenew, gracePeriodExpired, priceIncrease, priceChange, refund,
    refundDeclined, refundReversed, consumptionRequest, renewalExtended, renewalExtension, revoke,
    test, externalPurchaseToken, oneTimeCharge, rescindConsent, metadataUpdate, migration,
  ]
}

/// The raw `subtype` of an App Store Server Notification (V2), known or unknown (R10; app-store.md
/// §2). ``NotificationForm`` lists the subtypes of each type.
package struct NotificationSubtype: AppStoreValue, Sendable {
  package let rawValue: String
  package init(rawValue: String) { self.rawValue = rawValue }

  package static let initialBuy = NotificationSubtype(rawValue: "INITIAL_BUY")
  package static let resubscribe = NotificationSubtype(rawValue: "RESUBSCRIBE")
  package static let downgrade = NotificationSubtype(rawValue: "DOWNGRADE")
  package static let upgrade = NotificationSubtype(rawValue: "UPGRADE")
  package static let autoRenewEnabled = NotificationSubtype(rawValue: "AUTO_RENEW_ENABLED")
  package static let autoRenewDisabled = NotificationSubtype(rawValue: "AUTO_RENEW_DISABLED")
  package static let voluntary = NotificationSubtype(rawValue: "VOLUNTARY")
  package static let billingRetry = NotificationSubtype(rawValue: "BILLING_RETRY")
  package static let priceIncrease = NotificationSubtype(rawValue: "PRICE_INCREASE")
  package static let gracePeriod = NotificationSubtype(rawValue: "GRACE_PERIOD")
  package static let pending = NotificationSubtype(rawValue: "PENDING")
  package static let accepted = NotificationSubtype(rawValue: "ACCEPTED")
  package static let billingRecovery = NotificationSubtype(rawValue: "BILLING_RECOVERY")
  package static let productNotForSale = NotificationSubtype(rawValue: "PRODUCT_NOT_FOR_SALE")
  package static let summary = NotificationSubtype(rawValue: "SUMMARY")
  package static let failure = NotificationSubtype(rawValue: "FAILURE")
  package static let unreported = NotificationSubtype(rawValue: "UNREPORTED")
  package static let created = NotificationSubtype(rawValue: "CREATED")
  package static let activeTokenReminder = NotificationSubtype(
    rawValue: "ACTIVE_TOKEN_REMINDER")

  package static let known: [NotificationSubtype] = [
    initialBuy, resubscribe, downgrade, upgrade, autoRenewEnabled, autoRenewDisabled, voluntary,
    billingRetry, priceIncrease, gracePeriod, pending, accepted, billingRecovery,
    productNotForSale, summary, failure, unreported, created, activeTokenReminder,
  ]
}

/// `data.status` of a notification: the status of an auto-renewable subscription in Apple's view at
/// the time of signing (R47, app-store.md §2).
package enum SubscriptionStatus: Int64, Hashable, Sendable, CaseIterable {
  case active = 1
  case expired = 2
  case billingRetry = 3
  case grace = 4
  case revoked = 5

  /// Apple's status for an evaluated status; nil when Apple has none.
  package init?(_ status: DetailedStatus) {
    switch status {
    case .active: self = .active
    case .grace: self = .grace
    case .billingRetry: self = .billingRetry
    case .expired: self = .expired
    case .revoked: self = .revoked
    case .replaced, .upcoming, .consumed, .undetermined: return nil
    }
  }

  /// The name in messages, such as `GRACE`.
  package var name: String {
    switch self {
    case .active: "ACTIVE"
    case .expired: "EXPIRED"
    case .billingRetry: "BILLING_RETRY"
    case .grace: "GRACE"
    case .revoked: "REVOKED"
    }
  }
}
