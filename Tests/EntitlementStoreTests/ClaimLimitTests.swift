import EntitlementDomain
import EntitlementStore
import Testing

@Suite("Limits of claims (R44)")
struct ClaimLimitTests {
  private static let chains = (1...6).map { OriginalTransactionID("\($0)") }

  private static func purchase(_ chain: OriginalTransactionID) -> SignedFact {
    Sample.transaction(TransactionID("\(chain)"), chain)
  }

  /// Six chains of Alice.
  private static func book() throws -> Book {
    var book = Book()
    try book.submit(chains.map { purchase($0) }, by: "alice")
    return book
  }

  @Test("R44: one claim too many is refused, and repeated with the same answer")
  func limit() throws {
    var book = try Self.book()
    let catalog = Sample.catalog(.transfer, claimsPerDay: 2)
    let receipt = try book.submit(Self.chains.map { Self.purchase($0) }, by: "bob", under: catalog)
    #expect(
      receipt.links == [
        .transferred, .transferred, .claimLimited, .claimLimited, .claimLimited, .claimLimited,
      ])
    #expect(receipt.subjects == [account("bob")])
    let before = book
    for _ in 0..<2 {
      let again = try book.submit([Self.purchase("3")], by: "bob", under: catalog)
      #expect(again.links == [.claimLimited])
      #expect(again.customers == [])
      #expect(again.changed == [])
    }
    #expect(book.feed == before.feed)
    #expect(book.accounts == before.accounts)
    // What was granted stays so, and others have claims of their own.
    #expect(try book.submit([Self.purchase("1")], by: "bob", under: catalog).links == [.unchanged])
    #expect(
      try book.submit([Self.purchase("3")], by: "carol", under: catalog).links == [.transferred])
  }

  @Test("R44: the facts of a claim too many are kept, and teach nothing about the claimer")
  func refusedFacts() throws {
    var book = try Self.book()
    let catalog = Sample.catalog(.transfer, claimsPerDay: 1)
    try book.submit([Self.purchase("1")], by: "bob", under: catalog)
    let claim = Sample.transaction("20", "2", version: 5) { $0.appAccountToken = "token" }
    let receipt = try book.submit([claim], by: "bob", under: catalog)
    #expect(receipt.dispositions == [.added])
    #expect(receipt.links == [.claimLimited])
    #expect(receipt.changed == [account("alice")])
    #expect(book.tokens.isEmpty)
  }

  @Test("R44: after 24 hours from the first claim there are claims again")
  func window() throws {
    var book = try Self.book()
    let catalog = Sample.catalog(.transfer, claimsPerDay: 2)
    let day = Milliseconds.dayLength
    let outcomes = try [
      (0, "1"), (day - 2, "2"), (day - 1, "3"), (day, "3"), (day + 1, "4"), (day + 2, "5"),
    ].map { (offset: Int64, chain: OriginalTransactionID) in
      try book.submit(
        [Self.purchase(chain)], by: "bob", at: Sample.now.advanced(by: offset), under: catalog
      ).links[0]
    }
    #expect(
      outcomes == [
        .transferred, .transferred, .claimLimited, .transferred, .transferred, .claimLimited,
      ])
    #expect(book.row(of: "bob")?.claimsSince == Sample.now.advanced(by: day))
  }

  @Test("R44: claims that the policy refuses, and what has no account, cost nothing")
  func free() throws {
    var book = try Self.book()
    try book.submit(
      Self.chains.map { Self.purchase($0) }, by: "bob",
      under: Sample.catalog(.keep, claimsPerDay: 1))
    #expect(book.row(of: "bob") == nil)
    let receipt = try book.submit(
      [Sample.transaction("7", "7"), Sample.transaction("8", "8"), Self.purchase("1")], by: "bob",
      under: Sample.catalog(.transfer, claimsPerDay: 1))
    #expect(receipt.links == [.linked, .linked, .transferred])
    #expect(book.row(of: "bob")?.claims == 1)
  }

  @Test("R44: a merge is one claim, however much goes over; and is limited as any other")
  func merges() throws {
    let catalog = Sample.catalog(.keep, claimsPerDay: 1)
    var book = Book()
    try book.submit(Self.chains.map { Self.purchase($0) }, by: "anonymous:1")
    try book.submit([Sample.transaction("7", "7")], by: "anonymous:2")
    let receipt = try book.submit(
      Self.chains.map { Self.purchase($0) } + [Sample.transaction("7", "7")], by: "bob",
      under: catalog)
    #expect(receipt.links == Self.chains.map { _ in .transferred } + [.claimLimited])
    #expect(book.row(of: "bob")?.claims == 1)
    #expect(book.row(of: "anonymous:2")?.mergedInto == nil)
  }

  @Test("R44: a merge adds the claims of both, as if one account had made them all")
  func mergedClaims() throws {
    let catalog = Sample.catalog(.transfer, claimsPerDay: 3)
    var book = try Self.book()
    let later = Sample.now.advanced(by: 1_000)
    try book.submit([Self.purchase("1")], by: "bob", at: later, under: catalog)
    try book.submit(
      [Self.purchase("2"), Self.purchase("3")], by: "carol", under: catalog)
    try book.ask(.merge("carol", into: "bob"), at: later)
    #expect(book.row(of: "bob")?.claims == 3)
    #expect(book.row(of: "bob")?.claimsSince == Sample.now)
    #expect(book.row(of: "carol")?.claims == 0)
    #expect(
      try book.submit([Self.purchase("4")], by: "bob", at: later, under: catalog).links
        == [.claimLimited])
  }

  @Test("R44, R46: a deletion leaves each name what the account claimed, while it counts")
  func deletedClaims() throws {
    let catalog = Sample.catalog(.transfer, claimsPerDay: 3)
    for (offset, claims) in [(0, 2), (Milliseconds.dayLength, 0)] {
      var book = try Self.book()
      try book.add(Sample.grant("g", to: "carol"))
      try book.ask(.merge("carol", into: "bob"))
      try book.submit([Self.purchase("1"), Self.purchase("2")], by: "bob", under: catalog)
      try book.ask(.delete("carol"), at: Sample.now.advanced(by: offset))
      for name: AccountID in ["bob", "carol"] {
        #expect(book.row(of: name)?.isDeleted == true)
        #expect(book.row(of: name)?.claims == claims)
        #expect(book.row(of: name)?.claimsSince == (claims == 0 ? nil : Sample.now))
      }
    }
  }

  @Test("R44: names that were merged share the claims of the account that they mean")
  func names() throws {
    let catalog = Sample.catalog(.transfer, claimsPerDay: 1)
    var book = try Self.book()
    try book.add(Sample.grant("g", to: "carol"))
    try book.submit([Self.purchase("1")], by: "bob", under: catalog)
    try book.ask(.merge("carol", into: "bob"))
    #expect(book.row(of: "bob")?.claims == 1)
    #expect(
      try book.submit([Self.purchase("2")], by: "carol", under: catalog).links == [.claimLimited])
  }
}
