import EntitlementDomain
import Testing

@Suite("The period that a renewal info speaks of")
struct RenewalSubjectTests {
  private static let millisecond = 1 / 86_400_000.0

  private func standing(
    _ periods: [TransactionFact], _ info: RenewalInfoFact, at moment: Double,
    leeway: Int64 = 0
  ) throws -> Standing {
    var catalog = Given.catalog
    catalog.renewalLeeway = leeway
    return try #require(Given.state(periods, [info], at: moment, catalog: catalog).group("g1"))
  }

  // MARK: Auto-renew

  @Test("R56: payloads of one notification are of one moment, up to 5 seconds apart")
  func milliseconds() throws {
    // The renewal info is signed 26 ms before the transaction, and the period begins between them.
    let start = 26 * Self.millisecond
    let first = Given.period(1, from: -30, to: start - Self.millisecond)
    let period = Given.period(2, from: start, to: 30)
    let info = Given.renewal(signed: 0)
    for periods in [[period], [first, period]] {
      #expect(try standing(periods, info, at: 1).willRenew == true)
      let overdue = try standing(periods, info, at: 30)
      #expect(overdue.notices == [.renewalOverdue])
      #expect(overdue.status == .expired)
      let lenient = try standing(periods, info, at: 30, leeway: Milliseconds.hourLength)
      #expect(lenient.status == .active)
      #expect(lenient.notices == [.renewalOverdue])
    }
    // Auto-renew that is off is of this period too, up to 5 seconds before it.
    for (seconds, willRenew) in [(4.9, false), (5.1, nil)] as [(Double, Bool?)] {
      let period = Given.period(1, from: seconds * 1_000 * Self.millisecond)
      let off = Given.renewal(signed: 0, autoRenews: false)
      #expect(try standing([period], off, at: 1).willRenew == willRenew)
    }
  }

  @Test("R57: auto-renew that was on stays on for later periods, and off does not")
  func continued() throws {
    let periods = [0.0, 30, 60].enumerated().map { Given.period($0, from: $1) }
    for renewalDate in [nil, Given.day(30)] {
      let on = Given.renewal(signed: 1) { $0.renewalDate = renewalDate }
      #expect(try standing(periods, on, at: 70).willRenew == true)
      #expect(try standing(periods, on, at: 70).callToAction == CallToAction.none)
      let overdue = try standing(periods, on, at: 90)
      #expect(overdue.notices == [.renewalOverdue])
      #expect(overdue.willRenew == true)
      let leeway = 72 * Milliseconds.hourLength
      #expect(try standing(periods, on, at: 92.9, leeway: leeway).status == .active)
      let off = Given.renewal(signed: 1, autoRenews: false) {
        $0.renewalDate = renewalDate
        $0.expirationIntent = .cancelled
      }
      #expect(try standing(Array(periods.prefix(1)), off, at: 10).willRenew == false)
      let renewed = try standing(periods, off, at: 70)
      #expect(renewed.willRenew == nil)
      #expect(renewed.callToAction == CallToAction.none)
      #expect(try standing(periods, off, at: 90).expirationReason == .unknown)
      #expect(try standing(periods, off, at: 90).notices == [])
    }
  }

  @Test("R57: only auto-renew stays: a pending change and a price consent are of their own period")
  func continuedAlone() throws {
    let info = Given.renewal(signed: 1) {
      $0.autoRenewProductID = "basic.monthly"
      $0.priceIncreaseStatus = .pending
      $0.renewalOffer = Offer(type: .promotional, identifier: "half")
    }
    let periods = [Given.period(1, from: 0), Given.period(2, from: 30)]
    #expect(try standing([periods[0]], info, at: 10).priceConsent == .pending)
    let later = try standing(periods, info, at: 40)
    #expect(later.willRenew == true)
    #expect(later.pendingChange == nil)
    #expect(later.priceConsent == nil)
    #expect(later.renewalOffer == nil)
  }

