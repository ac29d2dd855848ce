import EntitlementDomain
import Testing

@Suite("R47: Apple's view is compared with the evaluated status as of its signing date")
struct NotificationStatusTests {
  /// The standing of a chain with one period from day 0 to day 30.
  struct Situation: CustomTestStringConvertible {
    let name: String
    let status: SubscriptionStatus
    let day: Double
    let facts: [Fact]

    var testDescription: String { name }
  }

  private static let period = Given.period(1, from: 0)

  private static func facts(
    _ transaction: TransactionFact = period, _ change: (inout RenewalInfoFact) -> Void = { _ in }
  ) -> [Fact] {
    [.transaction(transaction), .renewalInfo(Given.renewal(signed: 1, change: change))]
  }

  static let situations: [Situation] = [
    Situation(name: "in force", status: .active, day: 10, facts: facts()),
    Situation(
      name: "cancelled, in force", status: .active, day: 10,
      facts: facts { $0.autoRenews = false }),
    Situation(
      name: "cancelled, over", status: .expired, day: 40,
      facts: facts {
        $0.autoRenews = false
        $0.expirationIntent = .cancelled
      }),
    Situation(name: "overdue", status: .expired, day: 31, facts: facts()),
    Situation(
      name: "in billing retry", status: .billingRetry, day: 40,
      facts: facts { $0.isInBillingRetryPeriod = true }),
    Situation(
      name: "billing retry given up", status: .expired, day: 91,
      facts: facts { $0.isInBillingRetryPeriod = true }),
    Situation(
      name: "in grace", status: .grace, day: 40,
      facts: facts {
        $0.isInBillingRetryPeriod = true
        $0.gracePeriodExpiresDate = Given.day(46)
      }),
    Situation(
      name: "grace over", status: .billingRetry, day: 46,
      facts: facts {
        $0.isInBillingRetryPeriod = true
        $0.gracePeriodExpiresDate = Given.day(46)
      }),
    Situation(
      name: "revoked", status: .revoked, day: 20,
      facts: facts(Given.period(1, from: 0) { $0.revocationDate = Given.day(5) })),
    Situation(
      name: "revoked, long over", status: .revoked, day: 70,
      facts: facts(Given.period(1, from: 0) { $0.revocationDate = Given.day(5) })),
    // Boundaries belong to what follows (R15), without any tolerance.
    Situation(name: "the last millisecond", status: .active, day: 29.999_999_99, facts: facts()),
    Situation(name: "the very end", status: .expired, day: 30, facts: facts()),
    // The comparison needs neither the catalog nor a group.
    Situation(
      name: "of an unknown product", status: .active, day: 10,
      facts: facts(Given.period(1, product: "unknown", from: 0))),
    Situation(
      name: "of an unknown product without a group, over", status: .expired, day: 40,
      facts: facts(
        Given.period(1, product: "unknown", from: 0) { $0.subscriptionGroupID = nil })),
  ]

  private func mismatches(
    _ status: Int64?, day: Double?, facts: [Fact], bringing inner: [Fact]? = nil,
    catalog: Catalog = Given.catalog
  ) -> [FeedEvent] {
    // The comparison does not depend on the type, also if it is unknown.
    NotificationReview.events(
      of: NotificationReviewTests.notification("NEW_TYPE", status: status, at: day),
      bringing: inner ?? Array(facts.prefix(1)), facts: facts, catalog: catalog
    ).filter { $0.refetchReason == .statusMismatch }
  }

