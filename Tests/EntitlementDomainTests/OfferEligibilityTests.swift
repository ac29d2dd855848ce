import Testing

@testable import EntitlementDomain

/// The table of deploy/docs/offers.md: who may have which offer.
@Suite("Who may have which offer")
struct OfferEligibilityTests {
  private static let everyone = Set(OfferSituation.allCases)

  private static func promotional(
    for situations: Set<OfferSituation> = everyone, change: (inout CatalogOffer) -> Void = { _ in }
  ) -> CatalogOffer {
    var offer = CatalogOffer(id: "half", kind: .promotional, situations: situations)
    change(&offer)
    return offer
  }

  private static let introductory = CatalogOffer(
    kind: .introductory, situations: [.new, .lapsed, .refunded])

  private static let product = CatalogProduct(
    id: "pro.monthly", kind: .autoRenewable, group: "g1", entitlements: ["pro"])

  private func verdict(
    on offer: CatalogOffer, _ transactions: [TransactionFact], _ renewals: [RenewalInfoFact] = [],
    at moment: Double
  ) throws -> OfferVerdict {
    let eligibility = try #require(
      OfferEligibility(
        of: Given.record(transactions, renewals), catalog: Given.catalog, at: Given.day(moment)))
    return eligibility.verdict(on: offer, of: Self.product)
  }

  private func offered(
    _ discount: OfferDiscountType? = .payUpFront, _ type: OfferType = .promotional
  ) -> (inout TransactionFact) -> Void {
    { $0.offer = Offer(type: type, identifier: "half", discountType: discount) }
  }

  // MARK: Situations

  struct Situated: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let situation: OfferSituation?
    let transactions: [TransactionFact]
    var renewals: [RenewalInfoFact] = []
    let at: Double
  }

  private static let period = Given.period(1, from: 0)

  static let situations: [Situated] = [
    Situated(testDescription: "nothing", situation: .new, transactions: [], at: 1),
    Situated(
      testDescription: "a subscription of another group", situation: .new,
      transactions: [Given.period(1, product: "news.monthly", group: "g2", from: 0)], at: 1),
    Situated(
      testDescription: "in force, nothing known of its renewal", situation: .active,
      transactions: [period], at: 1),
    Situated(
      testDescription: "in force, renews", situation: .active, transactions: [period],
      renewals: [Given.renewal(signed: 1)], at: 2),
    Situated(
      testDescription: "in force, will not renew", situation: .cancelled, transactions: [period],
      renewals: [Given.renewal(signed: 1, autoRenews: false)], at: 2),
    Situated(
      testDescription: "in grace", situation: .inBillingTrouble, transactions: [period],
      renewals: [
        Given.renewal(signed: 30) {
          $0.gracePeriodExpiresDate = Given.day(46)
          $0.isInBillingRetryPeriod = true
        }
      ], at: 31),
    Situated(
      testDescription: "in billing retry", situation: .inBillingTrouble, transactions: [period],
      renewals: [Given.renewal(signed: 30) { $0.isInBillingRetryPeriod = true }], at: 31),
    Situated(
      testDescription: "expired", situation: .lapsed, transactions: [period],
      renewals: [Given.renewal(signed: 30, autoRenews: false)], at: 31),
    Situated(
      testDescription: "refunded", situation: .refunded,
      transactions: [Given.period(1, from: 0) { $0.revocationDate = Given.day(3) }], at: 5),
    Situated(
      testDescription: "bought for later", situation: .active,
      transactions: [Given.period(1, from: 5)], at: 1),
    Situated(
      testDescription: "without an end", situation: nil,
      transactions: [Given.period(1, from: 0) { $0.expiresDate = nil }], at: 1),
  ]

  @Test("R82: a customer has one situation in the group of a product", arguments: situations)
  func situation(_ row: Situated) throws {
    let verdict = try verdict(
      on: Self.promotional(), row.transactions, row.renewals, at: row.at)
    #expect(verdict.situation == row.situation)
    if row.situation == nil { #expect(verdict.refusal == .undetermined) }
  }

  @Test("R82: an offer is for the situations that the catalog names", arguments: situations)
  func namedSituations(_ row: Situated) throws {
    guard let situation = row.situation else { return }
    let hasBought = !row.transactions.isEmpty && row.testDescription != "bought for later"
    let others = Self.promotional(for: Self.everyone.subtracting([situation]))
    let own = Self.promotional(for: [situation])
    let refused = try verdict(on: others, row.transactions, row.renewals, at: row.at)
    #expect(refused.refusal == (hasBought ? .situation : .neverSubscribed))
    #expect(refused.rule == 82)
    let given = try verdict(on: own, row.transactions, row.renewals, at: row.at)
    #expect(given.refusal == (hasBought ? nil : .neverSubscribed))
  }

  @Test("R84: an introductory offer is for new and lapsed subscribers", arguments: situations)
  func introductorySituations(_ row: Situated) throws {
    let verdict = try verdict(on: Self.introductory, row.transactions, row.renewals, at: row.at)
    let expected: OfferRefusal? =
      switch row.situation {
      case .new, .lapsed, .refunded: nil
      case .active, .cancelled, .inBillingTrouble: .subscribed
      case nil: .undetermined
      }
    #expect(verdict.refusal == expected)
  }

  // MARK: Apple's part

  @Test("R82: a promotional offer is for customers with a subscription of the app, of any group")
  func neverSubscribed() throws {
    let season = Given.purchase(1, product: "season", type: .nonRenewing, at: 0)
    #expect(try verdict(on: Self.promotional(), [season], at: 1).refusal == .neverSubscribed)
    let news = Given.period(1, product: "news.monthly", group: "g2", from: 0)
    #expect(try verdict(on: Self.promotional(), [news], at: 1).isEligible)
  }

  @Test(
    "R82: what others bought is no history, and refuses while it is in force",
    arguments: [OwnershipType.familyShared, .assigned])
  func shared(ownership: OwnershipType) throws {
    let period = Given.period(1, from: 0) { $0.ownership = ownership }
    for offer in [Self.promotional(), Self.introductory] {
      #expect(try verdict(on: offer, [period], at: 1).refusal == .familyShared)
    }
    #expect(try verdict(on: Self.promotional(), [period], at: 31).refusal == .neverSubscribed)
    #expect(try verdict(on: Self.introductory, [period], at: 31).isEligible)
    // An own purchase before it is history again when the other one has ended.
    let own = Given.period(2, of: "c2", from: -60)
    #expect(try verdict(on: Self.promotional(), [period, own], at: 1).refusal == .familyShared)
    #expect(try verdict(on: Self.promotional(), [period, own], at: 31).situation == .lapsed)
    #expect(try verdict(on: Self.promotional(), [period, own], at: 31).isEligible)
    // A longer one of the customer does not hide it.
    let longer = Given.period(4, of: "c4", from: 0, to: 90)
    #expect(try verdict(on: Self.promotional(), [period, longer], at: 1).refusal == .familyShared)
    #expect(try verdict(on: Self.promotional(), [period, longer], at: 31).isEligible)
    // One of another group refuses nothing here.
    let news = Given.period(3, of: "c3", product: "news.monthly", group: "g2", from: 0) {
      $0.ownership = ownership
    }
    #expect(try verdict(on: Self.promotional(), [own, news], at: 1).isEligible)
  }

  @Test(
    "R84: an introductory offer of the group is given once", arguments: [true, false])
  func introductoryUsed(isTrial: Bool) throws {
    let used = Given.period(1, from: 0) {
      $0.offer = Offer(type: .introductory, discountType: isTrial ? .freeTrial : .payUpFront)
    }
    let verdict = try verdict(on: Self.introductory, [used], at: 31)
    #expect(verdict.refusal == .introductoryOfferUsed)
    #expect(verdict.rule == 84)
    #expect(try self.verdict(on: Self.introductory, [used], at: 29).refusal == .subscribed)
    // Of another group: it counts there.
    let other = Given.period(2, of: "c2", product: "news.monthly", group: "g2", from: 0) {
      $0.offer = Offer(type: .introductory, discountType: .freeTrial)
    }
    #expect(try self.verdict(on: Self.introductory, [other], at: 31).isEligible)
    // "Redeeming an introductory offer doesn't affect their eligibility for a promotional offer."
    #expect(try self.verdict(on: Self.promotional(), [used], at: 31).isEligible)
  }

  @Test("R82: where Apple puts a purchase in another group than the catalog, nobody is judged")
  func mismatchedGroup() throws {
    for ownership in [OwnershipType.purchased, .familyShared] {
      let period = Given.period(1, group: "21000001", from: 0) { $0.ownership = ownership }
      for offer in [Self.promotional(), Self.introductory] {
        let verdict = try verdict(on: offer, [period], at: 1)
        #expect(verdict.refusal == .undetermined)
        #expect(verdict.situation == nil)
      }
    }
    // A receipt names no group, and another group is judged.
    let receipt = Given.period(1, from: 0) { $0.subscriptionGroupID = nil }
    #expect(try verdict(on: Self.promotional(), [receipt], at: 1).situation == .active)
    let news = Given.period(1, product: "news.monthly", group: "21000002", from: 0)
    #expect(try verdict(on: Self.promotional(), [news], at: 1).situation == .new)
  }

  // MARK: Policy

  @Test("R83: an offer may be for those whose free trial is unused")
  func trialUsed() throws {
    let trial = Given.period(1, from: 0) {
      $0.offer = Offer(type: .introductory, discountType: .freeTrial)
    }
    let paid = Given.period(1, from: 0) {
      $0.offer = Offer(type: .introductory, discountType: .payUpFront)
    }
    let offer = Self.promotional { $0.onlyIfTrialUnused = true }
    #expect(try verdict(on: offer, [trial], at: 31).refusal == .trialUsed)
    #expect(try verdict(on: offer, [paid], at: 31).isEligible)
  }

  @Test("R82: a win-back may wait for a time since access ended")
  func lapsedFor() throws {
    let offer = Self.promotional { $0.lapsedFor = CalendarDuration(days: 10) }
    let early = try verdict(on: offer, [Self.period], at: 39.9)
    #expect(early.refusal == .lapsedTooRecently)
    #expect(early.eligibleAt == Given.day(40))
    #expect(try verdict(on: offer, [Self.period], at: 40).isEligible)
    // It is of no meaning for those who have access.
    #expect(try verdict(on: offer, [Self.period], at: 5).isEligible)
    let refunded = Given.period(1, from: 0) { $0.revocationDate = Given.day(3) }
    #expect(try verdict(on: offer, [refunded], at: 12.9).eligibleAt == Given.day(13))
    #expect(try verdict(on: offer, [refunded], at: 13).isEligible)
  }

  @Test("R82: the subscription that ended last decides, also where another one is named first")
  func endedLast() throws {
    let offer = Self.promotional { $0.lapsedFor = CalendarDuration(days: 10) }
    let expired = Given.period(1, from: 0)
    let refunded = Given.period(2, of: "c2", from: 60) { $0.revocationDate = Given.day(70) }
    let early = try verdict(on: offer, [expired, refunded], at: 75)
    #expect(early.situation == .refunded)
    #expect(early.refusal == .lapsedTooRecently)
    #expect(early.eligibleAt == Given.day(80))
    #expect(try verdict(on: offer, [expired, refunded], at: 80).isEligible)
    // Refunded first, then another one expired; and one of a lower level that ended later.
    let later = Given.period(3, of: "c3", product: "basic.monthly", from: 80)
    let last = try verdict(on: offer, [expired, refunded, later], at: 111)
    #expect(last.situation == .lapsed)
    #expect(last.eligibleAt == Given.day(120))
    // One of another group does not count.
    let news = Given.period(4, of: "c4", product: "news.monthly", group: "g2", from: 90)
    #expect(try verdict(on: offer, [expired, news], at: 121).isEligible)
    // A replaced year counts to its replacement.
    let year = Given.period(5, product: "pro.yearly", from: 0, to: 365) { $0.isUpgraded = true }
    let month = Given.period(6, from: 10)
    #expect(try verdict(on: offer, [year, month], at: 49).eligibleAt == Given.day(50))
    #expect(try verdict(on: offer, [year, month], at: 366).isEligible)
  }

  @Test("R83: an offer is given as often as the catalog says")
  func times() throws {
    let first = Given.period(1, from: 0, change: offered())
    let once = try verdict(on: Self.promotional(), [first], at: 31)
    #expect(once.refusal == .usedUp)
    #expect(once.uses == 1)
    #expect(once.rule == 83)
    #expect(once.sentence.contains("once"))
    #expect(try verdict(on: Self.promotional { $0.times = 2 }, [first], at: 31).isEligible)
    let second = Given.period(2, of: "c2", from: 40, change: offered())
    let twice = try verdict(on: Self.promotional { $0.times = 2 }, [first, second], at: 71)
    #expect(twice.refusal == .usedUp)
    #expect(twice.sentence.contains("2 times"))
    #expect(
      try verdict(on: Self.promotional { $0.times = nil }, [first, second], at: 71).isEligible)
    // The future is not yet used.
    #expect(try verdict(on: Self.promotional { $0.times = 2 }, [first, second], at: 39).uses == 1)
  }

  @Test("R83: only a promotional offer with its identifier is a use of it")
  func otherOffers() throws {
    for type in [OfferType.introductory, .offerCode, .winBack] {
      let period = Given.period(1, from: 0, change: offered(.payUpFront, type))
      #expect(try verdict(on: Self.promotional(), [period], at: 31).uses == 0)
    }
    let other = Given.period(1, from: 0) {
      $0.offer = Offer(type: .promotional, identifier: "HALF", discountType: .payUpFront)
    }
    #expect(try verdict(on: Self.promotional(), [other], at: 31).isEligible)
    // Of another product of the app: the identifier counts, as does a refunded use.
    let elsewhere = Given.period(
      1, product: "news.monthly", group: "g2", from: 0, change: offered())
    #expect(try verdict(on: Self.promotional(), [elsewhere], at: 31).refusal == .usedUp)
    let refunded = Given.period(1, from: 0) {
      $0.offer = Offer(type: .promotional, identifier: "half", discountType: .freeTrial)
      $0.revocationDate = Given.day(1)
    }
    #expect(try verdict(on: Self.promotional(), [refunded], at: 31).refusal == .usedUp)
  }

  @Test("R83: periods that are paid as you go are one use, others are one each")
  func redemptions() throws {
    func uses(_ discount: OfferDiscountType?) throws -> Int {
      let periods = (0..<3).map {
        Given.period($0, from: Double($0) * 30, change: offered(discount))
      }
      return try verdict(on: Self.promotional(), periods, at: 100).uses
    }
    #expect(try uses(.payAsYouGo) == 1)
    #expect(try uses(nil) == 1)
    #expect(try uses(.payUpFront) == 3)
    #expect(try uses(.freeTrial) == 3)
    // A period at the full price ends a use.
    let apart = [
      Given.period(1, from: 0, change: offered(.payAsYouGo)), Given.period(2, from: 30),
      Given.period(3, from: 60, change: offered(.payAsYouGo)),
    ]
    #expect(try verdict(on: Self.promotional(), apart, at: 100).uses == 2)
  }

  @Test("R83: after a lapse, or by a purchase, the same offer is another use")
  func redeemedAgain() throws {
    func uses(from start: Double, reason: String?) throws -> Int {
      let first = Given.period(1, from: 0, change: offered(.payAsYouGo))
      let second = Given.period(2, from: start) {
        $0.offer = first.offer
        $0.transactionReason = reason
      }
      return try verdict(on: Self.promotional(), [second, first], at: 100).uses
    }
    #expect(try uses(from: 30, reason: nil) == 1)
    #expect(try uses(from: 30, reason: "RENEWAL") == 1)
    #expect(try uses(from: 30, reason: "PURCHASE") == 2)
    #expect(try uses(from: 40, reason: nil) == 2)
    #expect(try uses(from: 40, reason: "PURCHASE") == 2)
    // A charge that was recovered in billing retry.
    #expect(try uses(from: 40, reason: "RENEWAL") == 1)
  }

  @Test("R83: one line item is one use, under two transaction ids too (R6)")
  func lineItems() throws {
    let first = Given.period(1, from: 0, change: offered())
    var again = first
    again.transactionID = "t9"
    again.signedDate = Given.day(1)
    #expect(try verdict(on: Self.promotional(), [first, again], at: 31).uses == 1)
  }

  @Test("R83: an offer that begins at the next renewal is used already")
  func pending() throws {
    let info = Given.renewal(signed: 1) {
      $0.renewalOffer = Offer(type: .promotional, identifier: "half", discountType: .payAsYouGo)
    }
    let verdict = try verdict(on: Self.promotional(), [Self.period], [info], at: 2)
    #expect(verdict.uses == 1)
    #expect(verdict.refusal == .usedUp)
    // The next period of the same redemption is none of its own.
    let running = Given.period(1, from: 0, change: offered(.payAsYouGo))
    #expect(try self.verdict(on: Self.promotional(), [running], [info], at: 2).uses == 1)
    // An offer of one period is redeemed anew, though that period is under it too.
    let once = Given.renewal(signed: 1) {
      $0.renewalOffer = Offer(type: .promotional, identifier: "half", discountType: .payUpFront)
    }
    let paid = Given.period(1, from: 0, change: offered(.payUpFront))
    #expect(try self.verdict(on: Self.promotional(), [paid], [once], at: 2).uses == 2)
    // A charge in billing retry is still under it.
    var failed = info
    failed.signedDate = Given.day(30)
    failed.isInBillingRetryPeriod = true
    #expect(try self.verdict(on: Self.promotional(), [Self.period], [failed], at: 31).uses == 1)
    failed.autoRenews = false
    #expect(try self.verdict(on: Self.promotional(), [Self.period], [failed], at: 31).uses == 0)
    let soon = Self.promotional {
      $0.times = nil
      $0.againAfter = CalendarDuration(days: 1)
    }
    #expect(try self.verdict(on: soon, [Self.period], [info], at: 2).refusal == .usedTooRecently)
  }

  @Test("R83: a time may have to pass before an offer is given again")
  func againAfter() throws {
    let used = Given.period(1, from: 0, change: offered())
    let offer = Self.promotional {
      $0.times = nil
      $0.againAfter = CalendarDuration(days: 90)
    }
    let early = try verdict(on: offer, [used], at: 89.9)
    #expect(early.refusal == .usedTooRecently)
    #expect(early.eligibleAt == Given.day(90))
    #expect(try verdict(on: offer, [used], at: 90).isEligible)
    // The later of two waits counts.
    var both = offer
    both.lapsedFor = CalendarDuration(days: 70)
    #expect(try verdict(on: both, [used], at: 50).eligibleAt == Given.day(100))
    #expect(try verdict(on: both, [used], at: 95).refusal == .lapsedTooRecently)
  }

  // MARK: Texts and transactions

  @Test("Every refusal has a rule and a sentence of its own")
  func sentences() {
    var sentences: Set<String> = []
    for refusal in OfferRefusal.allCases {
      let verdict = OfferVerdict(
        productID: "p", offer: Self.promotional(for: [.active, .cancelled, .lapsed]),
        situation: .new, uses: 1, refusal: refusal, eligibleAt: nil)
      #expect((82...84).contains(verdict.rule))
      sentences.insert(verdict.sentence)
    }
    #expect(sentences.count == OfferRefusal.allCases.count)
    #expect(
      sentences.contains(
        "the offer is for customers who are active, cancelled or lapsed, and the customer is new"))
  }

  @Test("R84: nothing makes a present subscriber a new one, nor what is unknown known")
  func overrides() {
    #expect(
      OfferRefusal.allCases.filter(\.mayBeOverridden) == [
        .situation, .lapsedTooRecently, .trialUsed, .introductoryOfferUsed,
      ])
  }

  @Test("The latest own transaction names the customer, else the app transaction")
  func transaction() {
    func named(_ facts: [Fact]) -> String? {
      var record = Given.record([])
      record.facts = facts
      return record.transactionForOffers(at: Given.day(10))
    }
    let shared = Given.period(3, of: "c3", from: 5) { $0.ownership = .familyShared }
    let later = Given.period(4, of: "c4", from: 20)
    var app = AppTransactionFact(
      bundleID: Given.scope.bundleID, environment: Given.scope.environment,
      signedDate: Given.day(0), digest: Given.digest(9))
    app.appTransactionID = "704"
    #expect(named([]) == nil)
    #expect(named([.transaction(shared), .transaction(later)]) == nil)
    #expect(named([.transaction(shared), .appTransaction(app)]) == "704")
    let own = [Given.period(1, from: 0), Given.period(2, of: "c2", from: 3), shared, later]
    #expect(named(own.map { .transaction($0) } + [.appTransaction(app)]) == "t2")
  }

  @Test("The transaction that was asked for names the customer, if it is the customer's")
  func askedTransaction() {
    let shared = Given.period(4, of: "c4", from: 6) { $0.ownership = .familyShared }
    let own = [
      Given.period(1, from: 0), Given.period(2, from: 30), Given.period(3, of: "c3", from: 40),
    ]
    var app = AppTransactionFact(
      bundleID: Given.scope.bundleID, environment: Given.scope.environment,
      signedDate: Given.day(0), digest: Given.digest(9))
    app.appTransactionID = "704"
    var record = Given.record(own + [shared])
    record.facts.append(.appTransaction(app))
    func named(_ asked: CustomerSelector...) -> String? {
      record.transactionForOffers(at: Given.day(50), preferring: asked)
    }
    #expect(named(.account("customer")) == "t3")
    #expect(named(.transaction("t1")) == "t1")
    #expect(named(.transaction("c1")) == "t2")
    #expect(named(.originalTransaction("c1")) == "t2")
    #expect(named(.appTransaction("704")) == "704")
    #expect(named(.transaction("704")) == "704")
    for other: CustomerSelector in [
      .transaction("t4"), .originalTransaction("c4"), .transaction("t9"), .appTransaction("705"),
    ] {
      #expect(named(other) == "t3")
      #expect(named(other, .transaction("t1")) == "t1")
    }
  }
}
