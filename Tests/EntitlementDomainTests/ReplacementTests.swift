import EntitlementDomain
import Testing

@Suite("Which product of a chain is the current one")
struct ReplacementTests {
  /// Basic until day 30, its renewal charged ahead, and pro bought some hours before that begins.
  private func upgraded(
    hoursBefore hours: Double, reasons: [String?] = ["PURCHASE", "RENEWAL", "PURCHASE"],
    change: (inout TransactionFact) -> Void = { _ in }
  ) -> [TransactionFact] {
    let renewed = Given.period(2, product: "basic.monthly", from: 30) {
      $0.signedDate = Given.day(29)
      $0.transactionReason = reasons[1]
      change(&$0)
    }
    return [
      Given.period(1, product: "basic.monthly", from: 0) { $0.transactionReason = reasons[0] },
      renewed,
      Given.period(3, from: 30 - hours / 24, to: 59) { $0.transactionReason = reasons[2] },
    ]
  }

  @Test(
    "R62: an upgrade replaces the renewal that was charged before it, for good",
    arguments: [
      ["PURCHASE", "RENEWAL", "PURCHASE"], [nil, nil, nil], ["PURCHASE", nil, nil],
      [nil, "RENEWAL", nil], ["GIFT", "GIFT", "GIFT"],
    ] as [[String?]])
  func chargedBefore(reasons: [String?]) throws {
    let facts = upgraded(hoursBefore: 4, reasons: reasons)
    for moment in [29.9, 30, 45, 58.9] {
      let state = Given.state(facts, at: moment)
      #expect(state.group("g1")?.productID == "pro.monthly")
      #expect(state.group("g1")?.pendingChange == nil)
      #expect(state.product("basic.monthly")?.status == .replaced)
      #expect(state.sources(of: "pro").map(\.until) == [Given.day(59)])
    }
    #expect(Given.state(facts, at: 59).coreState == .inactive)
    #expect(Given.state(facts, at: 45).nextTransitionAt == Given.day(59))
  }

  @Test(
    "R62: a renewal was charged before a purchase at most 24 hours earlier, or half of its length",
    arguments: [
      (24.0, 30.0, true), (24.01, 30, false), (0, 30, true), (6, 0.5, true), (6.01, 0.5, false),
    ])
  func lead(hours: Double, length: Double, isReplaced: Bool) {
    let facts = upgraded(hoursBefore: hours) { $0.expiresDate = Given.day(30 + length) }
    let state = Given.state(facts, at: 30 + length / 2)
    #expect(state.group("g1")?.productID == (isReplaced ? "pro.monthly" : "basic.monthly"))
  }

  @Test("R17, R62: a renewal with isUpgraded needs no successor that begins after it")
  func upgradedRenewal() {
    // Two days before: longer than Apple charges ahead, but isUpgraded proves it.
    let facts = upgraded(hoursBefore: 48) { $0.isUpgraded = true }
    for moment in [29, 30, 45.0] {
      let state = Given.state(facts, at: moment)
      #expect(state.group("g1")?.productID == "pro.monthly")
      #expect(state.group("g1")?.notices == [])
    }
    // What follows inside the renewal is its successor; so the renewal came into force.
    let next = Given.period(4, product: "news.monthly", from: 40)
    #expect(Given.state(facts + [next], at: 35).group("g1")?.productID == "basic.monthly")
    #expect(Given.state(facts + [next], at: 45).group("g1")?.productID == "news.monthly")
  }

  @Test("R62: a downgrade that was charged before an upgrade never begins")
  func downgradeThenUpgrade() {
    let facts = [
      Given.period(1, product: "pro.monthly", from: 0) { $0.transactionReason = "PURCHASE" },
      Given.period(2, product: "basic.monthly", from: 30) {
        $0.signedDate = Given.day(29)
        $0.transactionReason = "RENEWAL"
      },
      Given.period(3, product: "pro.monthly", from: 29.5) { $0.transactionReason = "PURCHASE" },
    ]
    let before = Given.state(facts, at: 29.7)
    #expect(before.group("g1")?.transactionID == "t3")
    #expect(before.group("g1")?.pendingChange == nil)
    #expect(before.product("basic.monthly")?.status == .replaced)
    #expect(Given.state(facts, at: 31).group("g1")?.productID == "pro.monthly")
    #expect(Given.state(facts, at: 59.7).coreState == .inactive)
  }

  @Test("R57, R62: a renewal that never began does not interrupt auto-renew")
  func autoRenew() {
    let facts =
      upgraded(hoursBefore: 4)
      + [Given.period(4, from: 59, to: 89) { $0.transactionReason = "RENEWAL" }]
    let renewal = Given.renewal(signed: 30.5) { $0.renewalDate = Given.day(59) }
    let standing = Given.state(facts, [renewal], at: 60).group("g1")
    #expect(standing?.transactionID == "t4")
    #expect(standing?.willRenew == true)
  }

