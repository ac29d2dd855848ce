/// `notificationType` and `subtype` of the notifications that life cycles send.
struct NotificationName: Hashable, Sendable {
  let type: String
  let subtype: String?

  init(_ type: String, _ subtype: String? = nil) {
    self.type = type
    self.subtype = subtype
  }

  static let firstSubscription = NotificationName("SUBSCRIBED", "INITIAL_BUY")
  static let resubscription = NotificationName("SUBSCRIBED", "RESUBSCRIBE")
  static let renewal = NotificationName("DID_RENEW")
  static let billingRecovery = NotificationName("DID_RENEW", "BILLING_RECOVERY")
  static let renewalFailedIntoGrace = NotificationName("DID_FAIL_TO_RENEW", "GRACE_PERIOD")
  static let renewalFailed = NotificationName("DID_FAIL_TO_RENEW")
  static let gracePeriodExpired = NotificationName("GRACE_PERIOD_EXPIRED")
  static let expiredVoluntarily = NotificationName("EXPIRED", "VOLUNTARY")
  static let expiredForBilling = NotificationName("EXPIRED", "BILLING_RETRY")
  static let expiredForPrice = NotificationName("EXPIRED", "PRICE_INCREASE")
  static let expiredForProduct = NotificationName("EXPIRED", "PRODUCT_NOT_FOR_SALE")
  static let expired = NotificationName("EXPIRED")
  static let autoRenewDisabled = NotificationName(
    "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED")
  static let autoRenewEnabled = NotificationName(
    "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED")
  static let upgrade = NotificationName("DID_CHANGE_RENEWAL_PREF", "UPGRADE")
  static let downgrade = NotificationName("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE")
  static let preferenceReset = NotificationName("DID_CHANGE_RENEWAL_PREF")
  static let offerRedeemed = NotificationName("OFFER_REDEEMED")
  static let offerRedeemedAtFirst = NotificationName("OFFER_REDEEMED", "INITIAL_BUY")
  static let offerRedeemedToResubscribe = NotificationName("OFFER_REDEEMED", "RESUBSCRIBE")
  static let offerRedeemedToUpgrade = NotificationName("OFFER_REDEEMED", "UPGRADE")
  static let offerRedeemedToDowngrade = NotificationName("OFFER_REDEEMED", "DOWNGRADE")
  static let priceIncreasePending = NotificationName("PRICE_INCREASE", "PENDING")
  static let priceIncreaseAccepted = NotificationName("PRICE_INCREASE", "ACCEPTED")
  static let refund = NotificationName("REFUND")
  static let refundReversed = NotificationName("REFUND_REVERSED")
  static let refundDeclined = NotificationName("REFUND_DECLINED")
  static let consumptionRequest = NotificationName("CONSUMPTION_REQUEST")
  static let sharingEnded = NotificationName("REVOKE")
  static let renewalExtended = NotificationName("RENEWAL_EXTENDED")
  static let massExtensionDone = NotificationName("RENEWAL_EXTENSION", "SUMMARY")
  static let extensionFailed = NotificationName("RENEWAL_EXTENSION", "FAILURE")
  static let oneTimeCharge = NotificationName("ONE_TIME_CHARGE")
  static let priceChange = NotificationName("PRICE_CHANGE")
  static let metadataUpdate = NotificationName("METADATA_UPDATE")
  static let migration = NotificationName("MIGRATION")
  static let externalTokenCreated = NotificationName("EXTERNAL_PURCHASE_TOKEN", "CREATED")
  static let externalTokenReminder = NotificationName(
    "EXTERNAL_PURCHASE_TOKEN", "ACTIVE_TOKEN_REMINDER")
  static let externalTokenUnreported = NotificationName(
    "EXTERNAL_PURCHASE_TOKEN", "UNREPORTED")
  static let consentRescinded = NotificationName("RESCIND_CONSENT")
  static let test = NotificationName("TEST")
}
