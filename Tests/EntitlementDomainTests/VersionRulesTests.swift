import EntitlementDomain
import TestSupport
import Testing

@Suite("Several versions of one purchase")
struct VersionRulesTests {
  /// Every order of three.
  private static let orders = [
    [0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0],
  ]

  @Test("R5: of three versions the one signed last stands, in every order", arguments: orders)
  func versions(order: [Int]) {
    let bought = Given.period(1, from: 0)
    let refunded = Given.period(1, from: 0) {
      $0.revocationDate = Given.day(5)
      $0.signedDate = Given.day(5)
      $0.digest = Given.digest(11)
    }
    let extended = Given.period(1, from: 0, to: 45) {
      $0.signedDate = Given.day(8)
      $0.digest = Given.digest(12)
    }
    let facts = [bought, refunded, extended]
    let state = Given.state(order.map { facts[$0] }, at: 40)
    #expect(state.group("g1")?.periodEnd == Given.day(45))
    #expect(state.group("g1")?.status == .active)
    #expect(state.entitlements.allSatisfy { $0.sources.count == 1 })
  }

  @Test(
    "R5: signed at one moment, a refund stands before an upgrade, and an upgrade before neither")
  func ties() {
    func version(_ change: (inout TransactionFact) -> Void) -> TransactionFact {
      Given.period(1, product: "basic.monthly", from: 0, change: change)
    }
    let plain = version { $0.digest = Given.digest(99) }
    let upgraded = version {
      $0.isUpgraded = true
      $0.digest = Given.digest(98)
    }
    let refunded = version {
      $0.revocationDate = Given.day(1)
      $0.digest = Given.digest(97)
    }
    for facts in [[plain, upgraded, refunded], [refunded, upgraded, plain]] {
      #expect(Given.state(facts, at: 2).group("g1")?.status == .revoked)
    }
    for facts in [[plain, upgraded], [upgraded, plain]] {
      #expect(Given.state(facts, at: 2).group("g1")?.notices == [.successorMissing])
    }
  }

  @Test("R6: of three transactions of one line item the one signed last stands", arguments: orders)
  func lineItems(order: [Int]) {
    let facts = (0...2).map { index in
      Given.period(index, from: 0, to: 30 + Double(index)) {
        $0.webOrderLineItemID = "w"
        // The middle one is signed last.
        $0.signedDate = Given.day(index == 1 ? 9 : Double(index))
      }
    }
    let state = Given.state(order.map { facts[$0] }, at: 10)
    #expect(state.group("g1")?.transactionID == "t1")
    #expect(state.group("g1")?.periodEnd == Given.day(31))
    #expect(state.nextTransitionAt == Given.day(31))
  }

  @Test(
    "R5, R6: a later version of one of many transactions is found in any position",
    arguments: [1, 2, 9, 300])
  func amongMany(count: Int) {
    var random = SeededRandom(for: "a statement about one of many")
    let start = 30 * Double(count - 1)
    let facts = (0..<count).map { Given.period($0, from: 30 * Double($0)) }
    // Both end the last period a day earlier: another version, and another transaction.
    for id in [count - 1, count] {
      let later = Given.period(id, from: start, to: start + 29) {
        $0.webOrderLineItemID = WebOrderLineItemID("w\(count - 1)")
        $0.signedDate = Given.day(start + 1)
        $0.digest = Given.digest(99)
      }
      for _ in 0..<5 {
        let state = Given.state((facts + [later]).shuffled(using: &random), at: start + 2)
        #expect(state.group("g1")?.transactionID == TransactionID("t\(id)"))
        #expect(state.group("g1")?.periodEnd == Given.day(start + 29), "seed \(random.seed)")
      }
    }
  }

  @Test("R6: neither an empty line item nor that of another chain makes one period of two")
  func otherLineItems() {
    for item: WebOrderLineItemID? in [nil, ""] {
      let facts = [Given.period(1, from: 0), Given.period(2, from: 30)].map { fact in
        var fact = fact
        fact.webOrderLineItemID = item
        return fact
      }
      #expect(Given.state(facts, at: 1).ends(of: "pro") == [Given.day(60)])
    }
    let chains = [Given.period(1, of: "c1", from: 0), Given.period(2, of: "c2", from: 0)].map {
      var fact = $0
      fact.webOrderLineItemID = "w"
      return fact
    }
    #expect(Given.state(chains, at: 1).sources(of: "pro").count == 2)
  }

  @Test(
    "R7: of three versions in three chains the last signed one names the chain", arguments: orders)
  func moves(order: [Int]) {
    let facts = ["c1", "c2", "c1"].enumerated().map { index, chain in
      Given.period(1, of: OriginalTransactionID(chain), from: 0) {
        $0.signedDate = Given.day(Double(index))
        $0.digest = Given.digest(UInt64(20 + index))
      }
    }
    let state = Given.state(order.map { facts[$0] }, at: 10)
    #expect(state.group("g1")?.originalTransactionID == "c1")
    #expect(state.sources(of: "pro").count == 1)
  }

  @Test("R7: a chain whose only transaction moved away is not part of the state")
  func emptied() {
    let before = Given.period(1, of: "c1", from: 0)
    let after = Given.period(1, of: "c2", product: "news.monthly", group: "g2", from: 0) {
      $0.signedDate = Given.day(2)
    }
    let state = Given.state([before, after], [Given.renewal(of: "c1", signed: 3)], at: 4)
    #expect(state.groups.map(\.groupID) == ["g2"])
    #expect(state.products.map(\.productID) == ["news.monthly"])
  }

  @Test("R4: dates at the ends of time are judged like others, and overflow nothing")
  func extremes() {
    let ends: [Milliseconds] = [Milliseconds(.min), 0, Milliseconds(.max)]
    for start in ends {
      for end in ends {
        let period = Given.period(1, from: 0) {
          $0.purchaseDate = start
          $0.expiresDate = end
        }
        let season = Given.purchase(2, product: "season", type: .nonRenewing, at: 0) {
          $0.purchaseDate = start
          $0.revocationDate = end
        }
        let pass = Given.purchase(3, product: "pass", type: .nonRenewing, at: 0) {
          $0.purchaseDate = end
        }
        let info = Given.renewal(signed: 0) {
          $0.gracePeriodExpiresDate = end
          $0.isInBillingRetryPeriod = true
        }
        let state = Given.state([period, season, pass], [info], at: 0)
        let isInForce = start <= Given.day(0) && Given.day(0) < end
        #expect(state.group("g1")?.status == .active || !isInForce)
      }
    }
  }
}