  @Test(
    "R62: the renewal info that was signed during a period names the current product",
    arguments: [
      ("pro.monthly", 31.0, "pro.monthly"), ("pro.monthly", 29.9, "basic.monthly"),
      ("pro.monthly", 30.00001, "basic.monthly"), ("basic.monthly", 31, "basic.monthly"),
      ("news.monthly", 31, "basic.monthly"),
    ] as [(ProductID, Double, ProductID)])
  func named(product: ProductID, signed: Double, current: ProductID) {
    // Of the first period of basic nothing is known, and no reasons are told.
    let facts = Array(upgraded(hoursBefore: 4, reasons: [nil, nil, nil]).dropFirst())
    let renewal = Given.renewal(signed: signed, product: product)
    #expect(Given.state(facts, [renewal], at: 40).group("g1")?.productID == current)
  }

  @Test("R62: no renewal info takes the place of a purchase from Apple's own reason")
  func namedAgainstPurchase() {
    let facts = [
      Given.period(1, product: "basic.monthly", from: 0) { $0.transactionReason = "PURCHASE" },
      Given.period(2, from: 10) { $0.transactionReason = "PURCHASE" },
    ]
    let renewal = Given.renewal(signed: 20, product: "basic.monthly")
    #expect(Given.state(facts, [renewal], at: 25).group("g1")?.productID == "pro.monthly")
  }

  @Test("R62: without a reason the longer old plan neither hides the new one nor comes back")
  func withoutReason() {
    let facts = [
      Given.period(1, product: "basic.monthly", from: 0, to: 365), Given.period(2, from: 40),
      Given.period(3, from: 70),
    ]
    for moment in [40.0, 69, 99] {
      #expect(Given.state(facts, at: moment).group("g1")?.productID == "pro.monthly")
    }
    #expect(Given.state(facts, at: 100).coreState == .inactive)
    #expect(Given.state(facts, at: 39).group("g1")?.productID == "basic.monthly")
  }

  @Test("R16, R17: what an upgrade took back is REPLACED, and calls nobody back")
  func upgradedAndCancelled() {
    let old = Given.period(1, product: "basic.monthly", from: 0) {
      $0.isUpgraded = true
      $0.revocationDate = Given.day(11)
    }
    let alone = Given.state([old], at: 12)
    #expect(alone.group("g1")?.status == .replaced)
    #expect(alone.group("g1")?.notices == [.successorMissing])
    #expect(alone.callsToAction == [.none])
    #expect(alone.coreState == .inactive)
    let state = Given.state([old, Given.period(2, from: 10)], at: 12)
    #expect(state.product("basic.monthly")?.status == .replaced)
    #expect(state.callsToAction == [.none])
  }

  @Test("R31, R62: the explanation tells of a renewal that never began")
  func explained() throws {
    let explanation = Evaluation.explain(
      Given.record(upgraded(hoursBefore: 12)), catalog: Given.catalog, at: Given.day(40))
    let item = try #require(
      explanation.groups.first?.reasoning.considered.first { $0.identifier == "t2" })
    #expect(item.decision.rule == 62)
    #expect(
      item.decision.sentence
        == "Transaction t2 of basic.monthly was charged ahead; another product replaced it at "
        + "2026-01-30T12:00:00Z, before it began at 2026-01-31T00:00:00Z.")
  }
}

@Suite("One purchase under several transaction ids")
struct RepeatedPurchaseTests {
  private func restored(
    _ id: Int, product: ProductID, type: ProductType, at start: Double, signed: Double
  ) -> TransactionFact {
    Given.purchase(id, product: product, type: type, at: start) {
      $0.originalTransactionID = "t1"
      $0.signedDate = Given.day(signed)
    }
  }

  @Test("R6: a refund of any of its transactions is one of the purchase", arguments: [1, 2, 3])
  func refund(of number: Int) {
    var facts = [
      Given.purchase(1, product: "adfree", type: .nonConsumable, at: 0),
      restored(2, product: "adfree", type: .nonConsumable, at: 0, signed: 5),
      restored(3, product: "adfree", type: .nonConsumable, at: 0, signed: 50),
    ]
    facts[number - 1].revocationDate = Given.day(10)
    facts[number - 1].signedDate = Given.day(10)
    #expect(Given.state(facts, at: 9).sources(of: "ad_free").count == 1)
    let state = Given.state(facts, at: 60)
    #expect(state.coreState == .inactive)
    #expect(state.product("adfree")?.status == .revoked)
    #expect(state.product("adfree")?.revocation?.date == Given.day(10))
    // Reversed: a version of the same transaction that was signed later.
    var reversed = facts[number - 1]
    reversed.revocationDate = nil
    reversed.signedDate = Given.day(20)
    #expect(Given.state(facts + [reversed], at: 60).coreState == .active)
    // Bought again, it is another purchase.
    let again = Given.purchase(9, product: "adfree", type: .nonConsumable, at: 30)
    #expect(Given.state(facts + [again], at: 60).entitlementIDs == ["ad_free"])
  }

