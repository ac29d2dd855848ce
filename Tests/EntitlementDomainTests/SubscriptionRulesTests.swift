import EntitlementDomain
import Testing

@Suite("Auto-renewable subscriptions")
struct SubscriptionRulesTests {
  @Test(
    "R15: a period is in force from its purchase to just before its end",
    arguments: [
      (-0.1, CoreState.inactive, DetailedStatus.upcoming), (0, .active, .active),
      (29.99, .active, .active), (30, .inactive, .expired), (400, .inactive, .expired),
    ])
  func halfOpen(moment: Double, core: CoreState, status: DetailedStatus) {
    let state = Given.state([Given.period(1, from: 0)], at: moment)
    #expect(state.coreState == core)
    #expect(state.group("g1")?.status == status)
    #expect(state.entitlementIDs == (core == .active ? ["basic", "pro"] : []))
  }

  @Test("R16: a refund of period 3 leaves period 5 alone")
  func refundOfOnePeriod() {
    let periods = (0..<5).map { index in
      Given.period(index, from: Double(index) * 30) {
        if index == 2 { $0.revocationDate = Given.day(121) }
      }
    }
    #expect(Given.state(periods, at: 125).group("g1")?.status == .active)
    #expect(Given.state(periods, at: 150).group("g1")?.status == .expired)
  }

  @Test("R16: a revocation ends its transaction from its own moment on")
  func revocation() throws {
    let period = Given.period(1, from: 0) {
      $0.revocationDate = Given.day(10)
      $0.revocationReason = .appIssue
    }
    #expect(Given.state([period], at: 9).coreState == .active)
    let standing = try #require(Given.state([period], at: 10).group("g1"))
    #expect(standing.status == .revoked)
    #expect(standing.revocation?.reason == .appIssue)
    #expect(standing.callToAction == .winBack)
    #expect(Given.state([period], at: 10).entitlements.isEmpty)
  }

  @Test("R16: a refund reversed by a newer statement restores access")
  func reversal() {
    let refunded = Given.period(1, from: 0) { $0.revocationDate = Given.day(5) }
    let reversed = Given.period(1, from: 0) { $0.signedDate = Given.day(8) }
    for facts in [[refunded, reversed], [reversed, refunded]] {
      #expect(Given.state(facts, at: 9).coreState == .active)
    }
  }

  @Test("R17: an upgraded period ends where its successor begins")
  func upgrade() throws {
    let old = Given.period(1, product: "basic.monthly", from: 0) { $0.isUpgraded = true }
    let new = Given.period(2, from: 10)
    let before = Given.state([old, new], at: 9)
    #expect(before.group("g1")?.productID == "basic.monthly")
    #expect(before.entitlementIDs == ["basic"])
    let after = Given.state([old, new], at: 10)
    #expect(after.group("g1")?.productID == "pro.monthly")
    #expect(after.product("basic.monthly")?.status == .replaced)
    #expect(after.product("basic.monthly")?.callToAction == CallToAction.none)
    #expect(after.entitlementIDs == ["basic", "pro"])
    #expect(after.group("g1")?.notices == [])
  }

  @Test("R17: an upgrade to a shorter period ends the longer one for good")
  func upgradeFromYear() {
    let year = Given.period(1, product: "basic.monthly", from: 0, to: 365) { $0.isUpgraded = true }
    let month = Given.period(2, from: 10, to: 40)
    #expect(Given.state([year, month], at: 11).group("g1")?.productID == "pro.monthly")
    #expect(Given.state([year, month], at: 39).nextTransitionAt == Given.day(40))
    #expect(Given.state([year, month], at: 41).coreState == .inactive)
  }

  @Test("R17, R18: of two upgraded periods that begin together, the one that ends later stands")
  func upgradedTogether() throws {
    let long = Given.period(1, from: 0, to: 30) { $0.isUpgraded = true }
    let short = Given.period(2, product: "basic.monthly", from: 0, to: 10) {
      $0.isUpgraded = true
    }
    for facts in [[long, short], [short, long]] {
      let state = Given.state(facts, at: 5)
      let standing = try #require(state.group("g1"))
      #expect(standing.productID == "pro.monthly")
      #expect(standing.status == .active)
      #expect(standing.notices == [.successorMissing])
      #expect(state.product("basic.monthly")?.status == .replaced)
      #expect(Given.state(facts, at: 30).group("g1")?.status == .expired)
    }
  }

