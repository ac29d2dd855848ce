import EntitlementDomain
import Testing

@Suite("What a form cannot say does not overrule (R92)")
struct CompletionRulesTests {
  /// A transaction as a form states it.
  private static func stated(
    _ form: FactAuthority, signed day: Double, id: Int = 1,
    _ change: (inout TransactionFact) -> Void = { _ in }
  ) -> TransactionFact {
    Given.period(id, from: 0) {
      $0.authority = form
      $0.signedDate = Given.day(day)
      $0.digest = Given.digest(UInt64(day * 10) + UInt64(form.rawValue))
      if form == .receipt {
        $0.subscriptionGroupID = nil
        $0.ownership = nil
      }
      change(&$0)
    }
  }

  private static func upgraded(_ fact: inout TransactionFact) { fact.isUpgraded = true }
  private static func refunded(_ fact: inout TransactionFact) {
    fact.revocationDate = Given.day(5)
    fact.revocationReason = .appIssue
  }
  private static func cancelled(_ fact: inout TransactionFact) {
    fact.revocationDate = Given.day(5)
  }

  @Test(
    "A receipt keeps what only an archived response says, whichever is newer", arguments: [1, 9])
  func richerArchive(day: Double) {
    let archive = Self.stated(.archivedResponse, signed: day) {
      Self.upgraded(&$0)
      $0.ownership = .familyShared
      $0.appAccountToken = AppAccountToken("6f9619ff-8b86-4d01-b42d-00cf4fc964ff")
      $0.offer = Offer(type: .offerCode, identifier: "summer")
      $0.quantity = 3
    }
    let receipt = Self.stated(.receipt, signed: 4) { $0.offer = Offer(type: .introductory) }
    let fact = receipt.completed(by: archive)
    #expect(fact.isUpgraded)
    #expect(fact.ownership == .familyShared)
    #expect(fact.subscriptionGroupID == "g1")
    #expect(fact.appAccountToken == archive.appAccountToken)
    #expect(fact.offer == archive.offer)
    // A receipt can say these, and the evidence stays its own.
    #expect(fact.quantity == nil)
    #expect(fact.signedDate == receipt.signedDate)
    #expect(fact.authority == .receipt)
    #expect(fact.digest == receipt.digest)
  }

  @Test(
    "An archived response neither revokes nor restores, and names the reason of a receipt's date")
  func archivedRevocation() {
    let archive = Self.stated(.archivedResponse, signed: 9, Self.refunded)
    let valid = Self.stated(.receipt, signed: 4)
    #expect(valid.completed(by: archive).revocationDate == nil)
    #expect(valid.completed(by: archive).revocationReason == nil)
    let revoked = Self.stated(.receipt, signed: 4, Self.cancelled)
    #expect(revoked.completed(by: archive).revocationReason == .appIssue)
    let restored = Self.stated(.archivedResponse, signed: 9)
    #expect(revoked.completed(by: restored).revocationDate == Given.day(5))
  }

  @Test("A JWS says all itself: an archived response adds nothing")
  func archiveBesideJWS() {
    let archive = Self.stated(.archivedResponse, signed: 9) {
      Self.upgraded(&$0)
      Self.refunded(&$0)
    }
    let signed = Self.stated(.signedTransaction, signed: 1) { $0.ownership = nil }
    #expect(signed.completed(by: archive) == signed)
  }

  @Test("A receipt that was created after a JWS revokes, an older one does not")
  func laterReceipt() {
    let signed = Self.stated(.signedTransaction, signed: 4)
    for (day, status) in [(9.0, DetailedStatus.revoked), (4, .active), (3, .active)] {
      let receipt = Self.stated(.receipt, signed: day, Self.cancelled)
      for facts in [[signed, receipt], [receipt, signed]] {
        #expect(Given.state(facts, at: 10).group("g1")?.status == status, "day \(day)")
      }
    }
  }

  @Test("The cancellation date of an upgrade is no refund of the JWS that tells of the upgrade")
  func cancellationOfUpgrade() {
    let signed = Self.stated(.signedTransaction, signed: 4, Self.upgraded)
    let receipt = Self.stated(.receipt, signed: 9, Self.cancelled)
    #expect(signed.completed(by: receipt) == signed)
  }

  @Test("A receipt without a cancellation date takes back that of a receipt, not that of a JWS")
  func restored() {
    let later = Self.stated(.receipt, signed: 9)
    let revoked = Self.stated(.signedTransaction, signed: 4, Self.refunded)
    #expect(Given.state([revoked, later], at: 10).group("g1")?.status == .revoked)
    let signed = Self.stated(.signedTransaction, signed: 4)
    let cancelled = Self.stated(.receipt, signed: 7, Self.cancelled)
    for facts in [
      [signed, cancelled, later], [later, cancelled, signed], [cancelled, signed, later],
    ] {
      #expect(Given.state(facts, at: 10).group("g1")?.status == .active)
    }
  }

  @Test("R6: the other id of a line item completes too")
  func lineItem() {
    let signed = Self.stated(.signedTransaction, signed: 4) { $0.webOrderLineItemID = "w" }
    let receipt = Self.stated(.receipt, signed: 9, id: 2) {
      Self.cancelled(&$0)
      $0.webOrderLineItemID = "w"
    }
    for facts in [[signed, receipt], [receipt, signed]] {
      let group = Given.state(facts, at: 10).group("g1")
      #expect(group?.status == .revoked)
      #expect(group?.transactionID == "t1")
    }
    var elsewhere = receipt
    elsewhere.originalTransactionID = "c2"
    #expect(Given.state([signed, elsewhere], at: 10).group("g1")?.status == .active)
  }

  @Test("R54: at an earlier moment, only what was signed by then completes")
  func past() throws {
    let signed = Self.stated(.signedTransaction, signed: 1)
    let receipt = Self.stated(.receipt, signed: 9, Self.cancelled)
    func version(_ fact: TransactionFact, stands: Bool) -> FactVersion {
      FactVersion(
        fact: .transaction(fact), moments: SigningMoments(fact.signedDate), stands: stands)
    }
    let record = CustomerRecord(
      scope: Given.scope, facts: [.transaction(signed.completed(by: receipt))],
      versions: [version(signed, stands: true), version(receipt, stands: false)])
    for (day, revoked) in [(1.0, false), (8.9, false), (9, true), (20, true)] {
      let fact = try #require(record.signed(by: Given.day(day)).facts.first)
      guard case .transaction(let transaction) = fact else { continue }
      #expect((transaction.revocationDate != nil) == revoked, "day \(day)")
      #expect(transaction.digest == signed.digest)
    }
  }
}
