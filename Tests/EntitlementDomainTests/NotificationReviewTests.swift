import EntitlementDomain
import Testing

@Suite("Review of notifications")
struct NotificationReviewTests {
  static let uuid: NotificationUUID = "b1f0c6d2-4a37-4e59-8c1b-6d2f9e8a7054"
  static let subscription = Given.period(1, from: 0)
  static let renewal = Given.renewal(signed: 0) { $0.renewalDate = Given.day(30) }

  /// A verified notification.
  static func notification(
    _ type: String, _ subtype: String? = nil, status: Int64? = nil, at day: Double? = 1,
    scope: AppScope? = Given.scope, reason: String? = nil
  ) -> SignedNotification {
    let record = NotificationRecord(
      uuid: uuid, type: type, subtype: subtype, scope: scope, status: status,
      signedDate: day.map(Given.day), digest: Given.digest(99))
    return SignedNotification(
      record: record, signed: SignedPayload(header: [], payload: [], signature: []),
      consumptionRequestReason: reason)
  }

  static func events(
    _ notification: SignedNotification, bringing inner: [Fact] = [], facts: [Fact] = [],
    catalog: Catalog = Given.catalog
  ) -> [FeedEvent] {
    NotificationReview.events(
      of: notification, bringing: inner, facts: inner + facts, catalog: catalog)
  }

  private static func event(
    _ kind: FeedEventKind, deadline: Milliseconds? = nil, refetch: RefetchReason? = nil,
    detail: String? = nil
  ) -> FeedEvent {
    FeedEvent(
      kind: kind, notificationUUID: uuid, originalTransactionID: "c1", transactionID: "t1",
      deadline: deadline, refetchReason: refetch, detail: detail)
  }

  // MARK: Events of types

  @Test(
    "Each type has its own event, or none",
    arguments: [
      ("CONSUMPTION_REQUEST", nil, .consumptionRequested), ("REFUND", nil, .refunded),
      ("REFUND_DECLINED", nil, .refundDeclined), ("REFUND_REVERSED", nil, .refundReversed),
      ("REVOKE", nil, .sharingEnded), ("PRICE_INCREASE", "PENDING", .priceConsentNeeded),
      ("PRICE_INCREASE", "ACCEPTED", nil), ("DID_RENEW", nil, nil), ("REFUND", "NEW", .refunded),
      ("NEW_TYPE", nil, nil), ("NEW_TYPE", "PENDING", nil), ("METADATA_UPDATE", nil, nil),
      ("refund", nil, nil),
    ] as [(String, String?, FeedEventKind?)])
  func kinds(type: String, subtype: String?, kind: FeedEventKind?) {
    let events = Self.events(
      Self.notification(type, subtype, status: 1),
      bringing: [.transaction(Self.subscription), .renewalInfo(Self.renewal)])
    #expect(events.map(\.kind) == [kind].compactMap(\.self))
    #expect(events.allSatisfy { $0.originalTransactionID == "c1" && $0.transactionID == "t1" })
  }

  @Test func `a consumption request has 12 hours, and Apple's reason`() {
    let inner = [Fact.transaction(Given.purchase(1, product: "coins", type: .consumable, at: 0))]
    func events(reason: String?, at day: Double? = 1) -> [FeedEvent] {
      Self.events(
        Self.notification("CONSUMPTION_REQUEST", at: day, reason: reason), bringing: inner)
    }
    let expected = FeedEvent(
      kind: .consumptionRequested, notificationUUID: Self.uuid, originalTransactionID: "t1",
      transactionID: "t1", deadline: Given.day(1.5), detail: "UNINTENDED_PURCHASE")
    #expect(events(reason: "UNINTENDED_PURCHASE") == [expected])
    #expect(events(reason: nil).map(\.detail) == [nil])
    #expect(events(reason: String(repeating: "A", count: 1_000)).first?.detail?.utf8.count == 64)
    // Without a renewal date there is no deadline.
    #expect(events(reason: nil, at: nil).map(\.deadline) == [nil])
    // The largest moment does not trap.
    var late = Self.notification("CONSUMPTION_REQUEST")
    late.record.signedDate = Milliseconds(.max)
    #expect(Self.events(late, bringing: inner).first?.deadline == Milliseconds(.max))
  }