  @Test(
    "R57: a lapse or another product sets auto-renew anew, and a renewal after a retry does not",
    arguments: [
      ("PURCHASE", ProductID("pro.monthly"), Bool?.none), (nil, "pro.monthly", nil),
      ("RENEWAL", "pro.monthly", true), ("RENEWAL", "basic.monthly", nil),
    ] as [(String?, ProductID, Bool?)])
  func lapse(reason: String?, product: ProductID, willRenew: Bool?) throws {
    let second = Given.period(2, product: product, from: 40) { $0.transactionReason = reason }
    let third = Given.period(3, product: product, from: 70) { $0.transactionReason = "RENEWAL" }
    let info = Given.renewal(signed: 1) { $0.renewalDate = Given.day(30) }
    for periods in [[second], [second, third]] {
      let known = [Given.period(1, from: 0)] + periods
      #expect(try standing(known, info, at: periods.count == 1 ? 50 : 80).willRenew == willRenew)
    }
  }

  // MARK: A return after a lapse

  @Test(
    "R56: a renewal info of a return says nothing of the time before it",
    arguments: [nil, 14.0], [nil, 24.0])
  func comeback(subscriptionStart: Double?, renewalDate: Double?) throws {
    let first = Given.period(1, from: 0, to: 10)
    let second = Given.period(2, from: 14, to: 24) { $0.transactionReason = "PURCHASE" }
    let info = Given.renewal(signed: 14) {
      $0.recentSubscriptionStartDate = subscriptionStart.map(Given.day)
      $0.renewalDate = renewalDate.map(Given.day)
    }
    let leeway = 72 * Milliseconds.hourLength
    for moment in [10, 12, 13.9] {
      let standing = try standing([first, second], info, at: moment, leeway: leeway)
      #expect(standing.status == .expired)
      #expect(standing.willRenew == nil)
      #expect(standing.notices == [])
      #expect(standing.callToAction == .winBack)
    }
    #expect(try standing([first, second], info, at: 15).willRenew == true)
    // While the transaction of the return is not known, recentSubscriptionStartDate tells.
    if subscriptionStart != nil {
      let alone = try standing([first], info, at: 12, leeway: leeway)
      #expect(alone.status == .expired)
      #expect(alone.willRenew == nil)
      #expect(alone.notices == [])
    }
  }

  @Test("R56: a subscription start up to the period's end is that of the period's own subscription")
  func sameSubscription() throws {
    for start in [-100.0, 0, 30] {
      let info = Given.renewal(signed: 1) { $0.recentSubscriptionStartDate = Given.day(start) }
      #expect(try standing([Given.period(1, from: 0)], info, at: 2).willRenew == true)
    }
  }

  // MARK: Grace and retry

  @Test("R19, R56: grace of a later period is not that of the one before the lapse")
  func graceAfterLapse() throws {
    let periods = [Given.period(1, from: 0, to: 10), Given.period(2, from: 15, to: 25)]
    for renewalDate in [nil, Given.day(25)] {
      for signed in [24.5, 25, 26] {
        let info = Given.renewal(signed: signed) {
          $0.gracePeriodExpiresDate = Given.day(35)
          $0.renewalDate = renewalDate
        }
        #expect(try standing(periods, info, at: 12).status == .expired)
        #expect(try standing(periods, info, at: 26).status == .grace)
      }
    }
  }

  @Test("R19, R56: grace is over with the renewal that was paid in it", arguments: [nil, 10.0])
  func recoveredInGrace(renewalDate: Double?) throws {
    let periods = [
      Given.period(1, from: 3, to: 10),
      Given.period(2, from: 10, to: 17) { $0.signedDate = Given.day(12) },
    ]
    for signed in [9.5, 10, 11, 13] {
      let info = Given.renewal(signed: signed) {
        $0.gracePeriodExpiresDate = Given.day(38)
        $0.isInBillingRetryPeriod = true
        $0.expirationIntent = .billingError
        $0.renewalDate = renewalDate.map(Given.day)
      }
      #expect(try standing([periods[0]], info, at: 11).status == .grace)
      #expect(try standing(periods, info, at: 16).status == .active)
      let ended = try standing(periods, info, at: 17)
      #expect(ended.status == .expired)
      #expect(ended.notices == [.renewalOverdue])
      // The grace of the earlier period does not take the leeway away (R64).
      #expect(try standing(periods, info, at: 17, leeway: 1).status == .active)
    }
  }