  @Test("R6: a refund that only a receipt tells of one id counts beside the JWS of another")
  func refundInReceipt() {
    let signed = restored(2, product: "adfree", type: .nonConsumable, at: 0, signed: 50)
    var receipt = Given.purchase(1, product: "adfree", type: .nonConsumable, at: 0) {
      $0.authority = .receipt
      $0.signedDate = Given.day(20)
      $0.revocationDate = Given.day(10)
    }
    for facts in [[signed, receipt], [receipt, signed]] {
      #expect(Given.state(facts, at: 60).product("adfree")?.status == .revoked)
    }
    // A JWS of that id takes it back, and an archived response does not tell it.
    let reversed = restored(1, product: "adfree", type: .nonConsumable, at: 0, signed: 15)
    #expect(Given.state([signed, receipt, reversed], at: 60).coreState == .inactive)
    let later = restored(1, product: "adfree", type: .nonConsumable, at: 0, signed: 25)
    #expect(Given.state([signed, receipt, later], at: 60).coreState == .active)
    receipt.authority = .archivedResponse
    #expect(Given.state([signed, receipt], at: 60).coreState == .active)
  }

  @Test("R6, R13: a pass that was restored under a second id counts once")
  func stacking() {
    let pass = Given.purchase(1, product: "pass", type: .nonRenewing, at: 0)
    var second = restored(2, product: "pass", type: .nonRenewing, at: 0, signed: 5)
    #expect(Given.state([pass, second], at: 1).ends(of: "season") == [Given.day(30)])
    // Dated later, but bought at the same moment.
    second.purchaseDate = Given.day(5)
    second.originalPurchaseDate = Given.day(0)
    #expect(Given.state([pass, second], at: 1).ends(of: "season") == [Given.day(30)])
    // Bought at another moment, it is another purchase, whatever its original id.
    second.originalPurchaseDate = nil
    #expect(Given.state([pass, second], at: 1).ends(of: "season") == [Given.day(60)])
  }

  @Test("R6: a period that was refunded under one id is refunded")
  func period() {
    let refunded = Given.period(1, from: 0) {
      $0.webOrderLineItemID = "w"
      $0.revocationDate = Given.day(5)
      $0.signedDate = Given.day(5)
    }
    let other = Given.period(2, from: 0) {
      $0.webOrderLineItemID = "w"
      $0.signedDate = Given.day(8)
    }
    for facts in [[refunded, other], [other, refunded]] {
      #expect(Given.state(facts, at: 10).group("g1")?.status == .revoked)
    }
  }

  @Test("R6, R31: the explanation says which transaction is set aside")
  func explained() throws {
    let facts = [
      Given.purchase(1, product: "adfree", type: .nonConsumable, at: 0),
      restored(2, product: "adfree", type: .nonConsumable, at: 0, signed: 5),
    ]
    let explanation = Evaluation.explain(
      Given.record(facts), catalog: Given.catalog, at: Given.day(6))
    let reasoning = try #require(
      explanation.entitlements.first { $0.entitlementID == "ad_free" }?.reasoning)
    #expect(reasoning.considered.map(\.identifier) == ["t2", "t1"])
    #expect(reasoning.considered.map(\.isDecisive) == [true, false])
    #expect(reasoning.considered.last?.decision.rule == 6)
  }
}

@Suite("Calls that a customer can follow")
struct CallTests {
  @Test(
    "R25, R29: who did not buy the subscription is not asked to keep, pay or consent",
    arguments: [.familyShared, .assigned, .purchased] as [OwnershipType])
  func shared(ownership: OwnershipType) {
    let period = Given.period(1, from: 0) { $0.ownership = ownership }
    let off = Given.renewal(signed: 5, autoRenews: false)
    let price = Given.renewal(signed: 5) { $0.priceIncreaseStatus = .pending }
    let grace = Given.renewal(signed: 30) {
      $0.isInBillingRetryPeriod = true
      $0.gracePeriodExpiresDate = Given.day(46)
    }
    let calls = [
      Given.state([period], [off], at: 10), Given.state([period], [price], at: 10),
      Given.state([period], [grace], at: 40), Given.state([period], [grace], at: 50),
      Given.state([period], at: 40),
    ].map(\.callsToAction)
    let isOwn = ownership == .purchased
    #expect(
      calls == [
        [isOwn ? .keepSubscription : .none], [isOwn ? .consentToPrice : .none],
        [isOwn ? .fixBilling : .none], [isOwn ? .fixBilling : .none], [.winBack],
      ])
  }

  @Test("R29: a refunded consumable that conferred nothing calls nobody back")
  func consumable() {
    let coins = Given.purchase(1, product: "coins", type: .consumable, at: 0) {
      $0.revocationDate = Given.day(2)
    }
    #expect(Given.state([coins], at: 3).callsToAction == [.none])
    #expect(Given.state([coins], at: 3).product("coins")?.status == .revoked)
    #expect(Given.state([coins, Given.period(2, from: 0)], at: 3).callsToAction == [.none])
  }
}
