import EntitlementDomain
import Testing

@Suite("Groups, ranks and ties")
struct GroupRankTests {
  // MARK: Groups of products that the catalog does not name

  @Test("R28: access outranks grace also outside the catalog, and neither outranks the catalog's")
  func unnamedProducts() {
    let grace = Given.period(1, of: "c1", product: "elsewhere.a", from: 0)
    let info = Given.renewal(of: "c1", signed: 30, product: "elsewhere.a") {
      $0.gracePeriodExpiresDate = Given.day(100)
    }
    let active = Given.period(2, of: "c2", product: "elsewhere.b", from: 20, to: 50)
    let state = Given.state([grace, active], [info], at: 40)
    #expect(state.group("g1")?.status == .active)
    #expect(state.callsToAction == [.none])
    #expect(Given.state([grace, active], [info], at: 50).group("g1")?.status == .grace)
    // Both rank below grace of a product of the catalog, and above its billing retry.
    let named = Given.period(3, of: "c3", from: 0)
    func trouble(_ graceEnd: Double?) -> RenewalInfoFact {
      Given.renewal(of: "c3", signed: 30) {
        $0.isInBillingRetryPeriod = true
        $0.gracePeriodExpiresDate = graceEnd.map(Given.day)
      }
    }
    let facts = [grace, active, named]
    #expect(Given.state(facts, [info, trouble(46)], at: 40).group("g1")?.transactionID == "t3")
    #expect(Given.state(facts, [info, trouble(nil)], at: 40).group("g1")?.transactionID == "t2")
    #expect(Given.state(facts, [info, trouble(nil)], at: 60).group("g1")?.transactionID == "t1")
  }

  @Test("R59: a chain's group is what any transaction or any product of it names")
  func groups() {
    func period(
      _ id: Int, _ product: ProductID, _ group: SubscriptionGroupID?, from start: Double
    ) -> TransactionFact {
      Given.period(id, product: product, from: start) {
        $0.subscriptionGroupID = group
        $0.offer = Offer(type: .introductory, discountType: .freeTrial)
      }
    }
    let rows: [([TransactionFact], [SubscriptionGroupID])] = [
      ([period(1, "pro.monthly", "g9", from: 0)], ["g9"]),
      ([period(1, "pro.monthly", nil, from: 0)], ["g1"]),
      ([period(1, "elsewhere", nil, from: 0)], []),
      // Any transaction of the chain before any product of it; of several, the latest.
      (
        [
          period(1, "pro.monthly", "g7", from: 0), period(2, "pro.monthly", "g8", from: 30),
          period(3, "elsewhere", nil, from: 60),
        ], ["g8"]
      ),
      ([period(1, "pro.monthly", nil, from: 0), period(2, "elsewhere", nil, from: 30)], ["g1"]),
    ]
    for (facts, groups) in rows {
      let state = Given.state(facts, at: 65)
      #expect(state.groups.map(\.groupID) == groups)
      #expect(!state.groups.map(\.trialUsed).contains(false))
      #expect(!state.groups.map(\.introductoryOfferUsed).contains(false))
      #expect(Set(state.products.map(\.groupID)) == [groups.first])
    }
  }

  // MARK: Upgrades

  @Test(
    "R62: another product that begins inside a period replaces it",
    arguments: [
      ("PURCHASE", 10.0, true), ("RENEWAL", 10, true), (nil, 10, true), ("PURCHASE", 0, false),
      ("PURCHASE", 30, false), (nil, 30, false),
    ] as [(String?, Double, Bool)])
  func upgrade(reason: String?, start: Double, isReplaced: Bool) {
    let old = Given.period(1, from: 0)
    let new = Given.period(2, product: "basic.monthly", from: start, to: start + 5) {
      $0.transactionReason = reason
    }
    let state = Given.state([old, new], at: max(start, 10))
    #expect((state.product("pro.monthly")?.status == .replaced) == (isReplaced || start == 30))
    // The replaced period gives no access after its successor either.
    #expect(Given.state([old, new], at: 20).entitlementIDs.isEmpty == isReplaced)
  }

  // MARK: Ranks and ties

  @Test("R63: what is to come ranks below what has expired, and above what was revoked")
  func upcoming() {
    let upcoming = Given.period(1, of: "c1", from: 100)
    let expired = Given.period(2, of: "c2", from: 0)
    let revoked = Given.period(3, of: "c3", from: 0) { $0.revocationDate = Given.day(1) }
    #expect(Given.state([upcoming, expired, revoked], at: 50).group("g1")?.transactionID == "t2")
    #expect(Given.state([upcoming, revoked], at: 50).group("g1")?.transactionID == "t1")
  }

  @Test("R63: ties between chains go to the level, then to the end, then to the transaction id")
  func chainTies() {
    func winner(_ left: TransactionFact, _ right: TransactionFact) -> [TransactionID?] {
      [[left, right], [right, left]].map { Given.state($0, at: 5).group("g1")?.transactionID }
    }
    let basic = Given.period(1, of: "c1", product: "basic.monthly", from: 0, to: 90)
    #expect(winner(basic, Given.period(2, of: "c2", from: 0)) == ["t2", "t2"])
    #expect(
      winner(Given.period(3, of: "c1", from: 0, to: 20), Given.period(2, of: "c2", from: 0))
        == ["t2", "t2"])
    // Byte by byte: "t9" is greater than "t10".
    #expect(
      winner(Given.period(9, of: "c1", from: 0), Given.period(10, of: "c2", from: 0))
        == ["t9", "t9"])
  }

  @Test("R63: of periods that end together, the one that begins last, or was signed last, decides")
  func periodTies() {
    func deciding(_ change: (inout TransactionFact) -> Void) -> [TransactionID?] {
      let first = Given.period(1, from: 0)
      let second = Given.period(2, from: 0, change: change)
      return [[first, second], [second, first]].map {
        Given.state($0, at: 10).group("g1")?.transactionID
      }
    }
    #expect(deciding { $0.purchaseDate = Given.day(5) } == ["t2", "t2"])
    #expect(
      deciding {
        $0.purchaseDate = Given.day(-5)
        $0.signedDate = Given.day(5)
      } == ["t1", "t1"])
    #expect(deciding { $0.signedDate = Given.day(5) } == ["t2", "t2"])
    #expect(deciding { $0.signedDate = Given.day(-5) } == ["t1", "t1"])
  }
}
