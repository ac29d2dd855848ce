import EntitlementDomain
import StoreSimulator
import Testing

/// A row of the table of rules.md §8, by hand: which life cycle sends it, which events it has,
/// and what the state shows afterwards.
struct NotificationRow: CustomTestStringConvertible {
  /// The state after the notification, and before the next event.
  enum Effect {
    /// The same as before.
    case none
    /// The standing of the group, or of the product outside a group.
    case shows(@Sendable (Standing) -> Bool)
    /// Like ``shows``, but the passing of time has already caused it.
    case confirms(@Sendable (Standing) -> Bool)
  }

  let type: String
  let subtype: String?
  let lifeCycle: LifeCycle
  let effect: Effect
  /// Everything that is expected, except the ids.
  let events: [FeedEvent]

  var testDescription: String { "\(type)/\(subtype ?? "") in \(lifeCycle.rawValue)" }

  private init(
    _ type: String, _ subtype: String? = nil, in lifeCycle: LifeCycle, _ effect: Effect,
    events: [FeedEvent] = []
  ) {
    self.type = type
    self.subtype = subtype
    self.lifeCycle = lifeCycle
    self.effect = effect
    self.events = events
  }

  private static func event(
    _ kind: FeedEventKind, deadline: Milliseconds? = nil, detail: String? = nil
  ) -> FeedEvent {
    FeedEvent(kind: kind, notificationUUID: "", deadline: deadline, detail: detail)
  }

  private static func expired(_ reason: ExpirationReason) -> Effect {
    .shows { $0.status == .expired && $0.expirationReason == reason }
  }

  private static func active(_ product: SimulatedProduct) -> Effect {
    .shows { $0.status == .active && $0.productID == product.id && $0.willRenew == true }
  }

  private static func active(with offer: OfferType, _ product: SimulatedProduct) -> Effect {
    .shows {
      $0.status == .active && $0.productID == product.id && $0.offer?.type == offer
    }
  }

  private static func pending(_ product: SimulatedProduct?) -> Effect {
    .shows {
      $0.status == .active && $0.productID == SimulatedApp.proMonthly.id
        && $0.pendingChange?.productID == product?.id
    }
  }

  /// All life cycles begin here.
  static let start: Milliseconds = 1_761_955_200_000  // 2025-11-01
  static let day = Milliseconds.dayLength

  static let all: [NotificationRow] = subscriptions + changes + refunds + others

  private static let subscriptions = [
    NotificationRow(
      "SUBSCRIBED", "INITIAL_BUY", in: .firstPurchase, active(SimulatedApp.proMonthly)),
    NotificationRow(
      "SUBSCRIBED", "RESUBSCRIBE", in: .resubscribed, active(SimulatedApp.proMonthly)),
    NotificationRow(
      "SUBSCRIBED", "RESUBSCRIBE", in: .wonBackAfterRefund,
      active(with: .winBack, SimulatedApp.proMonthly)),
    NotificationRow(
      "DID_RENEW", in: .freeTrial,
      .shows {
        $0.status == .active && $0.offer?.discountType == .freeTrial && $0.willRenew == true
      }),
    NotificationRow("DID_RENEW", in: .crossgrade, active(SimulatedApp.proYearly)),
    NotificationRow(
      "DID_RENEW", in: .monthlyCommitment,
      .shows { $0.commitment?.billingPeriodNumber == 1 && $0.status == .active }),
    NotificationRow(
      "DID_RENEW", "BILLING_RECOVERY", in: .graceRecovered, active(SimulatedApp.basicMonthly)),
    NotificationRow(
      "DID_RENEW", "BILLING_RECOVERY", in: .billingRecovered, active(SimulatedApp.proMonthly)),
    NotificationRow(
      "DID_FAIL_TO_RENEW", "GRACE_PERIOD", in: .grace,
      .shows { $0.status == .grace && $0.coreState == .active }),
    NotificationRow(
      "DID_FAIL_TO_RENEW", in: .billingRetry,
      .shows { $0.status == .billingRetry && $0.coreState == .inactive }),
    NotificationRow(
      "GRACE_PERIOD_EXPIRED", in: .grace,
      .confirms { $0.status == .billingRetry && $0.coreState == .inactive }),
    NotificationRow("EXPIRED", "VOLUNTARY", in: .expired, expired(.customerCancelled)),
    NotificationRow("EXPIRED", "BILLING_RETRY", in: .billingFailed, expired(.billingError)),
    NotificationRow(
      "EXPIRED", "PRICE_INCREASE", in: .priceIncreaseDeclined, expired(.priceIncreaseDeclined)),
    NotificationRow(
      "EXPIRED", "PRODUCT_NOT_FOR_SALE", in: .productRemoved, expired(.productUnavailable)),
    NotificationRow("EXPIRED", in: .endedForOtherReason, expired(.other)),
  ]

