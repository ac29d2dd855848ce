import EntitlementDomain
import Testing

@Suite("What is heard first")
struct FirstHeardTests {
  // MARK: Renewals charged ahead

  private static func renewal(
    _ id: Int = 2, from start: Double = 30, signed: Double = 29.5,
    change: (inout TransactionFact) -> Void = { _ in }
  ) -> TransactionFact {
    Given.period(id, from: start) {
      $0.signedDate = Given.day(signed)
      $0.transactionReason = "RENEWAL"
      change(&$0)
    }
  }

  @Test("R60: a renewal charged ahead gives access from its signing, if nothing came before it")
  func chargedAhead() throws {
    let facts = [Self.renewal()]
    let infos = [Given.renewal(signed: 29.5) { $0.renewalDate = Given.day(60) }]
    let before = Given.state(facts, infos, at: 29.4)
    #expect(before.group("g1")?.status == .upcoming)
    #expect(before.nextTransitionAt == Given.day(29.5))
    let early = Given.state(facts, infos, at: 29.5)
    let standing = try #require(early.group("g1"))
    #expect(early.coreState == .active)
    #expect(standing.status == .active)
    #expect(standing.notices == [.predecessorMissing])
    #expect(standing.willRenew == true)
    #expect(standing.periodStart == Given.day(30))
    #expect(early.sources(of: "pro").map(\.since) == [Given.day(29.5)])
    #expect(early.ends(of: "pro") == [Given.day(60)])
    #expect(early.nextTransitionAt == Given.day(30))
    #expect(early.callsToAction == [.none])
    let begun = Given.state(facts, infos, at: 30)
    #expect(begun.group("g1")?.status == .active)
    #expect(begun.group("g1")?.notices == [])
    #expect(begun.nextTransitionAt == Given.day(60))
  }

  @Test(
    "R60: a purchase, a transaction without a reason, and a renewal of a known period wait",
    arguments: ["PURCHASE", nil, "RENEWAL"] as [String?])
  func notEarly(reason: String?) {
    var facts = [Self.renewal { $0.transactionReason = reason }]
    if reason == "RENEWAL" {
      facts.append(Given.period(1, from: 0, to: 30) { $0.revocationDate = Given.day(5) })
    }
    let standing = Given.state(facts, at: 29.9).group("g1")
    #expect(standing?.coreState == .inactive)
    #expect(standing?.notices == [])
  }

  @Test("R60: an earlier period that ended before does not come before it")
  func afterGap() {
    let facts = [Given.period(1, from: 0, to: 20), Self.renewal()]
    #expect(Given.state(facts, at: 29).group("g1")?.status == .expired)
    let early = Given.state(facts, at: 29.5).group("g1")
    #expect(early?.transactionID == "t2")
    #expect(early?.notices == [.predecessorMissing])
    // The period in between becomes known.
    let complete = facts + [Given.period(3, from: 20, to: 30)]
    #expect(Given.state(complete, at: 29.5).group("g1")?.transactionID == "t3")
    #expect(Given.state(complete, at: 29.5).group("g1")?.notices == [])
  }

  @Test("R60: a refund ends the early access, and its notice stays while nothing earlier is known")
  func refunded() {
    let facts = [Self.renewal { $0.revocationDate = Given.day(29.8) }]
    #expect(Given.state(facts, at: 29.7).ends(of: "pro") == [Given.day(29.8)])
    for moment in [29.8, 35, 100] {
      let standing = Given.state(facts, at: moment).group("g1")
      #expect(standing?.status == .revoked)
      #expect(standing?.notices == [.predecessorMissing])
    }
    let known = facts + [Given.period(1, from: -60, to: -30)]
    #expect(Given.state(known, at: 35).group("g1")?.notices == [])
  }

  @Test("R60: a product outside the catalog is told the same, and confers nothing")
  func unnamed() {
    let state = Given.state([Self.renewal { $0.productID = "elsewhere" }], at: 29.6)
    #expect(state.coreState == .inactive)
    #expect(state.group("g1")?.status == .active)
    #expect(state.group("g1")?.notices == [.productUnknown, .predecessorMissing])
  }

  @Test("R60, R31: the explanation says that the period before is not known")
  func explained() throws {
    let explanation = Evaluation.explain(
      Given.record([Self.renewal()]), catalog: Given.catalog, at: Given.day(29.6))
    let reasoning = try #require(explanation.entitlements.first { $0.entitlementID == "pro" })
      .reasoning
    #expect(reasoning.decision.rule == 60)
    #expect(reasoning.decision.sentence.contains("renews a period that is not known"))
    #expect(reasoning.decision.sentence.contains("2026-03-02T00:00:00Z"))
    #expect(reasoning.changes.contains { $0.at == nil && $0.decision.rule == 60 })
  }

  // MARK: The table

