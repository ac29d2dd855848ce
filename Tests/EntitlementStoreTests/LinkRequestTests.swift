import EntitlementDomain
import EntitlementStore
import Testing

@Suite("Link requests (R46)")
struct LinkRequestTests {
  private static func event(
    _ from: AccountID?, _ to: AccountID?, _ reason: LinkReason, isFromErased: Bool = false
  ) -> LinkEvent {
    LinkEvent(
      from: from, to: to, isFromErased: isFromErased, reason: reason, author: "operator",
      note: "ticket 7", at: Sample.now)
  }

  // MARK: Linking

  @Test("R46: a link gives what nobody has, tells who, when and why, and repeats change nothing")
  func link() throws {
    var book = Book()
    try book.submit([Sample.transaction("1", "1")])
    let receipt = try #require(try book.ask(.link(.chain("1"), to: "alice")).receipt)
    #expect(
      receipt
        == LinkReceipt(
          targets: [.chain("1")],
          customers: [
            CustomerRevision(subject: unlinked("1"), revision: 2),
            CustomerRevision(subject: account("alice"), revision: 3),
          ], changed: [unlinked("1"), account("alice")], latest: 3, isChanged: true))
    #expect(book.history(of: .chain("1")) == [Self.event(nil, "alice", .assigned)])
    #expect(book.feed.map(\.kinds) == [.facts, .unlinked, .linked])
    let before = book.feed
    #expect(
      try book.ask(.link(.chain("1"), to: "alice"))
        == .done(
          LinkReceipt(
            targets: [],
            customers: [CustomerRevision(subject: account("alice"), revision: 3)], changed: [],
            latest: 3, isChanged: false)))
    #expect(book.feed == before)
  }

  @Test("R46: a link takes nothing from another account, and nothing is linked that is not known")
  func refusedLinks() throws {
    var book = Book()
    try book.submit([Sample.transaction("1", "1")], by: "alice")
    let before = book
    #expect(try book.ask(.link(.chain("1"), to: "bob")) == .refused(.linkedElsewhere))
    #expect(try book.ask(.link(.chain("2"), to: "bob")) == .refused(.targetUnknown))
    #expect(try book.ask(.link(.appTransaction("900"), to: "bob")) == .refused(.targetUnknown))
    for target: LinkTarget in [.chain("2"), .appTransaction("900")] {
      #expect(try book.ask(.unlink(target)) == .refused(.targetUnknown))
      #expect(
        try book.ask(.transfer(target, from: nil, to: "bob")) == .refused(.targetUnknown))
    }
    #expect(book.feed == before.feed)
    #expect(book.accounts == before.accounts)
  }

  @Test("An app transaction that is known by its own fact alone can be linked")
  func appTransactionOfItsOwn() throws {
    var book = Book()
    try book.submit([Sample.appTransaction("900")])
    #expect(book.links.isEmpty)
    try book.ask(.link(.appTransaction("900"), to: "alice"))
    #expect(book.account(of: .appTransaction("900")) == "alice")
  }

  @Test("R42, R46: a link by request leads on as a signed name does, but teaches no token")
  func leadsOn() throws {
    var book = Book()
    try book.submit([
      Sample.transaction("1", "1") {
        $0.appTransactionID = "900"
        $0.appAccountToken = "token"
      },
      Sample.transaction("2", "2") { $0.previousOriginalTransactionID = "1" },
      Sample.transaction("3", "3") { $0.appTransactionID = "900" },
      Sample.transaction("4", "4") { $0.appAccountToken = "token" },
    ])
    let receipt = try #require(try book.ask(.link(.chain("1"), to: "alice")).receipt)
    #expect(receipt.targets == [.chain("1"), .chain("2"), .chain("3"), .appTransaction("900")])
    #expect(book.account(of: .chain("4")) == nil)
    #expect(book.tokens.isEmpty)
    // What followed is told with who brought it about.
    #expect(book.history(of: .chain("2")) == [Self.event(nil, "alice", .previousChain)])
    #expect(book.history(of: .appTransaction("900")) == [Self.event(nil, "alice", .appTransaction)])
  }

  @Test("R51: a link that was imported leads on once an operator gives it to another account")
  func imported() throws {
    var book = Book()
    try book.submit([Sample.unsigned(Sample.transaction("1", "1"))], by: "alice")
    try book.submit([Sample.transaction("2", "2") { $0.previousOriginalTransactionID = "1" }])
    #expect(book.account(of: .chain("2")) == nil)
    try book.ask(.transfer(.chain("1"), from: "alice", to: "bob"))
    #expect(book.account(of: .chain("2")) == "bob")
  }

  @Test("R46, R51: a merge makes no imported link lead on")
  func mergedImport() throws {
    var book = Book()
    try book.submit([Sample.unsigned(Sample.transaction("1", "1"))], by: "alice")
    try book.ask(.merge("alice", into: "bob"))
    #expect(book.links[ScopedTarget(Sample.scope, .chain("1"))]?.isUnsigned == true)
    try book.submit([Sample.transaction("2", "2") { $0.previousOriginalTransactionID = "1" }])
    #expect(book.account(of: .chain("2")) == nil)
  }

  // MARK: Unlinking

  @Test("R46: hints do not lead back what was unlinked, and a name does")
  func unlink() throws {
    let carrier = Sample.transaction("1", "1") {
      $0.appTransactionID = "900"
      $0.appAccountToken = "token"
    }
    var book = Book()
    try book.submit([carrier], by: "alice")
    let receipt = try #require(try book.ask(.unlink(.chain("1"))).receipt)
    #expect(receipt.targets == [.chain("1")])
    // The chain comes last: from now on it is read as itself.
    #expect(
      receipt.customers == [
        CustomerRevision(subject: account("alice"), revision: 2),
        CustomerRevision(subject: unlinked("1"), revision: 3),
      ])
    #expect(book.feed.suffix(2).map(\.kinds) == [.unlinked, .unlinked])
    #expect(book.history(of: .chain("1")).last == Self.event("alice", nil, .unassigned))
    // The app transaction is another thing.
    #expect(book.account(of: .appTransaction("900")) == "alice")

    // Old facts, new facts, and what others bring.
    try book.submit([carrier])
    try book.submit([
      Sample.transaction("2", "1", version: 5) {
        $0.appTransactionID = "900"
        $0.appAccountToken = "token"
      }
    ])
    try book.submit(
      [Sample.transaction("3", "3") { $0.appTransactionID = "901" }], by: "alice")
    #expect(book.account(of: .chain("1")) == nil)

    let before = book.feed.count
    #expect(try book.ask(.unlink(.chain("1"))).receipt?.isChanged == false)
    #expect(book.feed.count == before)

    #expect(try book.submit([carrier], by: "bob").links == [.linked])
    #expect(book.account(of: .chain("1")) == "bob")
    #expect(book.links[ScopedTarget(Sample.scope, .chain("1"))]?.isDetached == false)
  }

  @Test("R46: what was unlinked can be linked and transferred again")
  func relink() throws {
    for change: LinkRequest.Change in [
      .link(.chain("1"), to: "bob"), .transfer(.chain("1"), from: nil, to: "bob"),
    ] {
      var book = Book()
      try book.submit([Sample.transaction("1", "1")], by: "alice")
      try book.ask(.unlink(.chain("1")))
      #expect(try book.ask(change).receipt?.isChanged == true)
      #expect(book.account(of: .chain("1")) == "bob")
    }
  }

  @Test("R46: an app transaction that was unlinked does not follow a chain, and takes a name")
  func unlinkedAppTransaction() throws {
    var book = Book()
    try book.submit([Sample.transaction("1", "1") { $0.appTransactionID = "900" }], by: "alice")
    let receipt = try #require(try book.ask(.unlink(.appTransaction("900"))).receipt)
    #expect(receipt.customers.map(\.subject) == [account("alice")])
    try book.submit([Sample.transaction("2", "2") { $0.appTransactionID = "900" }], by: "bob")
    #expect(book.account(of: .appTransaction("900")) == nil)
    try book.submit([Sample.appTransaction("900")], by: "carol")
    #expect(book.account(of: .appTransaction("900")) == "carol")
  }

  // MARK: Transferring

  @Test("R46: a transfer takes from whom it names alone, and may be asked again")
  func transfer() throws {
    var book = Book()
    try book.submit([Sample.transaction("1", "1")], by: "alice")
    try book.submit([Sample.transaction("2", "2")], by: "carol")
    #expect(
      try book.ask(.transfer(.chain("1"), from: "carol", to: "bob")) == .refused(.linkedElsewhere))
    #expect(
      try book.ask(.transfer(.chain("1"), from: "nobody", to: "bob")) == .refused(.accountUnknown))
    #expect(
      try book.ask(.transfer(.chain("1"), from: "alice", to: "alice")) == .refused(.sameAccount))
    let receipt = try #require(
      try book.ask(.transfer(.chain("1"), from: "alice", to: "bob")).receipt)
    #expect(receipt.customers.map(\.subject) == [account("bob"), account("alice")])
    #expect(book.history(of: .chain("1")).last == Self.event("alice", "bob", .transferred))
    for former: AccountID? in ["alice", nil] {
      let again = try book.ask(.transfer(.chain("1"), from: former, to: "bob")).receipt
      #expect(again?.isChanged == false)
      #expect(again?.customers.map(\.subject) == [account("bob")])
    }
    // No policy, and no limit, keeps an operator.
    #expect(book.row(of: "bob")?.claims == 0)
  }

  // MARK: Merging

  @Test("R46: a merge gives everything to the other account, and leaves the name")
  func merge() throws {
    var book = Book()
    let purchase = Sample.transaction("1", "1") {
      $0.appTransactionID = "900"
      $0.appAccountToken = "token"
    }
    try book.submit([purchase], by: "alice")
    try book.add(Sample.grant("g", to: "alice"))
    let receipt = try #require(try book.ask(.merge("alice", into: "bob")).receipt)
    #expect(receipt.targets == [.chain("1"), .appTransaction("900")])
    // The name is from now on read as the other account, so its last revision is the lower one.
    #expect(receipt.customers.map(\.subject) == [account("alice"), account("bob")])
    #expect(
      book.feed.suffix(2).map(\.kinds) == [
        [.merged, .unlinked, .grants], [.merged, .linked, .grants],
      ])
    #expect(book.history(of: .chain("1")).last == Self.event("alice", "bob", .merged))
    #expect(
      book.holdings(of: "bob")
        == AccountHoldings(
          targets: [.chain("1"), .appTransaction("900")], tokens: ["token"],
          grants: [Sample.grant("g", to: "bob")], merged: ["alice"]))
    #expect(book.holdings(of: "alice") == AccountHoldings())
    #expect(try book.ask(.merge("alice", into: "bob")).receipt?.isChanged == false)
    #expect(try book.ask(.merge("alice", into: "alice")) == .refused(.sameAccount))
    #expect(try book.ask(.merge("bob", into: "alice")) == .refused(.sameAccount))

    // In every write the name means the other account.
    #expect(try book.submit([purchase], by: "alice").links == [.unchanged])
    let second = try book.submit([Sample.transaction("2", "2")], by: "alice")
    #expect(second.subjects == [account("bob")])
    #expect(try book.add(Sample.grant("h", to: "alice")).grant.accountID == "bob")
    #expect(try book.ask(.link(.chain("2"), to: "alice")).receipt?.isChanged == false)
    try book.submit([Sample.transaction("3", "3")], by: "carol")
    try book.ask(.transfer(.chain("3"), from: "carol", to: "alice"))
    #expect(book.account(of: .chain("3")) == "bob")
    try book.ask(.transfer(.chain("3"), from: "alice", to: "carol"))
    #expect(book.account(of: .chain("3")) == "carol")
    #expect(book.row(of: "alice")?.revision == receipt.customers.first?.revision)
  }

  @Test("R46: names lead to the last account at once, however often that is merged")
  func mergedTwice() throws {
    var book = Book()
    for id: AccountID in ["a", "b", "c"] { try book.add(Sample.grant(GrantID("\(id)"), to: id)) }
    try book.ask(.merge("a", into: "b"))
    try book.ask(.merge("b", into: "c"))
    #expect(book.row(of: "a")?.mergedInto == "c")
    #expect(book.holdings(of: "c").merged == ["a", "b"])
    // The name of one that was merged is the account that is merged.
    try book.ask(.merge("a", into: "d"))
    #expect(book.holdings(of: "d").merged == ["a", "b", "c"])
    #expect(book.holdings(of: "d").grants.count == 3)
    // So it is with the name of one that is merged into.
    try book.add(Sample.grant("e", to: "e"))
    try book.ask(.merge("e", into: "b"))
    #expect(book.row(of: "e")?.mergedInto == "d")
  }

  @Test("R46: an account that is not known cannot be merged, one into which is merged is made")
  func unknownAccounts() throws {
    var book = Book()
    #expect(try book.ask(.merge("alice", into: "bob")) == .refused(.accountUnknown))
    #expect(book.accounts.isEmpty)
    try book.add(Sample.grant("g", to: "alice"))
    try book.ask(.delete("alice"))
    #expect(try book.ask(.merge("alice", into: "bob")) == .refused(.accountUnknown))
    try book.add(Sample.grant("g", to: "alice"))
    try book.ask(.merge("alice", into: "bob"))
    #expect(book.row(of: "bob")?.isDeleted == false)
    // An account that owns nothing has a name to give, too.
    try book.ask(.merge("bob", into: "carol"))
    #expect(try book.ask(.merge("alice", into: "carol")).receipt?.isChanged == false)
  }
}
