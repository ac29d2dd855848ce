import EntitlementDomain
import Testing

/// The cases that must each be a test of their own, as far as evaluation decides them. The others
/// are those of links (11, 16), grandfathering (19–22) and notifications (25).
@Suite("Named cases")
struct NamedCasesTests {
  @Test("Case 1: an old chain that expired after a new one began hides nothing (R28)")
  func oldChainExpires() {
    let old = Given.period(1, of: "c1", from: 0)
    let expired = Given.renewal(of: "c1", signed: 30, autoRenews: false) {
      $0.expirationIntent = .cancelled
    }
    let new = Given.period(2, of: "c2", from: 20)
    let state = Given.state([old, new], [expired], at: 31)
    #expect(state.coreState == .active)
    #expect(state.group("g1")?.originalTransactionID == "c2")
    #expect(state.callsToAction == [.none])
  }

  @Test("Case 2: in grace the customer is active although expiresDate has passed (R19)")
  func grace() {
    let info = Given.renewal(signed: 30) {
      $0.gracePeriodExpiresDate = Given.day(46)
      $0.isInBillingRetryPeriod = false
    }
    let state = Given.state([Given.period(1, from: 0)], [info], at: 40)
    #expect(state.coreState == .active)
    #expect(state.group("g1")?.status == .grace)
    #expect(state.callsToAction == [.fixBilling])
    #expect(state.entitlements.first?.sources.first?.until == Given.day(46))
    #expect(state.nextTransitionAt == Given.day(46))
  }

  @Test("Case 3: a refund of period 3 leaves period 5 active (R16)")
  func refundOfPeriodThree() {
    let periods = (1...5).map { index in
      Given.period(index, from: Double(index - 1) * 30) {
        if index == 3 { $0.revocationDate = Given.day(125) }
      }
    }
    let state = Given.state(periods, at: 130)
    #expect(state.coreState == .active)
    #expect(state.group("g1")?.transactionID == "t5")
    #expect(state.group("g1")?.revocation == nil)
  }

  @Test("Case 4: a reversal that arrives before the refund it reverses restores access (R5)")
  func reversalFirst() {
    let refunded = Given.period(1, from: 0) {
      $0.revocationDate = Given.day(5)
      $0.signedDate = Given.day(5)
    }
    let reversed = Given.period(1, from: 0) { $0.signedDate = Given.day(8) }
    for facts in [[reversed, refunded], [refunded, reversed]] {
      #expect(Given.state(facts, at: 9).coreState == .active)
    }
  }

  @Test("Case 5: an expiry that arrives after a renewal signed later changes nothing (R5)")
  func lateExpiry() {
    let renewed = Given.renewal(signed: 31)
    let expired = Given.renewal(signed: 30.5, autoRenews: false) {
      $0.expirationIntent = .billingError
    }
    let periods = [Given.period(1, from: 0), Given.period(2, from: 31)]
    for infos in [[renewed, expired], [expired, renewed]] {
      let standing = Given.state(periods, infos, at: 32).group("g1")
      #expect(standing?.status == .active)
      #expect(standing?.willRenew == true)
      #expect(Given.state(periods, infos, at: 62).group("g1")?.expirationReason == .unknown)
    }
  }

  @Test("Case 6: a change of the renewal status that arrives before the purchase is kept (R22)")
  func renewalStatusFirst() {
    let cancelled = Given.renewal(signed: 1, autoRenews: false)
    let early = Given.state([], [cancelled], at: 2)
    #expect(early.coreState == .inactive)
    #expect(early.groups.isEmpty)
    let state = Given.state([Given.period(1, from: 0)], [cancelled], at: 2)
    #expect(state.coreState == .active)
    #expect(state.group("g1")?.willRenew == false)
    #expect(state.callsToAction == [.keepSubscription])
  }

  @Test("Case 7: an upgrade whose successor is missing keeps access and has a notice (R17)")
  func successorMissing() {
    let upgraded = Given.period(1, product: "basic.monthly", from: 0) { $0.isUpgraded = true }
    let state = Given.state([upgraded], at: 29.9)
    #expect(state.entitlementIDs == ["basic"])
    #expect(state.group("g1")?.notices == [.successorMissing])
    #expect(Given.state([upgraded], at: 30).coreState == .inactive)
  }