  @Test func `the deadline of a price consent is the renewal date`() {
    let events = Self.events(
      Self.notification("PRICE_INCREASE", "PENDING", status: 1),
      bringing: [.transaction(Self.subscription), .renewalInfo(Self.renewal)])
    #expect(events == [Self.event(.priceConsentNeeded, deadline: Given.day(30))])
  }

  @Test func `rescinded consent names no purchase, and no refetch would help`() {
    let app = AppTransactionFact(
      bundleID: "com.example.scribe", environment: .production, signedDate: Given.day(1),
      digest: Given.digest(3))
    for inner in [[Fact.appTransaction(app)], []] {
      #expect(
        Self.events(Self.notification("RESCIND_CONSENT"), bringing: inner)
          == [FeedEvent(kind: .consentRescinded, notificationUUID: Self.uuid)])
    }
  }

  @Test(
    "Notifications without a purchase have no events (case 25)",
    arguments: [
      ("TEST", nil), ("RENEWAL_EXTENSION", "SUMMARY"), ("EXTERNAL_PURCHASE_TOKEN", "CREATED"),
      ("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED"), ("NEW_TYPE", nil), ("DID_RENEW", "NEW"),
    ] as [(String, String?)])
  func silent(type: String, subtype: String?) {
    #expect(Self.events(Self.notification(type, subtype)).isEmpty)
  }

  @Test func `a notification without an app has no events`() {
    #expect(Self.events(Self.notification("REFUND", scope: nil)).isEmpty)
  }

  // MARK: Refetch: payloads

  @Test(
    "A notification about a purchase without its payload is reported",
    arguments: [
      ("DID_RENEW", nil, [], "signedTransactionInfo, signedRenewalInfo"),
      ("DID_RENEW", nil, [.transaction], "signedRenewalInfo"),
      ("DID_RENEW", nil, [.renewalInfo], "signedTransactionInfo"),
      ("DID_RENEW", nil, [.transaction, .renewalInfo], nil),
      ("METADATA_UPDATE", nil, [.transaction], "signedRenewalInfo"),
      ("RENEWAL_EXTENSION", "FAILURE", [], "signedTransactionInfo"),
      ("RENEWAL_EXTENSION", "FAILURE", [.transaction], nil),
      ("ONE_TIME_CHARGE", nil, [], "signedTransactionInfo"),
      ("REFUND_REVERSED", nil, [.renewalInfo], "signedTransactionInfo"),
    ] as [(String, String?, [FactKind], String?)])
  func missingPayload(type: String, subtype: String?, kinds: [FactKind], detail: String?) {
    let inner: [Fact] = kinds.map { kind in
      kind == .transaction ? .transaction(Self.subscription) : .renewalInfo(Self.renewal)
    }
    let refetches = Self.events(Self.notification(type, subtype), bringing: inner)
      .filter { $0.kind == .refetchDue }
    #expect(refetches.map(\.refetchReason) == (detail == nil ? [] : [.payloadMissing]))
    #expect(refetches.map(\.detail) == (detail == nil ? [] : [detail]))
    #expect(refetches.allSatisfy { $0.originalTransactionID == (kinds.isEmpty ? nil : "c1") })
  }

  @Test func `shared purchases, and products that do not renew, need no renewal info`() {
    for ownership in [OwnershipType.familyShared, .assigned] {
      let shared = Given.period(1, from: 0) { $0.ownership = ownership }
      let notification = Self.notification("SUBSCRIBED", "INITIAL_BUY", status: 1)
      #expect(Self.events(notification, bringing: [.transaction(shared)]).isEmpty)
    }
    let unsaid = Given.period(1, from: 0) { $0.ownership = nil }
    #expect(
      Self.events(Self.notification("DID_RENEW"), bringing: [.transaction(unsaid)]).map(\.detail)
        == ["signedRenewalInfo"])
  }

  @Test func `a renewal info of another chain is ignored`() {
    let other = Given.renewal(of: "c2", signed: 0) { $0.renewalDate = Given.day(20) }
    let events = Self.events(
      Self.notification("PRICE_INCREASE", "PENDING", status: 1),
      bringing: [.transaction(Self.subscription), .renewalInfo(other)])
    #expect(
      events == [
        Self.event(.priceConsentNeeded),
        Self.event(.refetchDue, refetch: .payloadMissing, detail: "signedRenewalInfo"),
      ])
  }

  // MARK: Refetch: successors

  @Test func `R17: an upgraded period is reported until its successor is known`() {
    let upgraded = Given.period(1, product: "basic.monthly", from: 0) { $0.isUpgraded = true }
    let info = Given.renewal(signed: 1)
    let notification = Self.notification("DID_CHANGE_RENEWAL_PREF", "UPGRADE", status: 1)
    let inner: [Fact] = [.transaction(upgraded), .renewalInfo(info)]
    #expect(
      Self.events(notification, bringing: inner)
        == [Self.event(.refetchDue, refetch: .successorMissing)])
    let successor = Given.period(2, from: 1)
    #expect(Self.events(notification, bringing: inner, facts: [.transaction(successor)]).isEmpty)
    // A fact of another chain or environment is not a successor.
    let other = Given.period(2, of: "c2", from: 1)
    let sandbox = Given.period(2, from: 1) { $0.environment = .sandbox }
    for fact in [other, sandbox] {
      #expect(
        Self.events(notification, bringing: inner, facts: [.transaction(fact)])
          .map(\.refetchReason) == [.successorMissing])
    }
  }

  // MARK: Refetch: overdue renewals

  @Test func `R24: an overdue renewal is reported if the notification has no status`() {
    let inner: [Fact] = [.transaction(Self.subscription)]
    let facts: [Fact] = [.renewalInfo(Self.renewal)]
    func reasons(
      _ type: String, status: Int64? = nil, at day: Double = 31, catalog: Catalog = Given.catalog
    ) -> [RefetchReason?] {
      Self.events(
        Self.notification(type, status: status, at: day), bringing: inner, facts: facts,
        catalog: catalog
      ).filter { $0.kind == .refetchDue }.map(\.refetchReason)
    }
    #expect(reasons("REFUND_DECLINED") == [.renewalOverdue])
    #expect(reasons("REFUND_DECLINED", at: 29) == [])
    // A known status explains it or contradicts it; an unknown one does not.
    #expect(reasons("REFUND_DECLINED", status: 2) == [])
    #expect(reasons("REFUND_DECLINED", status: 1) == [.statusMismatch])
    #expect(reasons("REFUND_DECLINED", status: 9) == [.renewalOverdue])
    // The leeway keeps access and has no event.
    var lenient = Given.catalog
    lenient.renewalLeeway = Catalog.maximumRenewalLeeway
    #expect(reasons("REFUND_DECLINED", catalog: lenient) == [.renewalOverdue])
    // These types report themselves that the renewal failed.
    for type in ["EXPIRED", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED"] {
      #expect(!reasons(type).contains(.renewalOverdue))
    }
  }

  @Test func `R24: an overdue renewal is not reported if a fact was signed later`() {
    let later = Given.period(2, from: 32)
    let laterInfo = Given.renewal(signed: 32)
    let events = Self.events(
      Self.notification("REFUND_DECLINED", at: 31), bringing: [.transaction(Self.subscription)],
      facts: [.transaction(later), .renewalInfo(laterInfo)])
    #expect(events.map(\.kind) == [.refundDeclined])
  }
}