  @Test("R17: without a successor, an upgraded period keeps access and has a notice")
  func successorMissing() throws {
    let old = Given.period(1, product: "basic.monthly", from: 0) { $0.isUpgraded = true }
    let standing = try #require(Given.state([old], at: 20).group("g1"))
    #expect(standing.status == .active)
    #expect(standing.notices == [.successorMissing])
    #expect(Given.state([old], at: 30).coreState == .inactive)
  }

  @Test("R18: a renewal charged early leaves no gap and changes the product when it begins")
  func earlyRenewal() {
    let first = Given.period(1, from: 0)
    let second = Given.period(2, product: "basic.monthly", from: 30) {
      $0.signedDate = Given.day(29)
    }
    let before = Given.state([first, second], at: 29.5)
    #expect(before.group("g1")?.productID == "pro.monthly")
    #expect(before.ends(of: "basic") == [Given.day(60)])
    #expect(before.ends(of: "pro") == [Given.day(30)])
    #expect(Given.state([first, second], at: 30).group("g1")?.productID == "basic.monthly")
  }

  @Test(
    "R19, R20: grace is active, billing retry is not, and ends after 60 days",
    arguments: [
      (29.0, CoreState.active, DetailedStatus.active, ExpirationReason?.none, [Notice]()),
      (30, .active, .grace, nil, []), (45.9, .active, .grace, nil, []),
      (46, .inactive, .billingRetry, nil, []), (89.9, .inactive, .billingRetry, nil, []),
      (90, .inactive, .expired, .billingError, [.inferred]),
    ])
  func graceAndRetry(
    moment: Double, core: CoreState, status: DetailedStatus, reason: ExpirationReason?,
    notices: [Notice]
  ) throws {
    let info = Given.renewal(signed: 30) {
      $0.gracePeriodExpiresDate = Given.day(46)
      $0.isInBillingRetryPeriod = true
    }
    let state = Given.state([Given.period(1, from: 0)], [info], at: moment)
    let standing = try #require(state.group("g1"))
    #expect(state.coreState == core)
    #expect(standing.status == status)
    #expect(standing.expirationReason == reason)
    #expect(standing.notices == notices)
    #expect(standing.graceEnd == (status == .grace ? Given.day(46) : nil))
    let isBillingTrouble = status == .grace || status == .billingRetry
    #expect((standing.callToAction == .fixBilling) == isBillingTrouble)
    #expect(state.entitlementIDs.isEmpty == (core == .inactive))
  }

  @Test("R19: grace names the period's product, never the one that would renew")
  func graceProduct() {
    let info = Given.renewal(signed: 30) {
      $0.gracePeriodExpiresDate = Given.day(46)
      $0.autoRenewProductID = "basic.monthly"
    }
    let state = Given.state([Given.period(1, from: 0)], [info], at: 31)
    #expect(state.group("g1")?.productID == "pro.monthly")
    #expect(state.entitlementIDs == ["basic", "pro"])
  }

