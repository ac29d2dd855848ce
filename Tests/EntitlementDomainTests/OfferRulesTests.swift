import EntitlementDomain
import Testing

@Suite("Offers")
struct OfferRulesTests {
  private let period = Given.period(1, from: 0)

  @Test("R29: the offer of the next renewal is part of the standing while it will renew")
  func renewalOffer() {
    let offer = Offer(type: .promotional, identifier: "half", discountType: .payAsYouGo)
    let info = Given.renewal(signed: 5) { $0.renewalOffer = offer }
    #expect(Given.state([period], [info], at: 6).group("g1")?.renewalOffer == offer)
    var cancelled = info
    cancelled.autoRenews = false
    #expect(Given.state([period], [cancelled], at: 6).group("g1")?.renewalOffer == nil)
    var failed = info
    failed.gracePeriodExpiresDate = Given.day(46)
    failed.signedDate = Given.day(30)
    #expect(Given.state([period], [failed], at: 31).group("g1")?.renewalOffer == offer)
    #expect(Given.state([period], [info], at: 31).group("g1")?.renewalOffer == nil)
  }

  @Test("R29: win-back offers come only with the call to win back, in Apple's order")
  func winBack() {
    let info = Given.renewal(signed: 30, autoRenews: false) {
      $0.expirationIntent = .cancelled
      $0.eligibleWinBackOfferIDs = ["second", "first"]
    }
    let ended = Given.state([period], [info], at: 31)
    #expect(ended.group("g1")?.winBackOfferIDs == ["second", "first"])
    #expect(ended.callsToAction == [.winBack])
    #expect(Given.state([period], [info], at: 29).group("g1")?.winBackOfferIDs == [])
  }

  @Test("R29: win-back offers of another product's renewal are ignored")
  func winBackOfAnother() {
    let info = Given.renewal(signed: 30, autoRenews: false, product: "basic.monthly") {
      $0.eligibleWinBackOfferIDs = ["back"]
    }
    #expect(Given.state([period], [info], at: 31).group("g1")?.winBackOfferIDs == [])
  }

  typealias Use = (
    ownership: OwnershipType?, offer: Offer, trial: Bool, introductory: Bool
  )

  static let uses: [Use] = [
    (.purchased, Offer(type: .introductory, discountType: .freeTrial), true, true),
    (nil, Offer(type: .introductory, discountType: .freeTrial), true, true),
    (.purchased, Offer(type: .introductory, discountType: .payUpFront), false, true),
    (.purchased, Offer(type: .offerCode, discountType: .freeTrial), true, false),
    (.purchased, Offer(type: .promotional, discountType: .payAsYouGo), false, false),
    (.familyShared, Offer(type: .introductory, discountType: .freeTrial), false, false),
    (.assigned, Offer(type: .introductory, discountType: .freeTrial), false, false),
    (
      OwnershipType(rawValue: "NEW"), Offer(type: .introductory, discountType: .freeTrial), false,
      false
    ),
  ]

  @Test(
    "R25, R29: offers were used by the purchaser, not by a family member",
    arguments: uses)
  func used(_ use: Use) {
    let period = Given.period(1, from: 0) {
      $0.ownership = use.ownership
      $0.offer = use.offer
    }
    let groups = Given.state([period], at: 400).groups
    #expect(groups.map(\.trialUsed) == [use.trial])
    #expect(groups.map(\.introductoryOfferUsed) == [use.introductory])
    #expect(groups.map(\.standing.offer) == [use.offer])
  }

  @Test("R29: an offer counts as used from the start of its period")
  func notYetUsed() {
    let trial = Given.period(1, from: 10) {
      $0.offer = Offer(type: .introductory, discountType: .freeTrial)
    }
    let before = Given.state([trial], at: 9)
    #expect(before.groups.map(\.trialUsed) == [false])
    #expect(before.nextTransitionAt == Given.day(10))
    #expect(Given.state([trial], at: 10).groups.map(\.trialUsed) == [true])
  }

  @Test("R29: a trial used in one chain of a group counts for the whole group, and for no other")
  func perGroup() {
    let trial = Given.period(1, of: "c1", from: 0, to: 7) {
      $0.offer = Offer(type: .introductory, discountType: .freeTrial)
    }
    let later = Given.period(2, of: "c2", product: "basic.monthly", from: 50)
    let news = Given.period(3, of: "c3", product: "news.monthly", group: "g2", from: 50)
    let state = Given.state([trial, later, news], at: 51)
    #expect(state.groups.map(\.trialUsed) == [true, false])
    #expect(state.groups.map(\.introductoryOfferUsed) == [true, false])
  }
}