  /// A row of the table of R61.
  struct Row: CustomTestStringConvertible {
    let type: String
    var subtype: String?
    let fact: String
    /// The transaction that is in force on day 10 to day 40, unless `fact` says otherwise.
    let transaction: TransactionFact?
    var info: RenewalInfoFact?
    let day: Double
    /// Apple's `data.status`.
    let apple: SubscriptionStatus?
    let told: DetailedStatus?
    var notices: [Notice] = []
    var refetch: [RefetchReason] = []

    var testDescription: String { "\(type) \(subtype ?? "–"): \(fact)" }
  }

  private static let current = Given.period(1, from: 10, to: 40) {
    $0.transactionReason = "RENEWAL"
  }
  private static let ended = Given.period(1, from: -20, to: 10) { $0.transactionReason = "RENEWAL" }
  private static let bought = Given.period(1, from: 10, to: 40) {
    $0.transactionReason = "PURCHASE"
  }
  private static let on = Given.renewal(signed: 20) { $0.renewalDate = Given.day(40) }

  private static func failed(graceUntil graceEnd: Double? = nil) -> RenewalInfoFact {
    Given.renewal(signed: 40.1) {
      $0.renewalDate = Given.day(40)
      $0.isInBillingRetryPeriod = true
      $0.gracePeriodExpiresDate = graceEnd.map(Given.day)
    }
  }

  private static func revoked(_ transaction: TransactionFact, at day: Double) -> TransactionFact {
    var transaction = transaction
    transaction.revocationDate = Given.day(day)
    return transaction
  }

  static let rows: [Row] =
    inForce + [
      Row(
        type: "SUBSCRIBED", subtype: "INITIAL_BUY", fact: "the purchase", transaction: bought,
        info: on, day: 20, apple: .active, told: .active),
      Row(
        type: "SUBSCRIBED", subtype: "RESUBSCRIBE", fact: "the purchase", transaction: bought,
        info: on, day: 20, apple: .active, told: .active),
      Row(
        type: "DID_CHANGE_RENEWAL_PREF", subtype: "UPGRADE", fact: "the old period",
        transaction: Given.period(1, from: 10, to: 40) { $0.isUpgraded = true }, info: on, day: 20,
        apple: .active, told: .active, notices: [.successorMissing],
        refetch: [.successorMissing]),
      Row(
        type: "DID_FAIL_TO_RENEW", subtype: "GRACE_PERIOD", fact: "the ended period",
        transaction: current, info: failed(graceUntil: 56), day: 40.1, apple: .grace, told: .grace),
      Row(
        type: "DID_FAIL_TO_RENEW", fact: "the ended period", transaction: current, info: failed(),
        day: 40.1, apple: .billingRetry, told: .billingRetry),
      Row(
        type: "DID_FAIL_TO_RENEW", fact: "before the period ends", transaction: current,
        info: failed(), day: 39.9, apple: .billingRetry, told: .active, refetch: [.statusMismatch]),
      Row(
        type: "GRACE_PERIOD_EXPIRED", fact: "the ended period", transaction: current,
        info: failed(graceUntil: 56), day: 56, apple: .billingRetry, told: .billingRetry),
    ] + expired + chargedAhead + disputed + withoutSubscription

  private static let inForce: [Row] =
    [
      ("DID_RENEW", nil), ("DID_RENEW", "BILLING_RECOVERY"),
      ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"),
      ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"), ("DID_CHANGE_RENEWAL_PREF", nil),
      ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"),
      ("OFFER_REDEEMED", nil), ("PRICE_INCREASE", "PENDING"), ("PRICE_INCREASE", "ACCEPTED"),
      ("PRICE_CHANGE", nil), ("METADATA_UPDATE", nil), ("MIGRATION", nil),
      ("RENEWAL_EXTENDED", nil), ("RENEWAL_EXTENSION", "FAILURE"), ("REFUND_REVERSED", nil),
      ("REFUND_DECLINED", nil), ("CONSUMPTION_REQUEST", nil),
    ].map { type, subtype in
      Row(
        type: type, subtype: subtype, fact: "the period in force", transaction: current, info: on,
        day: 20, apple: .active, told: .active)
    }

  private static let expired: [Row] =
    ["VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE", nil].enumerated().map {
      index, subtype in
      Row(
        type: "EXPIRED", subtype: subtype, fact: "the ended period", transaction: current,
        info: Given.renewal(signed: 40.1, autoRenews: false) {
          $0.renewalDate = Given.day(40)
          $0.expirationIntent = ExpirationIntent(rawValue: Int64(index + 1))
        }, day: 40.1, apple: .expired, told: .expired)
    }

