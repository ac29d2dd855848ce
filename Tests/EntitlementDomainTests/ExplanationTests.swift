import EntitlementDomain
import Testing

@Suite("An explanation names the rule that decided (R31)")
struct ExplanationTests {
  private static let pro = ExplanationRow.Subject.entitlement("pro")
  private static let season = ExplanationRow.Subject.entitlement("season")
  private static let adFree = ExplanationRow.Subject.entitlement("ad_free")

  private static func leeway(_ days: Int64) -> Catalog {
    var catalog = Given.catalog
    catalog.renewalLeeway = days * Milliseconds.dayLength
    return catalog
  }

  private static var consumable: Catalog {
    var catalog = Given.catalog
    catalog.products["coins"]?.entitlements = ["season"]
    return catalog
  }

  private static let first = Given.period(1, from: 0)

  private static func renewal(
    _ autoRenews: Bool? = true, change: (inout RenewalInfoFact) -> Void = { _ in }
  ) -> [RenewalInfoFact] {
    [Given.renewal(signed: 30, autoRenews: autoRenews, change: change)]
  }

  // MARK: Conferred

  static let conferring: [ExplanationRow] = [
    ExplanationRow(
      "in force", pro, true, 15, ["t1", "pro.monthly", "until 2026-01-31T00:00:00Z"], at: 1,
      [first]),
    ExplanationRow(
      "renewed early", pro, true, 18, ["t1", "c1", "without a gap", "until 2026-03-02T00:00:00Z"],
      at: 20, [first, Given.period(2, from: 30) { $0.signedDate = Given.day(19) }]),
    ExplanationRow(
      "in grace", pro, true, 19, ["t1", "grace until 2026-02-16T00:00:00Z"], at: 40, [first],
      renewal { $0.gracePeriodExpiresDate = Given.day(46) }),
    ExplanationRow(
      "within the leeway", pro, true, 24, ["overdue", "leeway", "until 2026-02-01T00:00:00Z"],
      at: 30.5, [first], renewal(), catalog: leeway(1)),
    ExplanationRow(
      "upgraded, the successor missing", pro, true, 17,
      ["upgraded", "not known", "2026-01-31T00:00:00Z"], at: 1,
      [Given.period(1, from: 0) { $0.isUpgraded = true }]),
    ExplanationRow(
      "bought for ever", adFree, true, 11, ["t1", "adfree", "no end"], at: 5,
      [Given.purchase(1, product: "adfree", type: .nonConsumable, at: 0)]),
    ExplanationRow(
      "a season", season, true, 11, ["t1", "season", "until 2026-02-01T00:00:00Z"], at: 5,
      [Given.purchase(1, product: "season", type: .nonRenewing, at: 0)]),
    ExplanationRow(
      "stacked, with one that waits", season, true, 13, ["t1", "until 2026-03-02T00:00:00Z"],
      at: 15,
      [
        Given.purchase(1, product: "pass", type: .nonRenewing, at: 0),
        Given.purchase(2, product: "pass", type: .nonRenewing, at: 10),
      ]),
    ExplanationRow(
      "stacked, after the one before it", season, true, 13,
      ["t2", "the end of the purchase before it", "until 2026-03-02T00:00:00Z"], at: 35,
      [
        Given.purchase(1, product: "pass", type: .nonRenewing, at: 0),
        Given.purchase(2, product: "pass", type: .nonRenewing, at: 10),
      ]),
    ExplanationRow(
      "granted", pro, true, 32, ["100000000001", "until 2026-01-11T00:00:00Z"], at: 5,
      grants: [Given.grant(1, from: 0)]),
    ExplanationRow(
      "had the app before", pro, true, 37, ["paid-era", "confers", "a1", "before the change"],
      at: 60, apps: [Given.app(version: "12", at: -10)], catalog: Given.catalogWithRule()),
    ExplanationRow(
      "had the app before, by date", pro, true, 36, ["no version", "before the cutoff"], at: 60,
      apps: [Given.app(at: -10)], catalog: Given.catalogWithRule()),
    ExplanationRow(
      "had the app before, where no threshold is", pro, true, 33, ["no version can be compared"],
      at: 60, apps: [Given.app(version: "12", at: -10)],
      catalog: Given.catalogWithRule(thresholds: [:])),
    ExplanationRow(
      "had the app before, though its version is later", pro, true, 37,
      ["disagree", "grant_and_flag"], at: 60, apps: [Given.app(version: "200", at: -10)],
      catalog: Given.catalogWithRule()),
  ]