  @Test("R19: grace of an earlier period, of another product or of a refunded period gives nothing")
  func foreignGrace() {
    let info = Given.renewal(signed: 30) { $0.gracePeriodExpiresDate = Given.day(66) }
    let recovered = Given.period(2, from: 31, to: 61)
    #expect(
      Given.state([Given.period(1, from: 0), recovered], [info], at: 62).coreState == .inactive)
    var other = info
    other.productID = "basic.monthly"
    #expect(Given.state([Given.period(1, from: 0)], [other], at: 31).coreState == .inactive)
    let refunded = Given.period(1, from: 0) { $0.revocationDate = Given.day(20) }
    #expect(Given.state([refunded], [info], at: 31).group("g1")?.status == .revoked)
  }

  @Test("R19: a transaction signed again later does not outdate its renewal info")
  func signedAgain() {
    let info = Given.renewal(signed: 30) { $0.gracePeriodExpiresDate = Given.day(46) }
    let again = Given.period(1, from: 0) { $0.signedDate = Given.day(35) }
    #expect(Given.state([again], [info], at: 36).group("g1")?.status == .grace)
  }

  @Test(
    "R21: the reason of an expiry is Apple's, and unknown when Apple gives none",
    arguments: [
      (nil, ExpirationReason.unknown), (ExpirationIntent.cancelled, .customerCancelled),
      (.billingError, .billingError), (.noPriceConsent, .priceIncreaseDeclined),
      (.productUnavailable, .productUnavailable), (.other, .other),
      (ExpirationIntent(rawValue: 77), .other),
    ] as [(ExpirationIntent?, ExpirationReason)])
  func reasons(intent: ExpirationIntent?, reason: ExpirationReason) {
    let info = Given.renewal(signed: 31, autoRenews: false) { $0.expirationIntent = intent }
    let standing = Given.state([Given.period(1, from: 0)], [info], at: 40).group("g1")
    #expect(standing?.status == .expired)
    #expect(standing?.expirationReason == reason)
    #expect(standing?.callToAction == .winBack)
    #expect(standing?.willRenew == false)
  }

  @Test("R22: a cancelled subscription stays active until it ends")
  func cancelled() throws {
    let info = Given.renewal(signed: 5, autoRenews: false)
    let standing = try #require(Given.state([Given.period(1, from: 0)], [info], at: 29).group("g1"))
    #expect(standing.status == .active)
    #expect(standing.willRenew == false)
    #expect(standing.callToAction == .keepSubscription)
  }

  @Test("R22: without a renewal info nothing is said about the renewal")
  func unknownRenewal() throws {
    let standing = try #require(Given.state([Given.period(1, from: 0)], at: 1).group("g1"))
    #expect(standing.willRenew == nil)
    #expect(standing.callToAction == CallToAction.none)
  }

  @Test("R23: a downgrade is pending until the renewal, and price consent is asked for")
  func pending() throws {
    let info = Given.renewal(signed: 5) {
      $0.autoRenewProductID = "basic.monthly"
      $0.priceIncreaseStatus = .pending
    }
    let standing = try #require(Given.state([Given.period(1, from: 0)], [info], at: 6).group("g1"))
    #expect(
      standing.pendingChange
        == PendingChange(productID: "basic.monthly", effectiveAt: Given.day(30)))
    #expect(standing.priceConsent == .pending)
    #expect(standing.callToAction == .consentToPrice)
  }

  @Test("R24: an overdue renewal is expired at once, or after the catalog's leeway")
  func overdue() throws {
    let info = Given.renewal(signed: 1)
    let period = Given.period(1, from: 0)
    let strict = try #require(Given.state([period], [info], at: 30).group("g1"))
    #expect(strict.status == .expired)
    #expect(strict.expirationReason == .unknown)
    #expect(strict.notices == [.renewalOverdue])
    var catalog = Given.catalog
    catalog.renewalLeeway = 24 * Milliseconds.hourLength
    let lenient = Given.state([period], [info], at: 30.5, catalog: catalog)
    #expect(lenient.coreState == .active)
    #expect(lenient.entitlements.first?.sources.first?.until == Given.day(31))
    #expect(lenient.nextTransitionAt == Given.day(31))
    #expect(Given.state([period], [info], at: 31, catalog: catalog).coreState == .inactive)
  }

  @Test("R26: a commitment is part of the standing, and the monthly period decides access")
  func commitment() {
    let period = Given.period(1, from: 0) {
      $0.commitment = Commitment(
        billingPeriodNumber: 3, totalBillingPeriods: 12, expiresDate: Given.day(365))
    }
    #expect(Given.state([period], at: 1).group("g1")?.commitment?.billingPeriodNumber == 3)
    #expect(Given.state([period], at: 31).coreState == .inactive)
  }

  @Test("R6: one line item is one period, and the transaction signed later stands")
  func lineItem() {
    let first = Given.period(1, from: 0) { $0.webOrderLineItemID = "w" }
    let second = Given.period(2, from: 0) {
      $0.webOrderLineItemID = "w"
      $0.revocationDate = Given.day(3)
      $0.signedDate = Given.day(4)
    }
    #expect(Given.state([first, second], at: 5).group("g1")?.status == .revoked)
    #expect(Given.state([second, first], at: 5).coreState == .inactive)
  }

  @Test("R28: an old chain's expiry never hides a newer chain's access")
  func bestChain() throws {
    let old = Given.period(1, of: "c1", from: 0)
    let ended = Given.renewal(of: "c1", signed: 200, autoRenews: false) {
      $0.expirationIntent = .cancelled
    }
    let new = Given.period(2, of: "c2", product: "basic.monthly", from: 190, to: 220)
    let state = Given.state([old, new], [ended], at: 201)
    #expect(state.group("g1")?.originalTransactionID == "c2")
    #expect(state.group("g1")?.status == .active)
    #expect(state.group("g1")?.firstPurchaseAt == Given.day(0))
    #expect(state.product("pro.monthly")?.expirationReason == .customerCancelled)
  }

  @Test("R28: of two active chains the one with the higher level of service decides")
  func level() {
    let basic = Given.period(1, of: "c1", product: "basic.monthly", from: 0, to: 90)
    let pro = Given.period(2, of: "c2", product: "pro.monthly", from: 0, to: 30)
    let state = Given.state([basic, pro], at: 1)
    #expect(state.group("g1")?.productID == "pro.monthly")
    #expect(state.entitlements.first { $0.entitlementID == "basic" }?.sources.count == 2)
  }

  @Test("R16, R19: a refunded year hides neither grace nor expiry of the month bought after it")
  func refundedYear() {
    let year = Given.period(1, product: "basic.monthly", from: 0, to: 365) {
      $0.revocationDate = Given.day(10)
    }
    let month = Given.period(2, from: 20, to: 50)
    let grace = Given.renewal(signed: 50) { $0.gracePeriodExpiresDate = Given.day(66) }
    #expect(Given.state([year, month], [grace], at: 51).group("g1")?.status == .grace)
    let cancelled = Given.renewal(signed: 51, autoRenews: false) {
      $0.expirationIntent = .cancelled
    }
    let ended = Given.state([year, month], [cancelled], at: 52)
    #expect(ended.group("g1")?.expirationReason == .customerCancelled)
    #expect(ended.product("basic.monthly")?.status == .revoked)
  }

  @Test(
    "R17: an upgrade to a shorter period counts at once, before the old transaction comes again")
  func upgradeToShorter() {
    let year = Given.period(1, product: "basic.monthly", from: 0, to: 365)
    let month = Given.period(2, from: 10, to: 40) { $0.transactionReason = "PURCHASE" }
    let info = Given.renewal(signed: 10)
    let state = Given.state([year, month], [info], at: 11)
    #expect(state.group("g1")?.productID == "pro.monthly")
    #expect(state.group("g1")?.willRenew == true)
    #expect(state.entitlementIDs == ["basic", "pro"])
    #expect(state.product("basic.monthly")?.status == .replaced)
    // The old period does not continue when the new one ends.
    #expect(Given.state([year, month], at: 41).coreState == .inactive)
  }

  @Test("R19, R20: trouble of the period before does not follow a renewal paid within grace")
  func recoveredInGrace() {
    let first = Given.period(1, from: 0, to: 30)
    let second = Given.period(2, from: 30, to: 60) { $0.signedDate = Given.day(35) }
    let trouble = Given.renewal(signed: 30.5) {
      $0.isInBillingRetryPeriod = true
      $0.gracePeriodExpiresDate = Given.day(46)
    }
    var dated = trouble
    dated.renewalDate = Given.day(30)
    var withoutGrace = dated
    withoutGrace.gracePeriodExpiresDate = nil
    for info in [trouble, dated, withoutGrace] {
      let standing = Given.state([first, second], [info], at: 61).group("g1")
      #expect(standing?.status == .expired)
      #expect(standing?.expirationReason == .unknown)
    }
  }

  @Test("R18, R23: a period that was charged ahead is the pending change")
  func chargedAhead() {
    let pro = Given.period(1, from: 0)
    let basic = Given.period(2, product: "basic.monthly", from: 30) {
      $0.signedDate = Given.day(29.5)
    }
    let info = Given.renewal(signed: 29.5, product: "basic.monthly")
    let state = Given.state([pro, basic], [info], at: 29.6)
    #expect(
      state.group("g1")?.pendingChange
        == PendingChange(productID: "basic.monthly", effectiveAt: Given.day(30)))
    #expect(state.group("g1")?.willRenew == true)
    // A downgrade that was requested after the next period was charged follows that period.
    let next = Given.period(2, from: 30) { $0.signedDate = Given.day(29.5) }
    let asked = Given.renewal(signed: 29.7) { $0.autoRenewProductID = "basic.monthly" }
    #expect(
      Given.state([pro, next], [asked], at: 29.8).group("g1")?.pendingChange
        == PendingChange(productID: "basic.monthly", effectiveAt: Given.day(60)))
  }

  @Test("R28: an expired chain ranks above a revoked one, also if it ended earlier")
  func expiredBeforeRevoked() {
    let expired = Given.period(1, of: "c1", from: 0)
    let revoked = Given.period(2, of: "c2", from: 40) { $0.revocationDate = Given.day(50) }
    let standing = Given.state([expired, revoked], at: 60).group("g1")
    #expect(standing?.status == .expired)
    #expect(standing?.originalTransactionID == "c1")
  }

  @Test("R14, R28: a product unknown to the catalog hides no access of a known one, only its end")
  func unknownInGroup() {
    let pro = Given.period(1, of: "c1", from: 0)
    let grace = Given.renewal(of: "c1", signed: 30) { $0.gracePeriodExpiresDate = Given.day(46) }
    let unknown = Given.period(2, of: "c2", product: "elsewhere", from: 20, to: 100)
    let state = Given.state([pro, unknown], [grace], at: 31)
    #expect(state.group("g1")?.status == .grace)
    #expect(state.callsToAction == [.fixBilling])
    #expect(Given.state([pro, unknown], [grace], at: 50).group("g1")?.productID == "elsewhere")
  }

  @Test("R28: a period whose end is missing does not outrank one that ended")
  func endMissing() {
    let endless = Given.period(1, of: "c1", from: 0) { $0.expiresDate = nil }
    let ended = Given.period(2, of: "c2", from: 100, to: 130)
    let standing = Given.state([endless, ended], at: 200).group("g1")
    #expect(standing?.originalTransactionID == "c2")
  }

  @Test("R27: groups stand for themselves, one revoked and one active")
  func groups() {
    let revoked = Given.period(1, of: "c1", from: 0) { $0.revocationDate = Given.day(2) }
    let news = Given.period(2, of: "c2", product: "news.monthly", group: "g2", from: 0)
    let state = Given.state([revoked, news], at: 3)
    #expect(state.coreState == .active)
    #expect(state.group("g1")?.status == .revoked)
    #expect(state.group("g2")?.status == .active)
    #expect(state.callsToAction == [.winBack])
  }

  @Test("R29: trial and introductory offer count for the group, unless shared by a relative")
  func usedOffers() {
    let trial = Given.period(1, from: 0) {
      $0.offer = Offer(type: .introductory, discountType: .freeTrial)
    }
    let state = Given.state([trial], at: 400)
    #expect(state.groups.map(\.trialUsed) == [true])
    #expect(state.groups.map(\.introductoryOfferUsed) == [true])
    var shared = trial
    shared.ownership = .familyShared
    let relative = Given.state([shared], at: 1)
    #expect(relative.groups.map(\.trialUsed) == [false])
    #expect(relative.groups.map(\.introductoryOfferUsed) == [false])
  }
}