  private static let chargedAhead: [Row] =
    [
      ("DID_RENEW", nil), ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"),
      ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"),
    ].flatMap { type, subtype -> [Row] in
      let info = Given.renewal(signed: 29.5) { $0.renewalDate = Given.day(60) }
      return [
        Row(
          type: type, subtype: subtype, fact: "a renewal charged ahead", transaction: renewal(),
          info: info, day: 29.6, apple: .active, told: .active, notices: [.predecessorMissing],
          refetch: [.predecessorMissing]),
        Row(
          type: type, subtype: subtype, fact: "charged ahead, without a reason",
          transaction: renewal { $0.transactionReason = nil }, info: info, day: 29.6,
          apple: .active, told: .upcoming, refetch: [.statusMismatch]),
      ]
    }

  private static let disputed: [Row] =
    [
      Row(
        type: "REFUND", fact: "the current period", transaction: revoked(bought, at: 19), day: 20,
        apple: .revoked, told: .revoked),
      Row(
        type: "REVOKE", fact: "the current period", transaction: revoked(bought, at: 19), day: 20,
        apple: .revoked, told: .revoked),
      Row(
        type: "REFUND", fact: "before the SUBSCRIBED of a return",
        transaction: revoked(bought, at: 19), day: 20, apple: .active, told: .revoked,
        refetch: [.statusMismatch]),
      Row(
        type: "REFUND", fact: "a renewal", transaction: revoked(current, at: 19), day: 20,
        apple: .revoked, told: .revoked, notices: [.predecessorMissing],
        refetch: [.predecessorMissing]),
      Row(
        type: "REFUND", fact: "an earlier period", transaction: revoked(ended, at: 19), day: 20,
        apple: .active, told: .revoked, notices: [.predecessorMissing],
        refetch: [.predecessorMissing, .statusMismatch]),
      Row(
        type: "REVOKE", fact: "a renewal", transaction: revoked(current, at: 19), day: 20,
        apple: .revoked, told: .revoked, notices: [.predecessorMissing],
        refetch: [.predecessorMissing]),
    ]
    + ["REFUND_REVERSED", "REFUND_DECLINED", "CONSUMPTION_REQUEST"].map { type in
      Row(
        type: type, fact: "an earlier period", transaction: ended, day: 20, apple: .active,
        told: .expired, refetch: [.statusMismatch])
    }

  private static let withoutSubscription: [Row] = [
    Row(
      type: "ONE_TIME_CHARGE", fact: "the purchase",
      transaction: Given.purchase(1, product: "adfree", type: .nonConsumable, at: 10), day: 20,
      apple: nil, told: .active),
    Row(
      type: "DID_RENEW", fact: "a renewal info alone", transaction: nil, info: on, day: 20,
      apple: .active, told: nil, refetch: [.payloadMissing]),
    Row(
      type: "RENEWAL_EXTENSION", subtype: "SUMMARY", fact: "nothing bought", transaction: nil,
      day: 20, apple: nil, told: nil),
    Row(
      type: "EXTERNAL_PURCHASE_TOKEN", subtype: "CREATED", fact: "nothing bought", transaction: nil,
      day: 20, apple: nil, told: nil),
    Row(
      type: "RESCIND_CONSENT", fact: "nothing bought", transaction: nil, day: 20, apple: nil,
      told: nil),
    Row(type: "TEST", fact: "nothing bought", transaction: nil, day: 20, apple: nil, told: nil),
  ]

  @Test("R61: heard first, each notification is told as far as its facts prove", arguments: rows)
  func firstHeard(row: Row) throws {
    var facts = [row.transaction.map(Fact.transaction), row.info.map(Fact.renewalInfo)]
      .compactMap(\.self)
    if row.type == "RESCIND_CONSENT" {
      facts.append(
        .appTransaction(
          AppTransactionFact(
            bundleID: Given.scope.bundleID, environment: .production, signedDate: Given.day(1),
            digest: Given.digest(3))))
    }
    let state = Evaluation.state(
      of: CustomerRecord(scope: Given.scope, facts: facts), catalog: Given.catalog,
      at: Given.day(row.day))
    let standing = state.groups.first?.standing ?? state.products.first?.standing
    #expect(standing?.status == row.told)
    #expect(standing?.notices ?? [] == row.notices)
    if row.transaction == nil {
      #expect(state.coreState == (row.info == nil ? .new : .inactive))
      #expect(state.groups.isEmpty)
    }
    let events = NotificationReview.events(
      of: NotificationReviewTests.notification(
        row.type, row.subtype, status: row.apple?.rawValue, at: row.day),
      bringing: facts, facts: facts, catalog: Given.catalog)
    // A renewal info is not expected in all of them.
    let reasons = events.compactMap(\.refetchReason).filter {
      $0 != .payloadMissing || row.transaction == nil
    }
    #expect(reasons == row.refetch)
    // Access is never denied in silence.
    if let apple = row.apple, standing.flatMap({ SubscriptionStatus($0.status) }) != apple {
      #expect(!reasons.isEmpty)
    }
  }

  @Test("R61: the table has every known type")
  func allTypes() {
    #expect(
      Set(Self.rows.map(\.type)) == Set(NotificationForm.all.map(\.type.rawValue)))
  }
}