  // MARK: Not conferred

  static let notConferring: [ExplanationRow] = [
    ExplanationRow("nothing is known", pro, false, 27, ["Nothing", "pro"], at: 1),
    ExplanationRow(
      "another product", pro, false, 27, ["Nothing", "pro"], at: 1,
      [Given.period(1, product: "basic.monthly", from: 0)]),
    ExplanationRow(
      "cancelled", pro, false, 21, ["t1", "ended at 2026-01-31T00:00:00Z", "customer cancelled"],
      at: 40, [first], renewal(false) { $0.expirationIntent = .cancelled }),
    ExplanationRow(
      "expired without a reason", pro, false, 21, ["expired", "no reason"], at: 40, [first]),
    ExplanationRow(
      "price increase declined", pro, false, 21, ["did not consent"], at: 40, [first],
      renewal(false) { $0.expirationIntent = .noPriceConsent }),
    ExplanationRow(
      "overdue", pro, false, 24, ["auto-renew on", "overdue"], at: 40, [first], renewal()),
    ExplanationRow(
      "billing retry", pro, false, 20, ["retries", "until 2026-04-01T00:00:00Z"], at: 40, [first],
      renewal { $0.isInBillingRetryPeriod = true }),
    ExplanationRow(
      "retried in vain", pro, false, 20, ["60 days", "expired"], at: 100, [first],
      renewal { $0.isInBillingRetryPeriod = true }),
    ExplanationRow(
      "refunded", pro, false, 16, ["t1", "refunded at 2026-01-06T00:00:00Z", "issue with the app"],
      at: 10,
      [
        Given.period(1, from: 0) {
          $0.revocationDate = Given.day(5)
          $0.revocationReason = .appIssue
        }
      ]),
    ExplanationRow(
      "no longer shared", pro, false, 16, ["shared", "ended at 2026-01-06T00:00:00Z"], at: 10,
      [
        Given.period(1, from: 0) {
          $0.revocationDate = Given.day(5)
          $0.ownership = .familyShared
        }
      ]),
    ExplanationRow(
      "crossgraded at once", pro, false, 17, ["t1", "replaced", "2026-01-11T00:00:00Z"], at: 15,
      [
        Given.period(1, from: 0) { $0.isUpgraded = true },
        Given.period(2, product: "basic.monthly", from: 10),
      ]),
    ExplanationRow(
      "downgraded at a renewal", pro, false, 18, ["t1", "another product decides"], at: 35,
      [first, Given.period(2, product: "basic.monthly", from: 30)]),
    ExplanationRow(
      "not begun", pro, false, 15, ["t1", "not begun", "from 2026-01-06T00:00:00Z"], at: 1,
      [Given.period(1, from: 5)]),
    ExplanationRow(
      "without expiresDate", pro, false, 21, ["t1", "no expiresDate"], at: 1,
      [Given.period(1, from: 0) { $0.expiresDate = nil }]),
    ExplanationRow(
      "a season that is over", season, false, 11, ["ended at 2026-02-01T00:00:00Z"], at: 50,
      [Given.purchase(1, product: "season", type: .nonRenewing, at: 0)]),
    ExplanationRow(
      "a duration missing", season, false, 12, ["t1", "forever", "no duration"], at: 1,
      [Given.purchase(1, product: "forever", type: .nonRenewing, at: 0)]),
    ExplanationRow(
      "a consumable", season, false, 11, ["coins", "consumable", "history only"], at: 1,
      [Given.purchase(1, product: "coins", type: .consumable, at: 0)], catalog: consumable),
    ExplanationRow(
      "a type that is not known", adFree, false, 10, ["t1", "type", "not known"], at: 1,
      [Given.purchase(1, product: "adfree", type: ProductType(rawValue: "Timeshare"), at: 0)]),
    ExplanationRow(
      "a product that is not named", pro, false, 14, ["t1", "elsewhere", "does not name"], at: 1,
      [Given.period(1, product: "elsewhere", from: 0)]),
    ExplanationRow(
      "a grant that is over", pro, false, 32, ["100000000001", "ended at 2026-01-11T00:00:00Z"],
      at: 20, grants: [Given.grant(1, from: 0)]),
    ExplanationRow(
      "a grant withdrawn", pro, false, 32, ["withdrawn at 2026-01-03T00:00:00Z"], at: 5,
      grants: [Given.grant(1, from: 0, withdrawnAt: 2)]),
    ExplanationRow(
      "a grant withdrawn before it began", pro, false, 32, ["withdrawn at 2025-12-30"], at: -1,
      grants: [Given.grant(1, from: 0, withdrawnAt: -2)]),
    ExplanationRow(
      "a grant that begins", pro, false, 32, ["begins at 2026-01-01T00:00:00Z"], at: -5,
      grants: [Given.grant(1, from: 0)]),
    ExplanationRow(
      "came after", pro, false, 37, ["does not confer", "a1", "not before the change"], at: 60,
      apps: [Given.app(version: "200", at: 10)], catalog: Given.catalogWithRule()),
    ExplanationRow(
      "no app transaction", pro, false, 37, ["cannot tell", "no app transaction"], at: 60,
      catalog: Given.catalogWithRule()),
    ExplanationRow(
      "an app transaction that says nothing", pro, false, 37,
      ["cannot tell", "no version or date"],
      at: 60, apps: [Given.app()], catalog: Given.catalogWithRule()),
    ExplanationRow(
      "had the app later than asked", pro, false, 37, ["only from 2025-12-22T00:00:00Z"], at: -20,
      apps: [Given.app(version: "12", at: -10)], catalog: Given.catalogWithRule()),
  ]

