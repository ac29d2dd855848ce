import EntitlementDomain
import EntitlementStore
import Testing

@Suite("Link requests (R46)")
struct LinkRequestTests {
  private static func event(
    _ from: AccountID?, _ to: AccountID?, _ reason: LinkReason, isFromErased: Bool = false
  ) -> LinkEvent {
    LinkEvent(
      from: from, to: to, isFromErased: isFromErased, reason: reason,
      author: LinkAuthor(Sample.caller),
      note: "ticket 7", at: Sample.now)
  }

  // MARK: Linking

  @Test("R46: a link of an unlinked target records author, time and reason; repeats change nothing")
  func link() throws {
    var model = ModelStore()
    try model.submit([Sample.transaction("1", "1")])
    let receipt = try #require(try model.ask(.link(.chain("1"), to: "alice")).receipt)
    #expect(
      receipt
        == LinkReceipt(
          targets: [.chain("1")],
          customers: [
            CustomerRevision(subject: unlinked("1"), revision: 2),
            CustomerRevision(subject: account("alice"), revision: 3),
          ], changed: [unlinked("1"), account("alice")], latest: 3, isChanged: true))
    #expect(model.history(of: .chain("1")) == [Self.event(nil, "alice", .assigned)])
    #expect(model.feed.map(\.kinds) == [.facts, .unlinked, .linked])
    let before = model.feed
    #expect(
      try model.ask(.link(.chain("1"), to: "alice"))
        == .done(
          LinkReceipt(
            targets: [],
            customers: [CustomerRevision(subject: account("alice"), revision: 3)], changed: [],
            latest: 3, isChanged: false)))
    #expect(model.feed == before)
  }

  @Test("R46: a link takes nothing from another account, and unknown targets are refused")
  func refusedLinks() throws {
    var model = ModelStore()
    try model.submit([Sample.transaction("1", "1")], by: "alice")
    let before = model
    #expect(try model.ask(.link(.chain("1"), to: "bob")) == .refused(.linkedElsewhere))
    #expect(try model.ask(.link(.chain("2"), to: "bob")) == .refused(.targetUnknown))
    #expect(try model.ask(.link(.appTransaction("900"), to: "bob")) == .refused(.targetUnknown))
    for target: LinkTarget in [.chain("2"), .appTransaction("900")] {
      #expect(try model.ask(.unlink(target)) == .refused(.targetUnknown))
      #expect(
        try model.ask(.transfer(target, from: nil, to: "bob")) == .refused(.targetUnknown))
    }
    #expect(model.feed == before.feed)
    #expect(model.accounts == before.accounts)
  }

  @Test("An app transaction that is known by its fact only can be linked")
  func appTransactionOfItsOwn() throws {
    var model = ModelStore()
    try model.submit([Sample.appTransaction("900")])
    #expect(model.links.isEmpty)
    try model.ask(.link(.appTransaction("900"), to: "alice"))
    #expect(model.account(of: .appTransaction("900")) == "alice")
  }

  @Test("R42, R46: an explicit link is propagated like a signed one, but registers no token")
  func leadsOn() throws {
    var model = ModelStore()
    try model.submit([
      Sample.transaction("1", "1") {
        $0.appTransactionID = "900"
        $0.appAccountToken = "token"
      },
      Sample.transaction("2", "2") { $0.previousOriginalTransactionID = "1" },
      Sample.transaction("3", "3") { $0.appTransactionID = "900" },
      Sample.transaction("4", "4") { $0.appAccountToken = "token" },
    ])
    let receipt = try #require(try model.ask(.link(.chain("1"), to: "alice")).receipt)
    #expect(receipt.targets == [.chain("1"), .chain("2"), .chain("3"), .appTransaction("900")])
    #expect(model.account(of: .chain("4")) == nil)
    #expect(model.tokens.isEmpty)
    // Propagated links have the author of the request.
    #expect(model.history(of: .chain("2")) == [Self.event(nil, "alice", .previousChain)])
    #expect(
      model.history(of: .appTransaction("900")) == [Self.event(nil, "alice", .appTransaction)])
  }

  @Test("R51: an imported link is propagated once an operator transfers it")
  func imported() throws {
    var model = ModelStore()
    try model.submit([Sample.unsigned(Sample.transaction("1", "1"))], by: "alice")
    try model.submit([Sample.transaction("2", "2") { $0.previousOriginalTransactionID = "1" }])
    #expect(model.account(of: .chain("2")) == nil)
    try model.ask(.transfer(.chain("1"), from: "alice", to: "bob"))
    #expect(model.account(of: .chain("2")) == "bob")
  }

  @Test("R46, R51: a merge does not propagate imported links")
  func mergedImport() throws {
    var model = ModelStore()
    try model.submit([Sample.unsigned(Sample.transaction("1", "1"))], by: "alice")
    try model.ask(.merge("alice", into: "bob"))
    #expect(model.links[ScopedTarget(Sample.scope, .chain("1"))]?.isUnsigned == true)
    try model.submit([Sample.transaction("2", "2") { $0.previousOriginalTransactionID = "1" }])
    #expect(model.account(of: .chain("2")) == nil)
  }

  // MARK: Unlinking

  @Test("R46: hints do not link an unlinked target again; a named account does")
  func unlink() throws {
    let carrier = Sample.transaction("1", "1") {
      $0.appTransactionID = "900"
      $0.appAccountToken = "token"
    }
    var model = ModelStore()
    try model.submit([carrier], by: "alice")
    let receipt = try #require(try model.ask(.unlink(.chain("1"))).receipt)
    #expect(receipt.targets == [.chain("1")])
    // The chain is last, as it is read as itself from now on.
    #expect(
      receipt.customers == [
        CustomerRevision(subject: account("alice"), revision: 2),
        CustomerRevision(subject: unlinked("1"), revision: 3),
      ])
    #expect(model.feed.suffix(2).map(\.kinds) == [.unlinked, .unlinked])
    #expect(model.history(of: .chain("1")).last == Self.event("alice", nil, .unassigned))
    // The app transaction keeps its link.
    #expect(model.account(of: .appTransaction("900")) == "alice")

    // Old facts, new facts, and facts of other chains.
    try model.submit([carrier])
    try model.submit([
      Sample.transaction("2", "1", version: 5) {
        $0.appTransactionID = "900"
        $0.appAccountToken = "token"
      }
    ])
    try model.submit(
      [Sample.transaction("3", "3") { $0.appTransactionID = "901" }], by: "alice")
    #expect(model.account(of: .chain("1")) == nil)

    let before = model.feed.count
    #expect(try model.ask(.unlink(.chain("1"))).receipt?.isChanged == false)
    #expect(model.feed.count == before)

    #expect(try model.submit([carrier], by: "bob").links == [.linked])
    #expect(model.account(of: .chain("1")) == "bob")
    #expect(model.links[ScopedTarget(Sample.scope, .chain("1"))]?.isDetached == false)
  }

  @Test("R46: an unlinked target can be linked and transferred again")
  func relink() throws {
    for change: LinkRequest.Change in [
      .link(.chain("1"), to: "bob"), .transfer(.chain("1"), from: nil, to: "bob"),
    ] {
      var model = ModelStore()
      try model.submit([Sample.transaction("1", "1")], by: "alice")
      try model.ask(.unlink(.chain("1")))
      #expect(try model.ask(change).receipt?.isChanged == true)
      #expect(model.account(of: .chain("1")) == "bob")
    }
  }

  @Test("R46: an unlinked app transaction does not follow a chain, and gets a named account")
  func unlinkedAppTransaction() throws {
    var model = ModelStore()
    try model.submit([Sample.transaction("1", "1") { $0.appTransactionID = "900" }], by: "alice")
    let receipt = try #require(try model.ask(.unlink(.appTransaction("900"))).receipt)
    #expect(receipt.customers.map(\.subject) == [account("alice")])
    try model.submit([Sample.transaction("2", "2") { $0.appTransactionID = "900" }], by: "bob")
    #expect(model.account(of: .appTransaction("900")) == nil)
    try model.submit([Sample.appTransaction("900")], by: "carol")
    #expect(model.account(of: .appTransaction("900")) == "carol")
  }

  // MARK: Transferring

  @Test("R46: a transfer takes from the named account only, and can be repeated")
  func transfer() throws {
    var model = ModelStore()
    try model.submit([Sample.transaction("1", "1")], by: "alice")
    try model.submit([Sample.transaction("2", "2")], by: "carol")
    #expect(
      try model.ask(.transfer(.chain("1"), from: "carol", to: "bob")) == .refused(.linkedElsewhere))
    #expect(
      try model.ask(.transfer(.chain("1"), from: "nobody", to: "bob")) == .refused(.accountUnknown))
    #expect(
      try model.ask(.transfer(.chain("1"), from: "alice", to: "alice")) == .refused(.sameAccount))
    let receipt = try #require(
      try model.ask(.transfer(.chain("1"), from: "alice", to: "bob")).receipt)
    #expect(receipt.customers.map(\.subject) == [account("bob"), account("alice")])
    #expect(model.history(of: .chain("1")).last == Self.event("alice", "bob", .transferred))
    for former: AccountID? in ["alice", nil] {
      let again = try model.ask(.transfer(.chain("1"), from: former, to: "bob")).receipt
      #expect(again?.isChanged == false)
      #expect(again?.customers.map(\.subject) == [account("bob")])
    }
    // Neither a policy nor a limit applies to an operator.
    #expect(model.row(of: "bob")?.claims == 0)
  }

  // MARK: Merging

  @Test("R46: a merge moves everything to the other account, and leaves an alias")
  func merge() throws {
    var model = ModelStore()
    let purchase = Sample.transaction("1", "1") {
      $0.appTransactionID = "900"
      $0.appAccountToken = "token"
    }
    try model.submit([purchase], by: "alice")
    try model.add(Sample.grant("g", to: "alice"))
    let receipt = try #require(try model.ask(.merge("alice", into: "bob")).receipt)
    #expect(receipt.targets == [.chain("1"), .appTransaction("900")])
    // The alias is read as the other account from now on, so its last revision is lower.
    #expect(receipt.customers.map(\.subject) == [account("alice"), account("bob")])
    #expect(
      model.feed.suffix(2).map(\.kinds) == [
        [.merged, .unlinked, .grants], [.merged, .linked, .grants],
      ])
    #expect(model.history(of: .chain("1")).last == Self.event("alice", "bob", .merged))
    #expect(
      model.holdings(of: "bob")
        == AccountHoldings(
          targets: [.chain("1"), .appTransaction("900")], tokens: ["token"],
          grants: [Sample.grant("g", to: "bob")], merged: ["alice"]))
    #expect(model.holdings(of: "alice") == AccountHoldings())
    #expect(try model.ask(.merge("alice", into: "bob")).receipt?.isChanged == false)
    #expect(try model.ask(.merge("alice", into: "alice")) == .refused(.sameAccount))
    #expect(try model.ask(.merge("bob", into: "alice")) == .refused(.sameAccount))

    // In every write the alias means the other account.
    #expect(try model.submit([purchase], by: "alice").links == [.unchanged])
    let second = try model.submit([Sample.transaction("2", "2")], by: "alice")
    #expect(second.subjects == [account("bob")])
    #expect(try model.add(Sample.grant("h", to: "alice")).grant.accountID == "bob")
    #expect(try model.ask(.link(.chain("2"), to: "alice")).receipt?.isChanged == false)
    try model.submit([Sample.transaction("3", "3")], by: "carol")
    try model.ask(.transfer(.chain("3"), from: "carol", to: "alice"))
    #expect(model.account(of: .chain("3")) == "bob")
    try model.ask(.transfer(.chain("3"), from: "alice", to: "carol"))
    #expect(model.account(of: .chain("3")) == "carol")
    #expect(model.row(of: "alice")?.revision == receipt.customers.first?.revision)
  }

  @Test("R46: aliases always refer to the last account, after any number of merges")
  func mergedTwice() throws {
    var model = ModelStore()
    for id: AccountID in ["a", "b", "c"] { try model.add(Sample.grant(GrantID("\(id)"), to: id)) }
    try model.ask(.merge("a", into: "b"))
    try model.ask(.merge("b", into: "c"))
    #expect(model.row(of: "a")?.mergedInto == "c")
    #expect(model.holdings(of: "c").merged == ["a", "b"])
    // Merging an alias merges its account.
    try model.ask(.merge("a", into: "d"))
    #expect(model.holdings(of: "d").merged == ["a", "b", "c"])
    #expect(model.holdings(of: "d").grants.count == 3)
    // Merging into an alias merges into its account.
    try model.add(Sample.grant("e", to: "e"))
    try model.ask(.merge("e", into: "b"))
    #expect(model.row(of: "e")?.mergedInto == "d")
  }

  @Test("R46: an unknown account cannot be merged; an unknown target account is created")
  func unknownAccounts() throws {
    var model = ModelStore()
    #expect(try model.ask(.merge("alice", into: "bob")) == .refused(.accountUnknown))
    #expect(model.accounts.isEmpty)
    try model.add(Sample.grant("g", to: "alice"))
    try model.ask(.delete("alice"))
    #expect(try model.ask(.merge("alice", into: "bob")) == .refused(.accountUnknown))
    try model.add(Sample.grant("g", to: "alice"))
    try model.ask(.merge("alice", into: "bob"))
    #expect(model.row(of: "bob")?.isDeleted == false)
    // An account without links can be merged too.
    try model.ask(.merge("bob", into: "carol"))
    #expect(try model.ask(.merge("alice", into: "carol")).receipt?.isChanged == false)
  }
}
