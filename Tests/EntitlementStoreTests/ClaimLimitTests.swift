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
  private static func model() throws -> ModelStore {
    var model = ModelStore()
    try model.submit(chains.map { purchase($0) }, by: "alice")
    return model
  }

  @Test("R44: a claim above the limit is refused, and a repeat has the same outcome")
  func limit() throws {
    var model = try Self.model()
    let catalog = Sample.catalog(.transfer, claimsPerDay: 2)
    let receipt = try model.submit(Self.chains.map { Self.purchase($0) }, by: "bob", under: catalog)
    #expect(
      receipt.links == [
        .transferred, .transferred, .claimLimited, .claimLimited, .claimLimited, .claimLimited,
      ])
    #expect(receipt.subjects == [account("bob")])
    let before = model
    for _ in 0..<2 {
      let again = try model.submit([Self.purchase("3")], by: "bob", under: catalog)
      #expect(again.links == [.claimLimited])
      #expect(again.customers == [])
      #expect(again.changed == [])
    }
    #expect(model.feed == before.feed)
    #expect(model.accounts == before.accounts)
    // Granted claims stay granted, and other accounts have their own limit.
    #expect(try model.submit([Self.purchase("1")], by: "bob", under: catalog).links == [.unchanged])
    #expect(
      try model.submit([Self.purchase("3")], by: "carol", under: catalog).links == [.transferred])
  }

  @Test(
    "R44: the facts of a claim above the limit are stored, and register nothing for the account")
  func refusedFacts() throws {
    var model = try Self.model()
    let catalog = Sample.catalog(.transfer, claimsPerDay: 1)
    try model.submit([Self.purchase("1")], by: "bob", under: catalog)
    let claim = Sample.transaction("20", "2", version: 5) { $0.appAccountToken = "token" }
    let receipt = try model.submit([claim], by: "bob", under: catalog)
    #expect(receipt.dispositions == [.added])
    #expect(receipt.links == [.claimLimited])
    #expect(receipt.changed == [account("alice")])
    #expect(model.tokens.isEmpty)
  }

  @Test("R44: claims are granted again 24 hours after the first one")
  func window() throws {
    var model = try Self.model()
    let catalog = Sample.catalog(.transfer, claimsPerDay: 2)
    let day = Milliseconds.dayLength
    let outcomes = try [
      (0, "1"), (day - 2, "2"), (day - 1, "3"), (day, "3"), (day + 1, "4"), (day + 2, "5"),
    ].map { (offset: Int64, chain: OriginalTransactionID) in
      try model.submit(
        [Self.purchase(chain)], by: "bob", at: Sample.now.advanced(by: offset), under: catalog
      ).links[0]
    }
    #expect(
      outcomes == [
        .transferred, .transferred, .claimLimited, .transferred, .transferred, .claimLimited,
      ])
    #expect(model.row(of: "bob")?.claimsSince == Sample.now.advanced(by: day))
  }

  @Test("R44: claims that the policy refuses, and claims of unlinked chains, do not count")
  func free() throws {
    var model = try Self.model()
    try model.submit(
      Self.chains.map { Self.purchase($0) }, by: "bob",
      under: Sample.catalog(.keep, claimsPerDay: 1))
    #expect(model.row(of: "bob") == nil)
    let receipt = try model.submit(
      [Sample.transaction("7", "7"), Sample.transaction("8", "8"), Self.purchase("1")], by: "bob",
      under: Sample.catalog(.transfer, claimsPerDay: 1))
    #expect(receipt.links == [.linked, .linked, .transferred])
    #expect(model.row(of: "bob")?.claims == 1)
  }

  @Test("R75: the merge of an anonymous account is no claim")
  func merges() throws {
    let catalog = Sample.catalog(.keep, claimsPerDay: 1)
    var model = ModelStore()
    try model.submit(Self.chains.map { Self.purchase($0) }, by: "anonymous:1")
    let receipt = try model.submit(
      Self.chains.map { Self.purchase($0) }, by: "bob", anonymous: "anonymous:1", under: catalog)
    #expect(receipt.links == Self.chains.map { _ in .transferred })
    #expect(model.row(of: "bob")?.claims == 0)
  }

  @Test("R44: a merge adds the claims of both accounts")
  func mergedClaims() throws {
    let catalog = Sample.catalog(.transfer, claimsPerDay: 3)
    var model = try Self.model()
    let later = Sample.now.advanced(by: 1_000)
    try model.submit([Self.purchase("1")], by: "bob", at: later, under: catalog)
    try model.submit(
      [Self.purchase("2"), Self.purchase("3")], by: "carol", under: catalog)
    try model.ask(.merge("carol", into: "bob"), at: later)
    #expect(model.row(of: "bob")?.claims == 3)
    #expect(model.row(of: "bob")?.claimsSince == Sample.now)
    #expect(model.row(of: "carol")?.claims == 0)
    #expect(
      try model.submit([Self.purchase("4")], by: "bob", at: later, under: catalog).links
        == [.claimLimited])
  }

  @Test("R44, R46: after a deletion each alias keeps the claims of the account while they count")
  func deletedClaims() throws {
    let catalog = Sample.catalog(.transfer, claimsPerDay: 3)
    for (offset, claims) in [(0, 2), (Milliseconds.dayLength, 0)] {
      var model = try Self.model()
      try model.add(Sample.grant("g", to: "carol"))
      try model.ask(.merge("carol", into: "bob"))
      try model.submit([Self.purchase("1"), Self.purchase("2")], by: "bob", under: catalog)
      try model.ask(.delete("carol"), at: Sample.now.advanced(by: offset))
      for name: AccountID in ["bob", "carol"] {
        #expect(model.row(of: name)?.isDeleted == true)
        #expect(model.row(of: name)?.claims == claims)
        #expect(model.row(of: name)?.claimsSince == (claims == 0 ? nil : Sample.now))
      }
    }
  }

  @Test("R44: aliases share the claims of their account")
  func names() throws {
    let catalog = Sample.catalog(.transfer, claimsPerDay: 1)
    var model = try Self.model()
    try model.add(Sample.grant("g", to: "carol"))
    try model.submit([Self.purchase("1")], by: "bob", under: catalog)
    try model.ask(.merge("carol", into: "bob"))
    #expect(model.row(of: "bob")?.claims == 1)
    #expect(
      try model.submit([Self.purchase("2")], by: "carol", under: catalog).links == [.claimLimited])
  }
}