  // MARK: Relevance, and groups

  static let choices: [ExplanationRow] = [
    ExplanationRow(
      "what is retried goes before what expired later", pro, false, 20, ["t2", "retries"], at: 50,
      [first, Given.period(2, of: "c2", from: 1, to: 20)],
      [Given.renewal(of: "c2", signed: 20) { $0.isInBillingRetryPeriod = true }]),
    ExplanationRow(
      "what ended last", pro, false, 32, ["100000000001"], at: 50, [first],
      grants: [Given.grant(1, from: 35)]),
    ExplanationRow(
      "what was bought goes before a clear denial", pro, false, 21, ["t1"], at: 60, [first],
      apps: [Given.app(version: "200", at: 10)], catalog: Given.catalogWithRule()),
    ExplanationRow(
      "a group by its only chain", .group("g1"), true, 19, ["t1", "grace"], at: 40, [first],
      renewal { $0.gracePeriodExpiresDate = Given.day(46) }),
    ExplanationRow(
      "a group whose product is not named", .group("g9"), true, 15, ["not in the catalog", "R14"],
      at: 1,
      [Given.period(1, product: "elsewhere", group: "g9", from: 0)]),
    ExplanationRow(
      "of two chains the one in force", .group("g1"), true, 28,
      ["2 chains", "c2 stands above c1", "(expired)", "t2"], at: 40,
      [first, Given.period(2, of: "c2", from: 35)]),
    ExplanationRow(
      "of three chains", .group("g1"), false, 28, ["3 chains", "c3 stands above c2"],
      at: 90,
      [
        first, Given.period(2, of: "c2", from: 1, to: 40),
        Given.period(3, of: "c3", from: 2, to: 50),
      ]),
  ]

