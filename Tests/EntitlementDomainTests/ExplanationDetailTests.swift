import EntitlementDomain
import Testing

@Suite("An explanation lists considered items and possible changes (R31)")
struct ExplanationDetailTests {
  private func reasoning(
    on entitlement: EntitlementID = "pro", at moment: Double, _ transactions: [TransactionFact],
    _ renewals: [RenewalInfoFact] = [], grants: [Grant] = [], catalog: Catalog = Given.catalog
  ) throws -> Reasoning {
    try #require(
      ExplanationRow(
        "", .entitlement(entitlement), true, 15, [], at: moment, transactions, renewals,
        grants: grants, catalog: catalog
      ).answer()
    ).reasoning
  }

  private func item(
    _ identifier: String, _ kind: ConsideredItem.Kind = .transaction, in reasoning: Reasoning
  ) throws -> ConsideredItem {
    try #require(reasoning.considered.first { $0.identifier == identifier && $0.kind == kind })
  }

  // MARK: Considered

  @Test("Each period of the chain has its own statement")
  func periods() throws {
    let reasoning = try reasoning(
      at: 95,
      [
        Given.period(1, from: 0),
        Given.period(2, from: 30) { $0.revocationDate = Given.day(40) },
        Given.period(3, product: "basic.monthly", from: 40, to: 70) { $0.isUpgraded = true },
        Given.period(4, from: 50, to: 80) { $0.transactionReason = "PURCHASE" },
        Given.period(5, from: 80, to: 110),
        Given.period(6, from: 90, to: 100),
        Given.period(7, from: 120),
        Given.period(8, from: 81, to: 109) { $0.webOrderLineItemID = "w5" },
      ])
    #expect(reasoning.decision.rule == 15)
    // Of one line item, the transaction that was signed later stands.
    #expect(
      reasoning.considered.map(\.identifier) == ["t8", "t7", "t6", "t5", "t4", "t3", "t2", "t1"])
    #expect(reasoning.considered.map(\.decision.rule) == [15, 15, 18, 6, 15, 17, 16, 15])
    #expect(try item("t7", in: reasoning).decision.sentence.contains("not begun"))
    #expect(try item("t6", in: reasoning).decision.sentence.contains("t8 goes before it"))
    #expect(try item("t5", in: reasoning).decision.sentence.contains("set aside"))
    #expect(
      try item("t3", in: reasoning).decision.sentence.contains(
        "basic.monthly, which does not confer it, was replaced"))
    #expect(try item("t2", in: reasoning).decision.sentence.contains("refunded"))
    #expect(try item("t1", in: reasoning).statedAt == Given.day(0))
    #expect(try item("t1", in: reasoning).productID == "pro.monthly")
  }

  @Test(
    "The statement on the renewal info says how it is used, or why it is not",
    arguments: [
      ("auto-renew on", 15.0, 22, "auto-renew is on", false),
      ("auto-renew off", 15, 22, "auto-renew is off", false),
      ("unknown", 15, 22, "does not say", false),
      ("another product", 15, 23, "renews as basic.monthly", false),
      ("price", 15, 23, "consents to a higher price", false),
      ("older", 15, 56, "older than the period", false),
      ("of another product", 15, 56, "another product", false),
      ("of an earlier period", 15, 56, "earlier period", false),
      ("of a later subscription", 15, 56, "later subscription", false),
      ("grace", 35, 19, "grace until 2026-02-16T00:00:00Z", true),
      ("retry", 35, 20, "retries the charge", true),
      ("retry in vain", 95, 20, "nothing was heard since", true),
      ("auto-renew on", 35, 24, "auto-renew is on", true),
      ("auto-renew off", 35, 21, "auto-renew is off", true),
    ])
  func renewalInfo(
    name: String, moment: Double, rule: Int, words: String, isDecisive: Bool
  ) throws {
    var info = Given.renewal(signed: 1)
    switch name {
    case "auto-renew off": info.autoRenews = false
    case "unknown": info.autoRenews = nil
    case "another product": info.autoRenewProductID = "basic.monthly"
    case "price": info.priceIncreaseStatus = .pending
    case "older": info.signedDate = Given.day(-1)
    case "of another product": info.productID = "basic.monthly"
    case "of an earlier period": info.renewalDate = Given.day(0)
    case "of a later subscription": info.recentSubscriptionStartDate = Given.day(31)
    case "grace": info.gracePeriodExpiresDate = Given.day(46)
    case "retry", "retry in vain": info.isInBillingRetryPeriod = true
    default: break
    }
    let reasoning = try reasoning(at: moment, [Given.period(1, from: 0)], [info])
    let item = try item("c1", .renewalInfo, in: reasoning)
    #expect(item.decision.rule == Rule(rule), "\(item.decision.sentence)")
    #expect(item.decision.sentence.contains(words), "\(item.decision.sentence)")
    #expect(item.isDecisive == isDecisive)
    #expect(item.statedAt == info.signedDate)
  }

  @Test(
    "R56, R57: the statement on the renewal info of another period says what counts of it",
    arguments: [
      (20.0, true, 57, "that still counts", false), (40, true, 57, "that still counts", false),
      (70, true, 24, "no renewal is known", true), (40, false, 56, "renewed since", false),
      (20, false, 56, "has been renewed", false),
    ])
  func renewalInfoOfAnotherPeriod(
    moment: Double, autoRenews: Bool, rule: Int, words: String, isDecisive: Bool
  ) throws {
    let periods = [-30.0, 0, 30].enumerated().map { Given.period($0, from: $1) }
    let reasoning = try reasoning(
      at: moment, periods,
      [Given.renewal(signed: 1, autoRenews: autoRenews) { $0.renewalDate = Given.day(30) }])
    let item = try item("c1", .renewalInfo, in: reasoning)
    #expect(item.decision.rule == Rule(rule), "\(item.decision.sentence)")
    #expect(item.decision.sentence.contains(words), "\(item.decision.sentence)")
    #expect(item.isDecisive == isDecisive)
  }

  @Test("R56: a renewal info of a later period is not used for the one before the gap")
  func renewalInfoOfLaterPeriod() throws {
    let reasoning = try reasoning(
      at: 20, [Given.period(1, from: 0, to: 10), Given.period(2, from: 30)],
      [Given.renewal(signed: 30)])
    let item = try item("c1", .renewalInfo, in: reasoning)
    #expect(item.decision.rule == 56)
    #expect(item.decision.sentence == "It speaks of a later period: not used.")
  }

  @Test("R18: a renewal info of a period that was charged ahead is used")
  func renewalInfoChargedAhead() throws {
    let next = Given.period(2, product: "basic.monthly", from: 30) { $0.signedDate = Given.day(19) }
    let reasoning = try reasoning(
      at: 20, [Given.period(1, from: 0), next],
      [Given.renewal(signed: 19, product: "basic.monthly")])
    let item = try item("c1", .renewalInfo, in: reasoning)
    #expect(item.decision.rule == 22)
    #expect(item.decision.sentence == "It says that auto-renew is on.")
  }

  @Test("At most 50 items are listed: the decisive ones, then the most recent of every kind")
  func bound() throws {
    let periods = (1...200).map { Given.period($0, from: Double($0) * 30) }
    // The oldest period, which is in force.
    let grants = (1...2).map { Given.grant($0, from: -1, to: 9_000) }
    let reasoning = try reasoning(
      at: 7_000, periods,
      [
        Given.renewal(signed: 6_030, autoRenews: false) { $0.expirationIntent = .cancelled }
      ], grants: grants)
    #expect(reasoning.considered.count == 50)
    #expect(reasoning.consideredOmitted == 201 + 2 - 50)
    #expect(reasoning.considered[0].kind == .grant)
    #expect(reasoning.considered[0].isDecisive)
    #expect(
      reasoning.considered.dropFirst().map(\.identifier)
        == (153...200).reversed().map { "t\($0)" } + ["c1"])
  }

  @Test("The explanation of a catalog with very many entitlements has a bounded size")
  func boundInAll() {
    var catalog = Given.catalog
    let entitlements = (0..<500).map { EntitlementID("e\($0)") }
    for id in entitlements { catalog.entitlements[id] = CatalogEntitlement(id: id) }
    catalog.products["pro.monthly"]?.entitlements = entitlements
    let explanation = Evaluation.explain(
      Given.record((1...60).map { Given.period($0, from: Double($0) * 30) }), catalog: catalog,
      at: Given.day(1_600))
    #expect(explanation.entitlements.count == 500)
    #expect(explanation.omitted?.entitlements == 4)
    // The conferred ones come first.
    #expect(explanation.entitlements.filter(\.isConferred).count == 500)
    #expect(explanation.entitlements.flatMap(\.reasoning.considered).count <= 4_000)
    #expect(
      explanation.entitlements.filter(\.isConferred).allSatisfy {
        $0.reasoning.considered.first?.isDecisive == true
      })
  }

  @Test(
    "With the longest identifiers, sentences have at most 400 bytes and are complete",
    arguments: [true, false], ["in force", "upgraded", "grace", "retry", "overdue", "refunded"])
  func longIdentifiers(isInCatalog: Bool, kind: String) {
    func long(_ text: String) -> String { text + String(repeating: "é", count: 125) + text }
    let (product, entitlement) = (ProductID(long("p")), EntitlementID(long("e")))
    var catalog = Given.catalogWithRule()
    catalog.renewalLeeway = 3 * Milliseconds.dayLength
    catalog.entitlements[entitlement] = CatalogEntitlement(id: entitlement)
    if isInCatalog {
      catalog.products[product] = CatalogProduct(
        id: product, kind: .autoRenewable, group: "g1", entitlements: ["pro", entitlement])
    }
    let chains = ["c", "d", "f"].map { OriginalTransactionID(long($0)) }
    let periods = chains.enumerated().flatMap { index, chain in
      (0..<3).map { number in
        Given.period(
          number, of: chain, product: product, from: Double(number) * 30 - Double(index)
        ) {
          $0.transactionID = TransactionID(long("\(index)\(number)"))
          if kind == "upgraded" { $0.isUpgraded = true }
          if kind == "refunded" { $0.revocationDate = $0.purchaseDate.advanced(by: 1) }
        }
      }
    }
    let renewals = chains.map { chain in
      Given.renewal(of: chain, signed: 91, product: product) {
        if kind == "grace" { $0.gracePeriodExpiresDate = Given.day(100) }
        if kind == "retry" { $0.isInBillingRetryPeriod = true }
      }
    }
    for moment in stride(from: -10.0, to: 160, by: 10) {
      let explanation = Evaluation.explain(
        Given.record(periods, renewals), catalog: catalog, at: Given.day(moment + 1))
      let cut = explanation.reasonings.flatMap(\.sentences).filter {
        $0.utf8.count > 400 || !$0.hasSuffix(".")
      }
      #expect(cut == [])
    }
  }

  // MARK: Changes

  private func known(_ reasoning: Reasoning) -> [String] {
    reasoning.changes.compactMap { change in
      change.at.map { "\($0.days) \(change.decision.rule.number)" }
    }
  }

  @Test("Grace, then retry, then expiry: each at its moment")
  func chainOfChanges() throws {
    let renewal = Given.renewal(signed: 30) {
      $0.isInBillingRetryPeriod = true
      $0.gracePeriodExpiresDate = Given.day(46)
    }
    let row = ExplanationRow(
      "", .group("g1"), true, 19, [], at: 40, [Given.period(1, from: 0)], [renewal])
    let group = try #require(row.answer()).reasoning
    #expect(known(group) == ["46 20", "90 20"])
    #expect(group.changes[0].decision.sentence.hasPrefix("It is in billing retry"))
    #expect(group.changes[1].decision.sentence.hasPrefix("It is expired"))
    #expect(group.changes.dropFirst(2).map(\.decision.rule) == [18, 16])
    let pro = try reasoning(at: 40, [Given.period(1, from: 0)], [renewal])
    // The end of the retry changes nothing for a customer without access.
    #expect(known(pro) == ["46 20"])
    #expect(pro.changes[0].decision.sentence.hasPrefix("It ends"))
  }

  @Test("The end of a period in force is listed, with the possible effects of new facts")
  func end() throws {
    let reasoning = try reasoning(at: 1, [Given.period(1, from: 0)])
    #expect(known(reasoning) == ["30 21"])
    #expect(reasoning.changes[0].decision.sentence.contains("unless newer facts"))
    #expect(reasoning.changes.dropFirst().map(\.decision.rule) == [18, 16])
    #expect(reasoning.changes.dropFirst().allSatisfy { $0.at == nil })
  }

  @Test("A charged renewal goes on without a gap")
  func goesOn() throws {
    let reasoning = try reasoning(at: 20, [Given.period(1, from: 0), Given.period(2, from: 30)])
    #expect(known(reasoning) == ["30 18", "60 21"])
    #expect(reasoning.changes[0].decision.sentence.hasPrefix("It goes on without a gap"))
  }

  @Test("A grant begins and ends next to a purchase, which stays")
  func grantBeside() throws {
    let reasoning = try reasoning(
      at: 1, [Given.period(1, from: 0)], grants: [Given.grant(1, from: 5)])
    #expect(known(reasoning) == ["5 32", "15 32", "30 21"])
    #expect(reasoning.changes[0].decision.sentence.contains("something new"))
    #expect(reasoning.changes[1].decision.sentence.contains("fewer sources"))
  }

  @Test("The start of a later purchase is listed")
  func begins() throws {
    let reasoning = try reasoning(at: 1, [Given.period(1, from: 5)])
    #expect(known(reasoning) == ["5 15", "35 21"])
    #expect(reasoning.changes[0].decision.sentence.hasPrefix("It begins"))
  }

  @Test("For a moment in the past, five known moments are listed, the earliest first")
  func manyMoments() throws {
    let reasoning = try reasoning(
      at: 5, (0..<40).map { Given.period($0, from: Double($0) * 31) })
    #expect(known(reasoning) == ["30 21", "31 15", "61 21", "62 15", "92 21"])
  }

  @Test("Without sources, a purchase, an app transaction and a grant are listed as changes")
  func newFacts() throws {
    let reasoning = try reasoning(at: 1, [], catalog: Given.catalogWithRule())
    #expect(reasoning.changes.map(\.at) == [nil, nil, nil])
    #expect(reasoning.changes.map(\.decision.rule) == [15, 33, 32])
    #expect(reasoning.changes[0].decision.sentence.contains("pro.monthly"))
    let season = try self.reasoning(on: "season", at: 1, [])
    // Not "forever": it has no duration and would confer nothing (R12).
    #expect(
      season.changes[0].decision.sentence
        == "A purchase of one of these makes it active: news.monthly, pass, season.")
    #expect(season.changes.map(\.decision.rule) == [15, 32])
  }

  @Test(
    "The possible effects of new facts depend on the decision",
    arguments: [
      ("retry", [18, 15, 32]), ("refunded", [16, 15, 32]), ("upgraded", [17, 16]),
      ("overdue", [18, 15, 32]), ("expired", [15, 32]), ("granted", [32]), ("shared", [18, 16]),
    ])
  func fitting(name: String, rules: [Int]) throws {
    let isOver = ["retry", "overdue", "expired"].contains(name)
    let period = Given.period(1, from: 0) {
      if name == "refunded" { $0.revocationDate = Given.day(2) }
      if name == "upgraded" { $0.isUpgraded = true }
      if name == "shared" { $0.ownership = .familyShared }
    }
    let renewal = Given.renewal(signed: 30) {
      $0.isInBillingRetryPeriod = name == "retry"
    }
    let reasoning = try reasoning(
      at: isOver ? 35 : 5, name == "granted" ? [] : [period],
      name == "expired" || !isOver ? [] : [renewal],
      grants: name == "granted" ? [Given.grant(1, from: 0)] : [])
    #expect(
      reasoning.changes.filter { $0.at == nil }.map(\.decision.rule.number) == rules)
  }

  @Test("No sentence contains an app account token")
  func tokens() throws {
    let token = "6f1d0f0e-5c0f-4d8e-9a53-0d2e2b3c4d5e"
    let record = Given.record(
      [Given.period(1, from: 0) { $0.appAccountToken = AppAccountToken(token) }],
      [Given.renewal(signed: 1) { $0.appAccountToken = AppAccountToken(token) }])
    let explanation = Evaluation.explain(record, catalog: Given.catalog, at: Given.day(1))
    #expect(!"\(explanation)".contains(token))
  }

  @Test("All moments are written in UTC")
  func moments() throws {
    for (end, text) in [
      (951_782_399_999, "2000-02-28T23:59:59Z"), (951_782_400_000, "2000-02-29T00:00:00Z"),
      (253_402_300_799_000, "9999-12-31T23:59:59Z"), (-1, "1969-12-31T23:59:59Z"),
      (253_402_300_800_000, "253402300800000 ms since 1970"), (Int64.max, "ms since 1970"),
    ] {
      let period = Given.period(1, from: 0) {
        $0.purchaseDate = Milliseconds(Int64.min)
        $0.expiresDate = Milliseconds(end)
      }
      let explanation = Evaluation.explain(
        Given.record([period]), catalog: Given.catalog, at: Milliseconds(end).advanced(by: -1))
      let sentence = try #require(explanation.groups.first).reasoning.decision.sentence
      #expect(sentence.contains("until \(text)") || end == .max && sentence.contains(text))
    }
  }
}

extension Milliseconds {
  /// Days since the start of the tests' clock.
  fileprivate var days: Int64 {
    (rawValue - Given.day(0).rawValue) / Milliseconds.dayLength
  }
}

extension Explanation {
  var reasonings: [Reasoning] { entitlements.map(\.reasoning) + groups.map(\.reasoning) }
}

extension Reasoning {
  var sentences: [String] {
    [decision.sentence] + considered.map(\.decision.sentence) + changes.map(\.decision.sentence)
  }
}
