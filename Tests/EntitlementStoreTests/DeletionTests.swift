import EntitlementDomain
import EntitlementStore
import Testing

@Suite("Deleting accounts (R46)")
struct DeletionTests {
  private static let purchase = Sample.transaction("1", "1") {
    $0.appTransactionID = "900"
    $0.appAccountToken = "token"
  }

  /// Alice, with a name that was merged into her.
  private static func book() throws -> Book {
    var book = Book()
    try book.submit([purchase], by: "anonymous:1")
    try book.submit([purchase], by: "alice")
    try book.submit([Sample.transaction("2", "2")], by: "alice")
    try book.add(Sample.grant("g", to: "alice"))
    return book
  }

  @Test("R46: a deletion takes all that names the account, and leaves its chains without one")
  func deletion() throws {
    var book = try Self.book()
    let revision = book.feedEnd
    let receipt = try #require(try book.ask(.delete("alice")).receipt)
    #expect(receipt.targets == [.chain("1"), .chain("2"), .appTransaction("900")])
    #expect(
      receipt.customers.map(\.subject) == [
        account("alice"), account("anonymous:1"), unlinked("1"), unlinked("2"),
      ])
    #expect(receipt.customers.map(\.revision) == (1...4).map { revision + $0 })
    #expect(
      book.feed.suffix(4).map(\.kinds) == [
        [.deleted, .unlinked], .deleted, .unlinked, .unlinked,
      ])
    #expect(book.tokens.isEmpty)
    #expect(book.grants.isEmpty)
    #expect(book.facts.count == 2)
    for name: AccountID in ["alice", "anonymous:1"] {
      #expect(book.row(of: name)?.isDeleted == true)
      #expect(book.row(of: name)?.mergedInto == nil)
    }
    let events = book.history.values.joined()
    for name: AccountID in ["alice", "anonymous:1"] {
      #expect(!events.contains { $0.from == name || $0.to == name })
    }
    #expect(
      book.history(of: .chain("2")) == [
        LinkEvent(from: nil, to: nil, isToErased: true, reason: .named, at: Sample.now),
        LinkEvent(
          from: nil, to: nil, isFromErased: true, reason: .deleted, author: "operator",
          note: "ticket 7", at: Sample.now),
      ])
  }

  @Test("R46: an account that is not known cannot be deleted, one that was deleted is done already")
  func repeated() throws {
    var book = try Self.book()
    #expect(try book.ask(.delete("bob")) == .refused(.accountUnknown))
    try book.ask(.delete("alice"))
    let before = book
    for name: AccountID in ["alice", "anonymous:1"] {
      let receipt = try #require(try book.ask(.delete(name)).receipt)
      #expect(!receipt.isChanged)
      #expect(receipt.targets == [])
      #expect(receipt.changed == [])
      #expect(receipt.customers.map(\.subject) == [account(name)])
      #expect(receipt.customers.map(\.revision) == [before.row(of: name)?.revision])
    }
    #expect(book.feed == before.feed)
    #expect(book.accounts == before.accounts)
  }

  @Test("R46: every name of an account is that account, to delete too")
  func byName() throws {
    var book = try Self.book()
    try book.ask(.delete("anonymous:1"))
    #expect(book.row(of: "alice")?.isDeleted == true)
    #expect(book.account(of: .chain("1")) == nil)
  }

  @Test("R46: chains of a deleted account can be claimed again, at no price")
  func claimable() throws {
    var book = try Self.book()
    try book.ask(.delete("alice"))
    let receipt = try book.submit(
      [Self.purchase], by: "bob", under: Sample.catalog(.keep, claimsPerDay: 1))
    #expect(receipt.links == [.linked])
    #expect(book.row(of: "bob")?.claims == 0)
    #expect(book.account(of: .appTransaction("900")) == "bob")
  }

  @Test("R42: hints find a deleted account's chains an account when a new fact of them comes")
  func hints() throws {
    var book = Book()
    try book.submit([Sample.transaction("1", "1")], by: "alice")
    try book.submit(
      [Sample.transaction("2", "2") { $0.appAccountToken = "token" }], by: "bob")
    try book.ask(.delete("alice"))
    try book.submit([Sample.transaction("3", "1", version: 5) { $0.appAccountToken = "token" }])
    #expect(book.account(of: .chain("1")) == "bob")
  }

  @Test("R46: a deleted account that is named again begins anew, at a revision that goes on")
  func named() throws {
    var book = try Self.book()
    try book.ask(.delete("alice"))
    let revision = try #require(book.row(of: "alice")?.revision)
    try book.submit([Sample.transaction("3", "3")], by: "alice")
    let row = try #require(book.row(of: "alice"))
    #expect(!row.isDeleted)
    #expect(row.revision > revision)
    #expect(book.holdings(of: "alice") == AccountHoldings(targets: [.chain("3")]))
    #expect(book.history(of: .chain("3")).map(\.to) == ["alice"])
    // The name that was merged is nobody's now.
    try book.submit([Sample.transaction("4", "4")], by: "anonymous:1")
    #expect(book.account(of: .chain("4")) == "anonymous:1")
  }

  @Test("R46: in one ledger, what was before a deletion is forgotten, not what comes after it")
  func sharedLedger() throws {
    let book = Book()
    var ledger = Ledger(reader: book)
    func submit(_ chain: OriginalTransactionID) throws {
      _ = try ledger.commit(
        Submission(
          facts: [Sample.transaction(TransactionID("\(chain)"), chain)], accountID: "alice",
          receivedAt: Sample.now))
    }
    try submit("1")
    _ = try ledger.perform(
      LinkRequest(
        scope: Sample.scope, change: .delete("alice"), author: "operator", reason: "asked",
        at: Sample.now))
    try submit("2")
    var written = book
    _ = try written.apply(ledger.changes)
    #expect(written.history(of: .chain("1")).map(\.to) == [nil, nil])
    #expect(written.history(of: .chain("1")).map(\.isToErased) == [true, false])
    #expect(written.history(of: .chain("2")).map(\.to) == ["alice"])
  }
}