  @Test("Each status matches its own situation and no other", arguments: situations)
  func statuses(situation: Situation) {
    var lenient = Given.catalog
    lenient.renewalLeeway = Catalog.maximumRenewalLeeway
    for appleStatus in SubscriptionStatus.allCases {
      // The operator's leeway (R24) is not part of Apple's view.
      for catalog in [Given.catalog, lenient] {
        let found = mismatches(
          appleStatus.rawValue, day: situation.day, facts: situation.facts, catalog: catalog)
        if appleStatus == situation.status {
          #expect(found.isEmpty)
        } else {
          #expect(
            found == [
              FeedEvent(
                kind: .refetchDue, notificationUUID: NotificationReviewTests.uuid,
                originalTransactionID: "c1", transactionID: "t1", refetchReason: .statusMismatch,
                detail: "Apple says \(appleStatus.name), the facts say \(situation.status.name)")
            ])
        }
      }
    }
  }

  @Test func `every status is one of Apple's numbers`() {
    #expect(
      SubscriptionStatus.allCases.map { "\($0.rawValue) \($0.name)" } == [
        "1 ACTIVE", "2 EXPIRED", "3 BILLING_RETRY", "4 GRACE", "5 REVOKED",
      ])
    #expect(Set(Self.situations.map(\.status)) == Set(SubscriptionStatus.allCases))
  }

  @Test func `an absent or unknown status is not compared`() {
    for status in [nil, 0, 6, -1, .max] as [Int64?] {
      #expect(mismatches(status, day: 40, facts: Self.facts()).isEmpty)
    }
  }

  @Test func `case 5: EXPIRED that arrives after a later signed renewal is no mismatch`() {
    let renewed = Given.period(2, from: 31)
    let info = Given.renewal(signed: 31)
    let old: [Fact] = [
      .transaction(Self.period),
      .renewalInfo(
        Given.renewal(signed: 30, autoRenews: false) { $0.expirationIntent = .cancelled }),
    ]
    // The renewal began before Apple's view was signed, so the views differ.
    let early = Given.period(2, from: 29.5) { $0.signedDate = Given.day(31) }
    for later in [renewed, early] {
      let standing: [Fact] = [
        .transaction(Self.period), .transaction(later), .renewalInfo(info),
      ]
      #expect(mismatches(2, day: 30, facts: standing, bringing: old).isEmpty)
    }
    // A fact of another chain, or of another environment, that was signed later explains nothing.
    let other = Given.period(3, of: "c2", from: 31)
    let sandbox = Given.period(3, from: 31) { $0.environment = .sandbox }
    for fact in [other, sandbox] {
      let standing = [Fact.transaction(Self.period), .transaction(fact)]
      #expect(mismatches(1, day: 30, facts: standing, bringing: old).count == 1)
    }
  }

  @Test func `the facts inside may be signed slightly later than the notification`() {
    let stamped = Given.period(1, from: 0) { $0.signedDate = Given.day(10.000_01) }
    #expect(mismatches(2, day: 10, facts: [.transaction(stamped)]).count == 1)
    let later = Given.period(2, from: 30) { $0.signedDate = Given.day(10.000_01) }
    #expect(
      mismatches(
        2, day: 10, facts: [.transaction(later), .transaction(Self.period)],
        bringing: [.transaction(Self.period)]
      ).isEmpty)
  }

  @Test func `the refund of an earlier period leaves the chain active (case 3)`() {
    let refunded = Given.period(1, from: 0) { $0.revocationDate = Given.day(40) }
    let facts: [Fact] = [.transaction(refunded), .transaction(Given.period(2, from: 30))]
    #expect(mismatches(1, day: 40, facts: facts).isEmpty)
    #expect(
      mismatches(5, day: 40, facts: facts).map(\.detail)
        == ["Apple says REVOKED, the facts say ACTIVE"])
  }

  @Test func `a period that has not begun is a mismatch with ACTIVE`() {
    let facts = [Fact.transaction(Given.period(1, from: 5) { $0.signedDate = Given.day(4) })]
    #expect(
      mismatches(1, day: 4.5, facts: facts).map(\.detail)
        == ["Apple says ACTIVE, the facts say UPCOMING"])
  }

  @Test func `a notification without a subscription, or without a signing date, is not compared`() {
    let coins = Given.purchase(1, product: "coins", type: .consumable, at: 0)
    #expect(mismatches(2, day: 10, facts: [.transaction(coins)]).isEmpty)
    #expect(mismatches(2, day: nil, facts: Self.facts()).isEmpty)
    #expect(mismatches(2, day: 10, facts: Self.facts(), bringing: []).isEmpty)
    // A renewal info alone names the chain.
    let info = [Self.facts()[1]]
    #expect(mismatches(2, day: 10, facts: Self.facts(), bringing: info).count == 1)
    #expect(mismatches(2, day: 10, facts: info, bringing: info).isEmpty)
  }
}
