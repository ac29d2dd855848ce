import EntitlementDomain
import EntitlementStore
import Testing

@Suite("Anonymous accounts (R44)")
struct AnonymousAccountTests {
  private static let purchase = Sample.transaction("1", "1") { $0.appTransactionID = "900" }

  @Test(
    "R44: whoever signs in takes along what the anonymous account had",
    arguments: LinkPolicy.allCases)
  func merges(_ policy: LinkPolicy) throws {
    let catalog = Sample.catalog(policy)
    var book = Book()
    try book.submit([Self.purchase, Sample.transaction("2", "2")], by: "anonymous:1")
    try book.add(Sample.grant("g", to: "anonymous:1"))
    let receipt = try book.submit([Self.purchase], by: "alice", under: catalog)
    #expect(receipt.links == [.transferred])
    #expect(receipt.subjects == [account("alice")])
    #expect(Set(receipt.changed) == [account("anonymous:1"), account("alice")])
    #expect(
      book.holdings(of: "alice")
        == AccountHoldings(
          targets: [.chain("1"), .chain("2"), .appTransaction("900")],
          grants: [Sample.grant("g", to: "alice")], merged: ["anonymous:1"]))
    #expect(
      book.history(of: .chain("2")).last
        == LinkEvent(from: "anonymous:1", to: "alice", reason: .merged, at: Sample.now))
    #expect(book.row(of: "alice")?.claims == 1)
    let again = try book.submit([Self.purchase], by: "alice", under: catalog)
    #expect(again.links == [.unchanged])
    #expect(again.subjects == [account("alice")])
    // The device that has not heard of it yet.
    let late = try book.submit([Self.purchase], by: "anonymous:1", under: catalog)
    #expect(late.links == [.unchanged])
    #expect(late.subjects == [account("alice")])
  }

  @Test("R44: every fact of what went over says so, also those that came with the claim")
  func outcomes() throws {
    var book = Book()
    try book.submit(
      [Self.purchase, Sample.transaction("2", "2"), Sample.appTransaction("900")],
      by: "anonymous:1")
    let receipt = try book.submit(
      [
        Self.purchase, Sample.transaction("2", "2"), Sample.appTransaction("900"),
        Sample.transaction("3", "3"),
      ], by: "alice", under: Sample.catalog(.keep, claimsPerDay: 1))
    #expect(receipt.links == [.transferred, .transferred, .transferred, .linked])
  }

  @Test("R44: between anonymous accounts, and against one that is not, the policy decides")
  func policies() throws {
    let keep = Sample.catalog(.keep)
    for (owner, claimer): (AccountID, AccountID) in [
      ("anonymous:1", "anonymous:2"), ("alice", "anonymous:1"), ("alice", "bob"),
    ] {
      var book = Book()
      try book.submit([Self.purchase], by: owner)
      #expect(try book.submit([Self.purchase], by: claimer, under: keep).links == [.alreadyLinked])
      let receipt = try book.submit(
        [Self.purchase], by: claimer, under: Sample.catalog(.transfer))
      #expect(receipt.links == [.transferred])
      #expect(book.row(of: owner)?.mergedInto == nil)
    }
  }

  @Test("R44: what nobody signed merges nobody")
  func unsigned() throws {
    var book = Book()
    try book.submit([Self.purchase], by: "anonymous:1")
    let receipt = try book.submit(
      [Sample.unsigned(Sample.transaction("2", "1"))], by: "alice")
    #expect(receipt.links == [.alreadyLinked])
    #expect(receipt.subjects == [])
    #expect(book.row(of: "anonymous:1")?.mergedInto == nil)
  }

  @Test("R44: an unsigned claim beside a signed one goes along, and is the claimer's to be told of")
  func mixed() throws {
    var book = Book()
    try book.submit([Self.purchase, Sample.transaction("2", "2")], by: "anonymous:1")
    let facts = [
      Sample.unsigned(Sample.transaction("9", "2")), Self.purchase,
    ]
    let receipt = try book.submit(facts, by: "alice")
    #expect(receipt.links == [.transferred, .transferred])
    #expect(receipt.subjects == [account("alice")])
  }

  @Test("R44: a link that was imported for an anonymous account leads on once it is claimed")
  func imported() throws {
    var book = Book()
    try book.submit([Sample.unsigned(Sample.transaction("1", "1"))], by: "anonymous:1")
    try book.submit([Sample.transaction("2", "2") { $0.previousOriginalTransactionID = "1" }])
    #expect(book.account(of: .chain("2")) == nil)
    try book.submit([Sample.transaction("1", "1")], by: "alice")
    #expect(book.account(of: .chain("2")) == "alice")
    #expect(book.links[ScopedTarget(Sample.scope, .chain("1"))]?.isUnsigned == false)
  }

  @Test("R44: an account into which an identified one was merged is not anonymous any more")
  func identified() throws {
    var book = Book()
    try book.submit([Self.purchase], by: "anonymous:1")
    try book.add(Sample.grant("g", to: "alice"))
    try book.ask(.merge("alice", into: "anonymous:1"))
    // As an owner it is under the policy, as any other; as a claimer it merges others.
    let keep = Sample.catalog(.keep)
    #expect(try book.submit([Self.purchase], by: "bob", under: keep).links == [.alreadyLinked])
    try book.submit([Sample.transaction("2", "2")], by: "anonymous:2")
    try book.submit([Sample.transaction("2", "2")], by: "alice", under: keep)
    #expect(book.row(of: "anonymous:2")?.mergedInto == "anonymous:1")
  }

  @Test("R9, R44: accounts of the same name in another environment are others")
  func environments() throws {
    let sandbox = AppScope(bundleID: Sample.scope.bundleID, environment: .sandbox)
    var book = Book()
    try book.submit([Self.purchase, Sample.transaction("1", "1", in: sandbox)], by: "anonymous:1")
    try book.submit([Self.purchase], by: "alice")
    #expect(book.accounts[ScopedAccount(sandbox, "anonymous:1")]?.mergedInto == nil)
    let receipt = try book.submit(
      [Sample.transaction("1", "1", in: sandbox), Sample.transaction("3", "3")],
      by: "anonymous:1")
    // One name, two accounts.
    #expect(receipt.subjects == [.account(sandbox, "anonymous:1"), account("alice")])
  }
}