  @Test("Case 8: a renewal charged before the end extends access without a gap (R18)")
  func chargedEarly() {
    let first = Given.period(1, from: 0)
    let second = Given.period(2, from: 29, to: 60)
    for moment in [28.9, 29, 30, 59.9] {
      let state = Given.state([first, second], at: moment)
      #expect(state.coreState == .active)
      #expect(state.entitlements.first?.sources.map(\.until) == [Given.day(60)])
    }
    #expect(Given.state([first, second], at: 28.9).group("g1")?.transactionID == "t1")
    #expect(Given.state([first, second], at: 29).group("g1")?.transactionID == "t2")
  }

  @Test("Case 9: without any EXPIRED the subscription ends by its own date (R15, R21)")
  func neverExpired() {
    let state = Given.state([Given.period(1, from: 0)], at: 30)
    #expect(state.coreState == .inactive)
    #expect(state.group("g1")?.expirationReason == .unknown)
    #expect(state.callsToAction == [.winBack])
  }

  @Test("Case 10: one purchase under two transaction ids is one period (R6)")
  func twoTransactionIDs() {
    let first = Given.period(1, from: 0) { $0.webOrderLineItemID = "w" }
    let second = Given.period(2, from: 0) {
      $0.webOrderLineItemID = "w"
      $0.signedDate = Given.day(1)
    }
    let state = Given.state([first, second], at: 2)
    #expect(state.entitlements.first?.sources.map(\.transactionID) == ["t2"])
    var refunded = second
    refunded.revocationDate = Given.day(3)
    refunded.signedDate = Given.day(4)
    #expect(Given.state([first, refunded], at: 5).coreState == .inactive)
  }

  @Test("Case 12: a transaction that moved to another chain stands in that one alone (R7)")
  func moved() {
    let before = Given.period(1, of: "c1", from: 0)
    let after = Given.period(1, of: "c2", from: 0) { $0.signedDate = Given.day(3) }
    let cancelled = Given.renewal(of: "c2", signed: 3, autoRenews: false)
    for facts in [[before, after], [after, before]] {
      let state = Given.state(facts, [Given.renewal(of: "c1", signed: 4), cancelled], at: 5)
      #expect(state.group("g1")?.originalTransactionID == "c2")
      #expect(state.group("g1")?.willRenew == false)
      #expect(state.entitlements.first?.sources.count == 1)
    }
  }

  @Test("Case 13: the end of sharing and a refund of the purchaser each end their own access (R25)")
  func family() {
    let own = Given.period(1, of: "c1", product: "news.monthly", group: "g2", from: 0)
    let shared = Given.period(2, of: "c2", from: 0) { $0.ownership = .familyShared }
    var left = shared
    left.revocationDate = Given.day(5)
    left.revocationType = .familyRevoke
    left.signedDate = Given.day(5)
    let afterLeaving = Given.state([own, shared, left], at: 6)
    #expect(afterLeaving.entitlementIDs == ["season"])
    #expect(afterLeaving.group("g1")?.revocation?.type == .familyRevoke)
    #expect(afterLeaving.group("g1")?.ownership == .familyShared)
    var refunded = own
    refunded.revocationDate = Given.day(5)
    refunded.revocationReason = .other
    refunded.revocationType = .refundFull
    refunded.signedDate = Given.day(5)
    let afterRefund = Given.state([own, shared, refunded], at: 6)
    #expect(afterRefund.entitlementIDs == ["basic", "pro"])
    #expect(afterRefund.group("g2")?.revocation?.reason == .other)
  }

  @Test("Case 14: of two groups one is revoked, and the other one stands (R27)")
  func twoGroups() {
    let revoked = Given.period(1, of: "c1", from: 0) { $0.revocationDate = Given.day(2) }
    let news = Given.period(2, of: "c2", product: "news.monthly", group: "g2", from: 0)
    let state = Given.state([revoked, news], at: 3)
    #expect(state.coreState == .active)
    #expect(state.entitlementIDs == ["season"])
    #expect(state.group("g1")?.status == .revoked)
    #expect(state.group("g2")?.status == .active)
  }

  @Test(
    "Case 15: a non-renewing month ends at the month's end, in leap years too (R11)",
    arguments: [
      // 2027-01-31 to 2027-02-28, 2028-01-31 to 2028-02-29, 2028-02-29 to 2028-03-29.
      (395.0, 423.0), (760, 789), (789, 818),
    ])
  func monthEnd(bought: Double, ends: Double) {
    let season = Given.purchase(1, product: "season", type: .nonRenewing, at: bought)
    let state = Given.state([season], at: bought)
    #expect(state.product("season")?.periodEnd == Given.day(ends))
    #expect(state.nextTransitionAt == Given.day(ends))
    #expect(Given.state([season], at: ends).coreState == .inactive)
  }

