import EntitlementDomain
import Testing

@Suite("The record as it was signed by a moment (R54)")
struct FactVersionTests {
  private static func renewal(
    _ seed: UInt64, signed day: Double, _ change: (inout RenewalInfoFact) -> Void = { _ in }
  ) -> Fact {
    var info = RenewalInfoFact(
      bundleID: Given.scope.bundleID, environment: Given.scope.environment,
      originalTransactionID: "c1", signedDate: Given.day(day), digest: Given.digest(seed))
    change(&info)
    return .renewalInfo(info)
  }

  private static func version(_ fact: Fact, _ days: Double...) throws -> FactVersion {
    FactVersion(fact: fact, moments: try #require(SigningMoments(days.map { Given.day($0) })))
  }

  /// On from day 0, off from day 4, on again from day 8, each signed again once.
  private static func toggled() throws -> CustomerRecord {
    let on = renewal(1, signed: 9) { $0.autoRenews = true }
    let off = renewal(2, signed: 5) { $0.autoRenews = false }
    return CustomerRecord(
      scope: Given.scope, facts: [on],
      versions: [try version(on, 0, 1, 8, 9), try version(off, 4, 5)])
  }

  @Test(
    "The version that was signed last counts, also when it was signed before another one",
    arguments: [(0, true), (3.9, true), (4, false), (7, false), (8, true), (20, true)])
  func latest(day: Double, autoRenews: Bool) throws {
    let record = try Self.toggled().signed(by: Given.day(day))
    guard case .renewalInfo(let info)? = record.facts.first else {
      Issue.record("there is no renewal info")
      return
    }
    #expect(info.autoRenews == autoRenews)
    #expect(info.signedDate <= Given.day(day))
    #expect(record.versions.isEmpty)
  }

  @Test("A renewal info of which no version was signed is not known")
  func unsignedRenewalInfo() throws {
    #expect(try Self.toggled().signed(by: Given.day(-1)).facts.isEmpty)
  }

  @Test("A transaction that was signed later only has its first version, once it was bought")
  func laterTransaction() throws {
    let first = Given.period(1, from: 10) { $0.signedDate = Given.day(20) }
    let refunded = Given.period(1, from: 10) {
      $0.signedDate = Given.day(25)
      $0.revocationDate = Given.day(24)
    }
    let record = CustomerRecord(
      scope: Given.scope, facts: [.transaction(refunded)],
      versions: [
        try Self.version(.transaction(first), 20), try Self.version(.transaction(refunded), 25),
      ])
    #expect(record.signed(by: Given.day(9)).facts.isEmpty)
    #expect(record.signed(by: Given.day(10)).facts == [.transaction(first)])
    #expect(record.signed(by: Given.day(24)).facts == [.transaction(first)])
    #expect(record.signed(by: Given.day(25)).facts == [.transaction(refunded)])
  }

  @Test("A signed version outranks one of a receipt that was signed later (R51)")
  func authority() throws {
    let signed = Given.period(1, from: 0) { $0.signedDate = Given.day(5) }
    let receipt = Given.period(1, from: 0) {
      $0.signedDate = Given.day(2)
      $0.authority = .receipt
    }
    let record = CustomerRecord(
      scope: Given.scope, facts: [.transaction(signed)],
      versions: [
        try Self.version(.transaction(signed), 5),
        try Self.version(.transaction(receipt), 2, 9),
      ])
    var early = receipt
    early.signedDate = Given.day(2)
    // None was signed by day 1: the first version of the greatest authority.
    #expect(record.signed(by: Given.day(1)).facts == [.transaction(signed)])
    #expect(record.signed(by: Given.day(2)).facts == [.transaction(early)])
    #expect(record.signed(by: Given.day(9)).facts == [.transaction(signed)])
  }

  /// A period [0, 30) whose renewal failed on day 30 with grace until 46, and its renewal [30, 60),
  /// paid for on day 35. Both transactions were signed on day 50 only.
  @Test(
    "A renewal that was paid for in grace is not known before, and what was paid for is",
    arguments: [(Given.day(30), 31.0), (nil, 31), (Given.day(30), 29.5)]
      as [(Milliseconds?, Double)])
  func failedRenewal(renewalDate: Milliseconds?, signed: Double) throws {
    let paid = Given.period(1, from: 0) { $0.signedDate = Given.day(50) }
    let recovered = Given.period(2, from: 30) { $0.signedDate = Given.day(50) }
    let failing = Self.renewal(3, signed: signed) {
      $0.isInBillingRetryPeriod = true
      $0.gracePeriodExpiresDate = Given.day(46)
      $0.renewalDate = renewalDate
    }
    let renewed = Self.renewal(4, signed: 36) { $0.renewalDate = Given.day(60) }
    let record = CustomerRecord(
      scope: Given.scope, facts: [.transaction(paid), .transaction(recovered), renewed],
      versions: [try Self.version(failing, signed), try Self.version(renewed, 36)])
    func known(_ day: Double) -> Set<Fact> { Set(record.signed(by: Given.day(day)).facts) }
    #expect(known(20) == [.transaction(paid)])
    #expect(known(32) == [.transaction(paid), failing])
    #expect(known(36) == [.transaction(paid), .transaction(recovered), renewed])
  }

  @Test("The standing version is that of every moment from its signing on, whatever ties it won")
  func ties() throws {
    let standing = Given.period(1, from: 0) { $0.signedDate = Given.day(5) }
    let other = Given.period(1, from: 0) {
      $0.signedDate = Given.day(5)
      $0.digest = PayloadDigest(words: (.max, .max))
      $0.storefront = "CAN"
    }
    let record = CustomerRecord(
      scope: Given.scope, facts: [.transaction(standing)],
      versions: [
        try Self.version(.transaction(standing), 5), try Self.version(.transaction(other), 5),
      ])
    #expect(record.signed(by: Given.day(5)).facts == [.transaction(standing)])
  }

  @Test("App transactions and grants are those of today")
  func others() {
    let fact = AppTransactionFact(
      bundleID: Given.scope.bundleID, environment: Given.scope.environment,
      signedDate: Given.day(9), digest: Given.digest(1))
    let record = CustomerRecord(scope: Given.scope, facts: [.appTransaction(fact)])
    #expect(record.signed(by: Given.day(1)).facts == record.facts)
  }
}
