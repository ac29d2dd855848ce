import EntitlementDomain
import EntitlementStore
import Testing

@Suite("Claims that are judged by what is in force (R44)")
struct JudgedClaimTests {
  private static let catalog = Sample.catalog(.transferIfInactive)
  private static let active = Sample.transaction("1", "1")
  private static let refunded = Sample.transaction("1", "1", version: 5) {
    $0.revocationDate = 900
  }

  private static func book(_ fact: SignedFact) throws -> Book {
    var book = Book()
    try book.submit([fact], by: "alice")
    return book
  }

  @Test("R5, R44: the version that stands is judged, also when the claim brings it")
  func broughtAlong() throws {
    var book = try Self.book(Self.active)
    #expect(
      try book.submit([Self.active], by: "bob", under: Self.catalog).links == [.alreadyLinked])
    #expect(
      try book.submit([Self.refunded], by: "bob", under: Self.catalog).links == [.transferred])
  }

  @Test("R5, R44: an older version that is in force says nothing")
  func superseded() throws {
    var book = try Self.book(Self.refunded)
    let receipt = try book.submit([Self.active], by: "bob", under: Self.catalog)
    #expect(receipt.dispositions == [.superseded])
    #expect(receipt.links == [.transferred])
  }

  @Test("R7, R44: a transaction that moved to another chain keeps the first in force no more")
  func moved() throws {
    var book = try Self.book(Self.active)
    let receipt = try book.submit(
      [
        Sample.transaction("1", "2", version: 5),
        Sample.transaction("3", "1") { $0.revocationDate = 900 },
      ], by: "bob", under: Self.catalog)
    #expect(receipt.links == [.linked, .transferred])
  }

  @Test("R42, R44: an app transaction is in force while a chain of its owner is that carries it")
  func appTransaction() throws {
    let carrier = Sample.transaction("1", "1") { $0.appTransactionID = "900" }
    var book = try Self.book(carrier)
    let claim = [Sample.appTransaction("900")]
    #expect(try book.submit(claim, by: "bob", under: Self.catalog).links == [.alreadyLinked])
    #expect(
      try book.submit(claim, by: "bob", at: Sample.late, under: Self.catalog).links
        == [.transferred])
  }

  @Test("R44: a write before it in the same ledger counts", arguments: [true, false])
  func sharedLedger(isRefund: Bool) throws {
    let book = try Self.book(Self.active)
    var ledger = Ledger(reader: book)
    let news = isRefund ? Self.refunded : Sample.transaction("2", "1")
    _ = try ledger.commit(Submission(facts: [news], receivedAt: Sample.now))
    let receipt = try ledger.commit(
      Submission(
        facts: [Self.active], accountID: "bob", receivedAt: Sample.now, catalog: Self.catalog))
    let numbering = ChangeNumbering(base: book.feedEnd)
    #expect(receipt(numbering).links == [isRefund ? .transferred : .alreadyLinked])
  }
}