  @Test("R56: a period is about to end in its last day, but not in its first half")
  func aboutToEnd() throws {
    func failed(signed: Double) -> RenewalInfoFact {
      Given.renewal(signed: signed) { $0.isInBillingRetryPeriod = true }
    }
    let months = [Given.period(1, from: 0), Given.period(2, from: 30)]
    for (signed, second) in [(58.9, DetailedStatus.expired), (59, .billingRetry)] {
      #expect(try standing(months, failed(signed: signed), at: 61).status == second)
    }
    // A Sandbox period of an hour.
    let hour = 1 / 24.0
    let hours = [Given.period(1, from: 0, to: hour), Given.period(2, from: hour, to: 2 * hour)]
    for (signed, second) in [(1.4 * hour, DetailedStatus.expired), (1.6 * hour, .billingRetry)] {
      #expect(try standing(hours, failed(signed: signed), at: 2 * hour).status == second)
    }
    // Without a period that has ended, it is the one in force.
    #expect(try standing([months[0]], failed(signed: 1), at: 30).status == .billingRetry)
    // Of a failed charge before the first known period nothing is known.
    #expect(try standing([months[1]], failed(signed: 1), at: 60).status == .expired)
  }

  @Test("R56: of two periods that overlap, the renewal date names the one that ends then")
  func overlap() throws {
    let periods = [Given.period(1, from: 0), Given.period(2, from: 29, to: 59)]
    let info = Given.renewal(signed: 5) {
      $0.renewalDate = Given.day(30)
      $0.gracePeriodExpiresDate = Given.day(80)
    }
    #expect(try standing(periods, info, at: 60).status == .expired)
    #expect(try standing([periods[0]], info, at: 60).status == .grace)
  }

  @Test("R56: an extended period is still the one that its older renewal info speaks of")
  func extended() throws {
    let period = Given.period(1, from: 0, to: 45) { $0.signedDate = Given.day(20) }
    let info = Given.renewal(signed: 1, autoRenews: false) { $0.renewalDate = Given.day(30) }
    #expect(try standing([period], info, at: 40).willRenew == false)
  }

  // MARK: Choices

  @Test(
    "R64: the leeway does not apply beside a grace date, a retry flag or a reason",
    arguments: ["grace", "past grace", "retry", "reason", "off", "plain"])
  func leeway(beside name: String) throws {
    let info = Given.renewal(signed: 30, autoRenews: name != "off") {
      switch name {
      case "grace": $0.gracePeriodExpiresDate = Given.day(31)
      case "past grace": $0.gracePeriodExpiresDate = Given.day(29)
      case "retry": $0.isInBillingRetryPeriod = true
      case "reason": $0.expirationIntent = .billingError
      default: break
      }
    }
    let leeway = 72 * Milliseconds.hourLength
    let standing = try standing([Given.period(1, from: 0)], info, at: 31, leeway: leeway)
    #expect((standing.coreState == .active) == (name == "plain"))
    let isOverdue = ["grace", "past grace", "plain"].contains(name)
    #expect((standing.notices == [.renewalOverdue]) == isOverdue)
  }

  @Test("R65: a grace date that is not after the period's end takes the retry flag with it")
  func staleGrace() throws {
    for (day, status) in [(29.9, DetailedStatus.expired), (30, .expired), (30.1, .billingRetry)] {
      let info = Given.renewal(signed: 30) {
        $0.isInBillingRetryPeriod = true
        $0.gracePeriodExpiresDate = Given.day(day)
      }
      let standing = try standing([Given.period(1, from: 0)], info, at: 31)
      #expect(standing.status == status)
      #expect(standing.notices == (status == .expired ? [.renewalOverdue] : []))
    }
  }
}