  private static let changes = [
    NotificationRow(
      "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", in: .cancelled,
      .shows { $0.status == .active && $0.willRenew == false }),
    NotificationRow(
      "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", in: .autoRenewalRestored,
      active(SimulatedApp.proMonthly)),
    NotificationRow(
      "DID_CHANGE_RENEWAL_PREF", "UPGRADE", in: .upgrade, active(SimulatedApp.proMonthly)),
    NotificationRow(
      "DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", in: .downgrade, pending(SimulatedApp.basicMonthly)),
    NotificationRow(
      "DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", in: .crossgrade, pending(SimulatedApp.proYearly)),
    NotificationRow("DID_CHANGE_RENEWAL_PREF", in: .downgradeWithdrawn, pending(nil)),
    NotificationRow(
      "OFFER_REDEEMED", in: .offerRedeemed,
      .shows { $0.status == .active && $0.renewalOffer?.type == .offerCode && $0.offer == nil }),
    NotificationRow(
      "OFFER_REDEEMED", "INITIAL_BUY", in: .offerCodeFirst,
      active(with: .offerCode, SimulatedApp.basicMonthly)),
    NotificationRow(
      "OFFER_REDEEMED", "RESUBSCRIBE", in: .offerResubscribed,
      active(with: .offerCode, SimulatedApp.basicMonthly)),
    NotificationRow(
      "OFFER_REDEEMED", "UPGRADE", in: .offerUpgrade,
      active(with: .offerCode, SimulatedApp.proMonthly)),
    NotificationRow(
      "OFFER_REDEEMED", "DOWNGRADE", in: .offerDowngrade, pending(SimulatedApp.basicMonthly)),
    NotificationRow(
      "PRICE_INCREASE", "PENDING", in: .priceIncrease,
      .shows { $0.status == .active && $0.priceConsent == .pending },
      // 2025-12-01: the renewal.
      events: [event(.priceConsentNeeded, deadline: 1_764_547_200_000)]),
    NotificationRow(
      "PRICE_INCREASE", "ACCEPTED", in: .priceIncrease,
      .shows { $0.status == .active && $0.priceConsent == .accepted }),
    NotificationRow("MIGRATION", in: .advancedCommerce, .none),
    NotificationRow("METADATA_UPDATE", in: .advancedCommerce, .none),
    NotificationRow("PRICE_CHANGE", in: .advancedCommerce, .none),
    NotificationRow(
      "RENEWAL_EXTENDED", in: .renewalExtended,
      // 2025-12-15: two weeks after the period's first end.
      .shows { $0.status == .active && $0.periodEnd == 1_765_756_800_000 }),
    NotificationRow("RENEWAL_EXTENSION", "SUMMARY", in: .massExtension, .none),
    NotificationRow("RENEWAL_EXTENSION", "FAILURE", in: .extensionFailed, .none),
  ]

  private static let refunds = [
    NotificationRow(
      "REFUND", in: .refunded,
      .shows { $0.status == .revoked && $0.revocation?.type == .refundFull },
      events: [event(.refunded)]),
    // That transaction alone: the third period goes on.
    NotificationRow("REFUND", in: .earlierPeriodRefunded, .none, events: [event(.refunded)]),
    NotificationRow(
      "REFUND", in: .nonConsumableRefunded, .shows { $0.status == .revoked },
      events: [event(.refunded)]),
    NotificationRow(
      "REFUND_REVERSED", in: .refundReversed,
      .shows { $0.status == .active && $0.revocation == nil && $0.coreState == .active },
      events: [event(.refundReversed)]),
    NotificationRow(
      "REFUND_DECLINED", in: .refundDeclined, .none, events: [event(.refundDeclined)]),
    NotificationRow(
      "CONSUMPTION_REQUEST", in: .refundDeclined, .none,
      events: [
        event(
          .consumptionRequested, deadline: start.advanced(by: 9 * day + day / 2),
          detail: "UNSATISFIED_WITH_PURCHASE")
      ]),
    NotificationRow(
      "CONSUMPTION_REQUEST", in: .consumableRefunded, .none,
      events: [
        event(
          .consumptionRequested, deadline: start.advanced(by: 4 * day + day / 2),
          detail: "UNINTENDED_PURCHASE")
      ]),
    NotificationRow(
      "REVOKE", in: .familySharingEnded,
      .shows { $0.status == .revoked && $0.ownership == .familyShared },
      events: [event(.sharingEnded)]),
    NotificationRow(
      "REVOKE", in: .seatRevoked, .shows { $0.status == .revoked && $0.ownership == .assigned },
      events: [event(.sharingEnded)]),
  ]

  private static let others = [
    NotificationRow("ONE_TIME_CHARGE", in: .consumable, .shows { $0.status == .consumed }),
    NotificationRow("ONE_TIME_CHARGE", in: .nonConsumable, .shows { $0.status == .active }),
    NotificationRow(
      "ONE_TIME_CHARGE", in: .nonRenewing,
      // 2026-02-01.
      .shows { $0.status == .active && $0.periodEnd == 1_769_904_000_000 }),
    NotificationRow("EXTERNAL_PURCHASE_TOKEN", "CREATED", in: .externalPurchase, .none),
    NotificationRow(
      "EXTERNAL_PURCHASE_TOKEN", "ACTIVE_TOKEN_REMINDER", in: .externalPurchase, .none),
    NotificationRow("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED", in: .externalPurchase, .none),
    NotificationRow(
      "RESCIND_CONSENT", in: .consentRescinded, .none, events: [event(.consentRescinded)]),
    NotificationRow("TEST", in: .testNotification, .none),
  ]
}