  @Test("Case 17: a successful retry restores the subscription, in grace and after it (R19, R20)")
  func recovered() {
    let failed = Given.renewal(signed: 30) {
      $0.isInBillingRetryPeriod = true
      $0.gracePeriodExpiresDate = Given.day(46)
    }
    let first = Given.period(1, from: 0)
    // Within grace the new period begins where the old one ended; after it, with the charge.
    for (start, signed) in [(30.0, 40.0), (50, 50)] {
      #expect(Given.state([first], [failed], at: signed).callsToAction == [.fixBilling])
      let second = Given.period(2, from: start) { $0.signedDate = Given.day(signed) }
      let renewed = Given.renewal(signed: signed)
      for infos in [[failed, renewed], [renewed, failed]] {
        let state = Given.state([first, second], infos, at: signed)
        #expect(state.group("g1")?.status == .active)
        #expect(state.group("g1")?.graceEnd == nil)
        #expect(state.callsToAction == [.none])
      }
    }
  }

  @Test("Case 18: a non-consumable that was refunded and bought again is owned (R16, R28)")
  func boughtAgain() {
    let refunded = Given.purchase(1, product: "adfree", type: .nonConsumable, at: 0) {
      $0.revocationDate = Given.day(2)
    }
    let again = Given.purchase(2, product: "adfree", type: .nonConsumable, at: 5)
    #expect(Given.state([refunded], at: 3).coreState == .inactive)
    let state = Given.state([refunded, again], at: 6)
    #expect(state.entitlementIDs == ["ad_free"])
    #expect(state.entitlements.first?.sources.map(\.transactionID) == ["t2"])
    #expect(state.product("adfree")?.firstPurchaseAt == Given.day(0))
  }

  @Test("Case 23: a customer who was revoked and bought again is active (R28)")
  func wonBack() {
    let refunded = Given.period(1, of: "c1", from: 0) { $0.revocationDate = Given.day(10) }
    let info = Given.renewal(of: "c1", signed: 10, autoRenews: false) {
      $0.eligibleWinBackOfferIDs = ["back"]
    }
    let revoked = Given.state([refunded], [info], at: 11)
    #expect(revoked.callsToAction == [.winBack])
    let back = Given.period(2, of: "c1", from: 12) {
      $0.offer = Offer(type: .winBack, identifier: "back")
    }
    let state = Given.state([refunded, back], [info, Given.renewal(of: "c1", signed: 12)], at: 13)
    #expect(state.coreState == .active)
    #expect(state.group("g1")?.offer?.type == .winBack)
    #expect(state.group("g1")?.revocation == nil)
    #expect(state.callsToAction == [.none])
  }

  @Test("Case 24: a declined price increase ends the subscription with that reason (R21, R23)")
  func priceIncreaseDeclined() {
    let period = Given.period(1, from: 0)
    let asked = Given.renewal(signed: 20) { $0.priceIncreaseStatus = .pending }
    #expect(Given.state([period], [asked], at: 21).callsToAction == [.consentToPrice])
    let declined = Given.renewal(signed: 30, autoRenews: false) {
      $0.expirationIntent = .noPriceConsent
      $0.priceIncreaseStatus = .pending
    }
    let standing = Given.state([period], [asked, declined], at: 31).group("g1")
    #expect(standing?.status == .expired)
    #expect(standing?.expirationReason == .priceIncreaseDeclined)
    #expect(standing?.priceConsent == nil)
    #expect(standing?.callToAction == .winBack)
  }

  @Test("Case 26: unknown values are reported unchanged, and grant nothing (R10)")
  func unknownValues() {
    let period = Given.period(1, from: 0) {
      $0.ownership = OwnershipType(rawValue: "BORROWED")
      $0.offer = Offer(type: OfferType(rawValue: 99))
      $0.revocationDate = Given.day(5)
      $0.revocationReason = RevocationReason(rawValue: 7)
      $0.revocationType = RevocationType(rawValue: "MADE_UP")
    }
    let timeshare = Given.purchase(
      2, product: "adfree", type: ProductType(rawValue: "Timeshare"), at: 0)
    let state = Given.state([period, timeshare], at: 6)
    #expect(state.coreState == .inactive)
    #expect(state.group("g1")?.ownership?.rawValue == "BORROWED")
    #expect(state.group("g1")?.offer?.type.rawValue == 99)
    #expect(state.group("g1")?.revocation?.reason?.rawValue == 7)
    #expect(state.group("g1")?.revocation?.type?.rawValue == "MADE_UP")
    #expect(state.product("adfree")?.productType.rawValue == "Timeshare")
    #expect(state.product("adfree")?.status == .undetermined)
  }
}
