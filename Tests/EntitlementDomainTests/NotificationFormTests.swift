import EntitlementDomain
import Testing

@Suite("Forms of notification types and subtypes (rules.md §8)")
struct NotificationFormTests {
  /// The table of app-store.md §2.
  static let types = [
    "SUBSCRIBED", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "OFFER_REDEEMED",
    "DID_RENEW", "EXPIRED", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "PRICE_INCREASE",
    "PRICE_CHANGE", "REFUND", "REFUND_DECLINED", "REFUND_REVERSED", "CONSUMPTION_REQUEST",
    "RENEWAL_EXTENDED", "RENEWAL_EXTENSION", "REVOKE", "TEST", "EXTERNAL_PURCHASE_TOKEN",
    "ONE_TIME_CHARGE", "RESCIND_CONSENT", "METADATA_UPDATE", "MIGRATION",
  ]
  static let subtypes = [
    "INITIAL_BUY", "RESUBSCRIBE", "DOWNGRADE", "UPGRADE", "AUTO_RENEW_ENABLED",
    "AUTO_RENEW_DISABLED", "VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "GRACE_PERIOD",
    "PENDING", "ACCEPTED", "BILLING_RECOVERY", "PRODUCT_NOT_FOR_SALE", "SUMMARY", "FAILURE",
    "UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER",
  ]

  typealias Row = (
    type: String, subtypes: [String?], subject: NotificationSubject,
    contents: NotificationForm.Contents
  )
  static let both: NotificationForm.Contents = [.transaction, .renewalInfo]
  /// The table of rules.md §8.
  static let rows: [Row] = [
    ("SUBSCRIBED", ["INITIAL_BUY", "RESUBSCRIBE"], .data, both),
    ("DID_RENEW", [nil, "BILLING_RECOVERY"], .data, both),
    ("DID_FAIL_TO_RENEW", [nil, "GRACE_PERIOD"], .data, both),
    ("GRACE_PERIOD_EXPIRED", [nil], .data, both),
    (
      "EXPIRED", [nil, "VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE"],
      .data, both
    ),
    ("DID_CHANGE_RENEWAL_STATUS", ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"], .data, both),
    ("DID_CHANGE_RENEWAL_PREF", [nil, "UPGRADE", "DOWNGRADE"], .data, both),
    (
      "OFFER_REDEEMED", [nil, "INITIAL_BUY", "RESUBSCRIBE", "UPGRADE", "DOWNGRADE"], .data, both
    ),
    ("PRICE_INCREASE", ["PENDING", "ACCEPTED"], .data, both),
    ("PRICE_CHANGE", [nil], .data, both), ("METADATA_UPDATE", [nil], .data, both),
    ("MIGRATION", [nil], .data, both), ("REFUND", [nil], .data, .transaction),
    ("REFUND_REVERSED", [nil], .data, .transaction),
    ("REFUND_DECLINED", [nil], .data, .transaction),
    ("CONSUMPTION_REQUEST", [nil], .data, .transaction), ("REVOKE", [nil], .data, .transaction),
    ("RENEWAL_EXTENDED", [nil], .data, both), ("RENEWAL_EXTENSION", ["SUMMARY"], .summary, []),
    ("RENEWAL_EXTENSION", ["FAILURE"], .data, .transaction),
    ("ONE_TIME_CHARGE", [nil], .data, .transaction),
    (
      "EXTERNAL_PURCHASE_TOKEN", ["CREATED", "ACTIVE_TOKEN_REMINDER", "UNREPORTED"],
      .externalPurchaseToken, []
    ),
    ("RESCIND_CONSENT", [nil], .appData, .appTransaction), ("TEST", [nil], .data, []),
  ]

  @Test func `exactly Apple's types and subtypes are known`() {
    #expect(NotificationType.known.map(\.rawValue).sorted() == Self.types.sorted())
    #expect(NotificationSubtype.known.map(\.rawValue).sorted() == Self.subtypes.sorted())
    for other in ["", "test", "TEST ", "NEW_TYPE", "INITIAL_BUY"] {
      #expect(!NotificationType(rawValue: other).isKnown)
    }
    #expect(!NotificationSubtype(rawValue: "SUBSCRIBED").isKnown)
  }

  @Test func `each row of the table is a form, and there are no others`() throws {
    var count = 0
    for row in Self.rows {
      for subtype in row.subtypes {
        let form = try #require(
          NotificationForm.known(
            NotificationType(rawValue: row.type), subtype.map(NotificationSubtype.init(rawValue:))),
          "\(row.type)/\(subtype ?? "")")
        #expect(form.subject == row.subject, "\(row.type)")
        #expect(form.contents == row.contents, "\(row.type)")
        count += 1
      }
    }
    #expect(NotificationForm.all.count == count)
    #expect(Set(NotificationForm.all.map(\.type)) == Set(NotificationType.known))
    #expect(Set(NotificationForm.all.compactMap(\.subtype)) == Set(NotificationSubtype.known))
  }

  @Test func `not every combination of known types and subtypes is known`() {
    var known = 0
    for type in NotificationType.known {
      for subtype in NotificationSubtype.known.map(Optional.some) + [nil] {
        known += NotificationForm.known(type, subtype) == nil ? 0 : 1
      }
    }
    #expect(known == NotificationForm.all.count)
    #expect(NotificationForm.known(.test, .summary) == nil)
    #expect(NotificationForm.known(.subscribed, nil) == nil)
    #expect(NotificationForm.known(NotificationType(rawValue: "NEW_TYPE"), nil) == nil)
  }
}