  @Test("The rule and its sentence", arguments: conferring + notConferring + choices)
  func decision(row: ExplanationRow) throws {
    let (isConferred, reasoning) = try #require(row.answer())
    #expect(isConferred == row.isConferred)
    #expect(reasoning.decision.rule == row.rule, "\(reasoning.decision.sentence)")
    for word in row.words {
      #expect(reasoning.decision.sentence.contains(word), "\(reasoning.decision.sentence)")
    }
    #expect(row.explanation().state == row.state)
  }

  @Test("The decisive item is first and is marked", arguments: conferring + notConferring + choices)
  func decisive(row: ExplanationRow) throws {
    let (_, reasoning) = try #require(row.answer())
    let marks = reasoning.considered.map(\.isDecisive)
    if row.rule == 27 {
      #expect(!marks.contains(true))
    } else {
      #expect(marks.first == true)
      #expect(marks.drop { $0 }.allSatisfy { !$0 })
    }
    if row.rule != 28, let first = reasoning.considered.first {
      #expect(first.decision == reasoning.decision || row.rule == 27)
    }
  }

  @Test("R35: in Sandbox a rule is not evaluated, or by simulated values")
  func sandbox() throws {
    var catalog = Given.catalogWithRule()
    var app = Given.app(version: "1.0", at: -4_000)
    app.environment = .sandbox
    let record = CustomerRecord(
      scope: AppScope(bundleID: Given.scope.bundleID, environment: .sandbox),
      facts: [.appTransaction(app)])
    func pro() throws -> EntitlementExplanation {
      try #require(
        Evaluation.explain(record, catalog: catalog, at: Given.day(1)).entitlements
          .first { $0.entitlementID == "pro" })
    }
    let live = try pro()
    #expect(!live.isConferred)
    #expect(live.reasoning.decision.rule == 35)
    #expect(live.reasoning.decision.sentence.contains("not evaluated in Sandbox"))
    #expect(live.reasoning.considered.map(\.kind) == [.grandfatheringRule])
    #expect(live.reasoning.changes.contains { $0.decision.rule == 35 })
    catalog.grandfathering[Given.scope.bundleID]?[0].simulated = .init(
      originalVersion: AppVersion("12"), originalPurchaseDate: Given.day(-10))
    let simulated = try pro()
    #expect(simulated.isConferred)
    #expect(simulated.reasoning.decision.rule == 37)
    #expect(simulated.reasoning.decision.sentence.contains("simulated values"))
    #expect(simulated.reasoning.considered.map(\.decision.rule) == [37, 35])
  }

  @Test("With a purchase, a grant and a rule, all are listed and the longest decides")
  func severalSources() throws {
    let row = ExplanationRow(
      "", Self.pro, true, 37, [], at: 5, [Self.first], apps: [Given.app(version: "12", at: -10)],
      grants: [Given.grant(1, from: 0)], catalog: Given.catalogWithRule())
    let (isConferred, reasoning) = try #require(row.answer())
    #expect(isConferred)
    #expect(row.state.entitlements.first { $0.entitlementID == "pro" }?.sources.count == 3)
    #expect(reasoning.decision.rule == 37)
    #expect(
      reasoning.considered.map(\.identifier) == [
        "paid-era", "a1", "t1", "00000000-0000-4000-8000-100000000001",
      ])
    #expect(reasoning.considered.map(\.isDecisive) == [true, true, false, false])
    #expect(reasoning.considered.map(\.decision.rule) == [37, 33, 15, 32])
  }
}

extension ExplanationRow {
  var state: CustomerState { Evaluation.state(of: record, catalog: catalog, at: moment) }
}
