/// The member that a notification is about.
package enum NotificationSubject: Hashable, Sendable {
  case data
  case summary
  case externalPurchaseToken
  case appData
  /// Another object that names an app and an environment: a form that is not known yet (R10).
  /// Signed payloads inside it are not read.
  case unknown
}

/// The expected form of a notification of one type and subtype: a row of the table in rules.md §8.
///
/// A notification of another form is accepted, and its facts are merged (R2, R10).
package struct NotificationForm: Hashable, Sendable {
  /// The signed payloads that a notification contains.
  package struct Contents: OptionSet, Hashable, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let transaction = Contents(rawValue: 1)
    /// Only for auto-renewable subscriptions, and only for the purchaser.
    package static let renewalInfo = Contents(rawValue: 2)
    package static let appTransaction = Contents(rawValue: 4)

    /// Apple's names of the fields, separated by commas, for messages.
    package var fieldNames: String {
      [
        contains(.transaction) ? "signedTransactionInfo" : nil,
        contains(.renewalInfo) ? "signedRenewalInfo" : nil,
        contains(.appTransaction) ? "signedAppTransactionInfo" : nil,
      ].compactMap(\.self).joined(separator: ", ")
    }
  }

  package let type: NotificationType
  /// Nil for a notification without a subtype.
  package let subtype: NotificationSubtype?
  /// The member that the notification is about.
  package let subject: NotificationSubject
  package let contents: Contents

  /// The form of a type and subtype; nil when the pair is not known.
  package static func known(
    _ type: NotificationType, _ subtype: NotificationSubtype?
  ) -> NotificationForm? {
    byName[Name(type: type, subtype: subtype)]
  }

  /// All known forms, in the order of the table.
  package static let all: [NotificationForm] = [
    forms(.subscribed, [.initialBuy, .resubscribe], .data, subscription),
    forms(.didRenew, [nil, .billingRecovery], .data, subscription),
    forms(.didFailToRenew, [.gracePeriod, nil], .data, subscription),
    forms(.gracePeriodExpired, [nil], .data, subscription),
    forms(
      .expired, [.voluntary, .billingRetry, .priceIncrease, .productNotForSale, nil], .data,
      subscription),
    forms(
      .didChangeRenewalStatus, [.autoRenewEnabled, .autoRenewDisabled], .data, subscription),
    forms(.didChangeRenewalPreference, [.upgrade, .downgrade, nil], .data, subscription),
    forms(
      .offerRedeemed, [nil, .initialBuy, .resubscribe, .upgrade, .downgrade], .data,
      subscription),
    forms(.priceIncrease, [.pending, .accepted], .data, subscription),
    forms(.priceChange, [nil], .data, subscription),
    forms(.metadataUpdate, [nil], .data, subscription),
    forms(.migration, [nil], .data, subscription),
    forms(.refund, [nil], .data, .transaction),
    forms(.refundReversed, [nil], .data, .transaction),
    forms(.refundDeclined, [nil], .data, .transaction),
    forms(.consumptionRequest, [nil], .data, .transaction),
    forms(.revoke, [nil], .data, .transaction),
    forms(.renewalExtended, [nil], .data, subscription),
    forms(.renewalExtension, [.summary], .summary, []),
    forms(.renewalExtension, [.failure], .data, .transaction),
    forms(.oneTimeCharge, [nil], .data, .transaction),
    forms(
      .externalPurchaseToken, [.created, .activeTokenReminder, .unreported],
      .externalPurchaseToken, []),
    forms(.rescindConsent, [nil], .appData, .appTransaction),
    forms(.test, [nil], .data, []),
  ].flatMap(\.self)

  private struct Name: Hashable {
    let type: NotificationType
    let subtype: NotificationSubtype?
  }

  private static let byName = Dictionary(
    all.map { (Name(type: $0.type, subtype: $0.subtype), $0) }
  ) { first, _ in first }

  private static let subscription: Contents = [.transaction, .renewalInfo]

  private static func forms(
    _ type: NotificationType, _ subtypes: [NotificationSubtype?],
    _ subject: NotificationSubject, _ contents: Contents
  ) -> [NotificationForm] {
    subtypes.map { subtype in
      NotificationForm(type: type, subtype: subtype, subject: subject, contents: contents)
    }
  }
}
