import EntitlementDomain
import EntitlementStore
import Testing

@Suite("Deleting accounts (R46)")
struct DeletionTests {
  private static let purchase = Sample.transaction("1", "1") {
    $0.appTransactionID = "900"
    $0.appAccountToken = "token"
  }

  /// Alice, with an alias.
  private static func model() throws -> ModelStore {
    var model = ModelStore()
    try model.submit([purchase], by: "anonymous:1")
    try model.submit([purchase], by: "alice", anonymous: "anonymous:1")
    try model.submit([Sample.transaction("2", "2")], by: "alice")
    try model.add(Sample.grant("g", to: "alice"))
    return model
  }

  @Test("R46: a deletion erases the account's ids, and unlinks its chains")
  func deletion() throws {
    var model = try Self.model()
    let revision = model.feedEnd
    let receipt = try #require(try model.ask(.delete("alice")).receipt)
    #expect(receipt.targets == [.chain("1"), .chain("2"), .appTransaction("900")])
    #expect(
      receipt.customers.map(\.subject) == [
        account("alice"), account("anonymous:1"), unlinked("1"), unlinked("2"),
      ])
    #expect(receipt.customers.map(\.revision) == (1...4).map { revision + $0 })
    #expect(
      model.feed.suffix(4).map(\.kinds) == [
        [.deleted, .unlinked], .deleted, .unlinked, .unlinked,
      ])
    #expect(model.tokens.isEmpty)
    #expect(model.grants.isEmpty)
    #expect(model.facts.count == 2)
    for name: AccountID in ["alice", "anonymous:1"] {
      #expect(model.row(of: name)?.isDeleted == true)
      #expect(model.row(of: name)?.mergedInto == nil)
    }
    let events = model.history.values.joined()
    for name: AccountID in ["alice", "anonymous:1"] {
      #expect(!events.contains { $0.from == name || $0.to == name })
    }
    #expect(
      model.history(of: .chain("2")) == [
        LinkEvent(from: nil, to: nil, isToErased: true, reason: .named, at: Sample.now),
        LinkEvent(
          from: nil, to: nil, isFromErased: true, reason: .deleted,
          author: LinkAuthor(Sample.caller),
          note: "ticket 7", at: Sample.now),
      ])
  }

  @Test("R46: an unknown account cannot be deleted; a repeated deletion changes nothing")
  func repeated() throws {
    var model = try Self.model()
    #expect(try model.ask(.delete("bob")) == .refused(.accountUnknown))
    try model.ask(.delete("alice"))
    let before = model
    for name: AccountID in ["alice", "anonymous:1"] {
      let receipt = try #require(try model.ask(.delete(name)).receipt)
      #expect(!receipt.isChanged)
      #expect(receipt.targets == [])
      #expect(receipt.changed == [])
      #expect(receipt.customers.map(\.subject) == [account(name)])
      #expect(receipt.customers.map(\.revision) == [before.row(of: name)?.revision])
    }
    #expect(model.feed == before.feed)
    #expect(model.accounts == before.accounts)
  }

  @Test("R46: an alias deletes its account")
  func byName() throws {
    var model = try Self.model()
    try model.ask(.delete("anonymous:1"))
    #expect(model.row(of: "alice")?.isDeleted == true)
    #expect(model.account(of: .chain("1")) == nil)
  }

  @Test("R46: chains of a deleted account can be linked again, which is no claim")
  func claimable() throws {
    var model = try Self.model()
    try model.ask(.delete("alice"))
    let receipt = try model.submit(
      [Self.purchase], by: "bob", under: Sample.catalog(.keep, claimsPerDay: 1))
    #expect(receipt.links == [.linked])
    #expect(model.row(of: "bob")?.claims == 0)
    #expect(model.account(of: .appTransaction("900")) == "bob")
  }

  @Test("R42: hints link a deleted account's chains again when a new fact arrives")
  func hints() throws {
    var model = ModelStore()
    try model.submit([Sample.transaction("1", "1")], by: "alice")
    try model.submit(
      [Sample.transaction("2", "2") { $0.appAccountToken = "token" }], by: "bob")
    try model.ask(.delete("alice"))
    try model.submit([Sample.transaction("3", "1", version: 5) { $0.appAccountToken = "token" }])
    #expect(model.account(of: .chain("1")) == "bob")
  }

  @Test("R46: a deleted account that is named again is new, and its revision continues")
  func named() throws {
    var model = try Self.model()
    try model.ask(.delete("alice"))
    let revision = try #require(model.row(of: "alice")?.revision)
    try model.submit([Sample.transaction("3", "3")], by: "alice")
    let row = try #require(model.row(of: "alice"))
    #expect(!row.isDeleted)
    #expect(row.revision > revision)
    #expect(model.holdings(of: "alice") == AccountHoldings(targets: [.chain("3")]))
    #expect(model.history(of: .chain("3")).map(\.to) == ["alice"])
    // The former alias has no account now.
    try model.submit([Sample.transaction("4", "4")], by: "anonymous:1")
    #expect(model.account(of: .chain("4")) == "anonymous:1")
  }

  @Test("R46: in one ledger, a deletion erases earlier events and no later ones")
  func sharedLedger() throws {
    let model = ModelStore()
    var ledger = Ledger(reader: model)
    func submit(_ chain: OriginalTransactionID) throws {
      _ = try ledger.commit(
        Submission(
          facts: [Sample.transaction(TransactionID("\(chain)"), chain)], accountID: "alice",
          receivedAt: Sample.now))
    }
    try submit("1")
    _ = try ledger.perform(
      LinkRequest(
        scope: Sample.scope, change: .delete("alice"), reason: "asked",
        at: Sample.now,
        caller: Sample.caller))
    try submit("2")
    var written = model
    _ = try written.apply(ledger.changes)
    #expect(written.history(of: .chain("1")).map(\.to) == [nil, nil])
    #expect(written.history(of: .chain("1")).map(\.isToErased) == [true, false])
    #expect(written.history(of: .chain("2")).map(\.to) == ["alice"])
  }
}
