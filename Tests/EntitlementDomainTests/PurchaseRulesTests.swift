import EntitlementDomain
import Testing

@Suite("Purchases that do not renew, and the customer as a whole")
struct PurchaseRulesTests {
  @Test("R27, R29: a customer without facts is NEW and is shown the offers")
  func new() {
    let state = Given.state([], at: 0)
    #expect(state.coreState == .new)
    #expect(state.callsToAction == [.merchandise])
    #expect(state.nextTransitionAt == nil)
    #expect(state.entitlements.isEmpty)
  }

  @Test("R11: a non-consumable has no end")
  func nonConsumable() {
    let state = Given.state(
      [Given.purchase(1, product: "adfree", type: .nonConsumable, at: 0)], at: 10_000)
    #expect(state.coreState == .active)
    #expect(state.entitlementIDs == ["ad_free"])
    #expect(state.ends(of: "ad_free") == [nil])
    #expect(state.nextTransitionAt == nil)
    #expect(state.callsToAction == [.none])
  }

  @Test("R16, R28: a non-consumable refunded and bought again is active")
  func boughtAgain() {
    let refunded = Given.purchase(1, product: "adfree", type: .nonConsumable, at: 0) {
      $0.revocationDate = Given.day(2)
    }
    #expect(Given.state([refunded], at: 3).product("adfree")?.status == .revoked)
    let again = Given.purchase(2, product: "adfree", type: .nonConsumable, at: 5)
    let state = Given.state([refunded, again], at: 6)
    #expect(state.coreState == .active)
    #expect(state.sources(of: "ad_free").map(\.transactionID) == ["t2"])
  }

  @Test("R11: a non-renewing purchase ends after the catalog's duration")
  func nonRenewing() {
    let purchase = Given.purchase(1, product: "season", type: .nonRenewing, at: 0)
    #expect(Given.state([purchase], at: 30.99).coreState == .active)
    let ended = Given.state([purchase], at: 31)
    #expect(ended.coreState == .inactive)
    #expect(ended.product("season")?.expirationReason == .ended)
    #expect(ended.callsToAction == [.winBack])
  }

  @Test("R12: without a duration a purchase confers nothing and has a notice")
  func withoutDuration() {
    let state = Given.state(
      [Given.purchase(1, product: "forever", type: .nonRenewing, at: 0)], at: 1)
    #expect(state.coreState == .inactive)
    #expect(state.product("forever")?.status == .undetermined)
    #expect(state.product("forever")?.notices == [.durationMissing])
  }

  @Test("R13: purchases stack only if the catalog requires it")
  func stacking() {
    let passes = [
      Given.purchase(1, product: "pass", type: .nonRenewing, at: 0),
      Given.purchase(2, product: "pass", type: .nonRenewing, at: 10),
    ]
    #expect(Given.state([passes[0]], at: 1).ends(of: "season") == [Given.day(30)])
    #expect(Given.state(passes, at: 11).ends(of: "season") == [Given.day(60)])
    #expect(Given.state(passes, at: 59).coreState == .active)
    #expect(Given.state(passes, at: 60).coreState == .inactive)
    let seasons = [
      Given.purchase(1, product: "season", type: .nonRenewing, at: 0),
      Given.purchase(2, product: "season", type: .nonRenewing, at: 10),
    ]
    // Day 10 is Jan 11. One month later is Feb 11, day 41.
    #expect(Given.state(seasons, at: 40.9).coreState == .active)
    #expect(Given.state(seasons, at: 41).coreState == .inactive)
  }

  @Test("R13, R16: a refunded pass takes the time up to its refund, and no more")
  func refundedStack() {
    func first(refundedAt day: Double) -> TransactionFact {
      Given.purchase(1, product: "pass", type: .nonRenewing, at: 0) {
        $0.revocationDate = Given.day(day)
      }
    }
    let second = Given.purchase(2, product: "pass", type: .nonRenewing, at: 10)
    let early = [first(refundedAt: 12), second]
    #expect(Given.state(early, at: 41.9).coreState == .active)
    #expect(Given.state(early, at: 42).coreState == .inactive)
    // A refund after the end does not change the other purchase.
    let late = [first(refundedAt: 45), second]
    #expect(Given.state(late, at: 45.5).coreState == .active)
    #expect(Given.state(late, at: 59.9).coreState == .active)
    #expect(Given.state(late, at: 60).coreState == .inactive)
  }

  @Test("R11: a consumable is history only")
  func consumable() {
    let state = Given.state([Given.purchase(1, product: "coins", type: .consumable, at: 0)], at: 1)
    #expect(state.coreState == .inactive)
    #expect(state.product("coins")?.status == .consumed)
    #expect(state.callsToAction == [.none])
  }

  @Test("R14: a product that is not in the catalog is part of the state, and grants nothing")
  func unknownProduct() throws {
    let state = Given.state(
      [Given.period(1, product: "elsewhere", group: "g9", from: 0)], at: 1)
    #expect(state.coreState == .inactive)
    #expect(state.entitlements.isEmpty)
    let product = try #require(state.products.first)
    #expect(!product.isInCatalog)
    #expect(product.standing.status == .active)
    #expect(product.standing.notices == [.productUnknown])
  }

  @Test("R10: an unknown type is kept and grants nothing")
  func unknownType() {
    let state = Given.state(
      [Given.purchase(1, product: "adfree", type: ProductType(rawValue: "Timeshare"), at: 0)], at: 1
    )
    #expect(state.coreState == .inactive)
    #expect(state.product("adfree")?.productType.rawValue == "Timeshare")
    #expect(state.product("adfree")?.notices == [.typeUnknown])
  }

  @Test("R9: facts of another environment or app are left out")
  func scopes() {
    var sandbox = Given.period(1, from: 0)
    sandbox.environment = .sandbox
    var other = Given.period(2, from: 0)
    other.bundleID = "com.example.other"
    #expect(Given.state([sandbox, other], at: 1).coreState == .new)
  }

  @Test("R27: a customer with only an app transaction is new, and is shown the offers")
  func appOnly() {
    let fact = AppTransactionFact(
      bundleID: Given.scope.bundleID, environment: .production, signedDate: Given.day(0),
      digest: Given.digest(1))
    let state = Evaluation.state(
      of: CustomerRecord(scope: Given.scope, facts: [.appTransaction(fact)]),
      catalog: Given.catalog, at: Given.day(1))
    #expect(state.coreState == .new)
    #expect(state.callsToAction == [.merchandise])
    // A renewal info tells of a purchase.
    #expect(Given.state([], [Given.renewal(signed: 0)], at: 1).coreState == .inactive)
  }

  @Test("R31: an entitlement has all its sources")
  func sources() {
    let news = Given.period(1, of: "c2", product: "news.monthly", group: "g2", from: 0)
    let season = Given.purchase(2, product: "season", type: .nonRenewing, at: 0)
    let state = Given.state([news, season], at: 1)
    #expect(state.entitlements.map(\.entitlementID) == ["season"])
    #expect(state.sources(of: "season").map(\.transactionID) == ["t2", "t1"])
    #expect(state.ends(of: "season") == [Given.day(31), Given.day(30)])
  }
}
