import EntitlementDomain
import EntitlementStore
import Testing

@Suite("Anonymous accounts (R44)")
struct AnonymousAccountTests {
  private static let purchase = Sample.transaction("1", "1") { $0.appTransactionID = "900" }

  @Test(
    "R44: a signed-in account gets everything of the anonymous account",
    arguments: LinkPolicy.allCases)
  func merges(_ policy: LinkPolicy) throws {
    let catalog = Sample.catalog(policy)
    var model = ModelStore()
    try model.submit([Self.purchase, Sample.transaction("2", "2")], by: "anonymous:1")
    try model.add(Sample.grant("g", to: "anonymous:1"))
    let receipt = try model.submit([Self.purchase], by: "alice", under: catalog)
    #expect(receipt.links == [.transferred])
    #expect(receipt.subjects == [account("alice")])
    #expect(Set(receipt.changed) == [account("anonymous:1"), account("alice")])
    #expect(
      model.holdings(of: "alice")
        == AccountHoldings(
          targets: [.chain("1"), .chain("2"), .appTransaction("900")],
          grants: [Sample.grant("g", to: "alice")], merged: ["anonymous:1"]))
    #expect(
      model.history(of: .chain("2")).last
        == LinkEvent(from: "anonymous:1", to: "alice", reason: .merged, at: Sample.now))
    #expect(model.row(of: "alice")?.claims == 1)
    let again = try model.submit([Self.purchase], by: "alice", under: catalog)
    #expect(again.links == [.unchanged])
    #expect(again.subjects == [account("alice")])
    // A device that still uses the anonymous account.
    let late = try model.submit([Self.purchase], by: "anonymous:1", under: catalog)
    #expect(late.links == [.unchanged])
    #expect(late.subjects == [account("alice")])
  }

  @Test("R44: every fact of a merged chain has the merge outcome, also the facts of the claim")
  func outcomes() throws {
    var model = ModelStore()
    try model.submit(
      [Self.purchase, Sample.transaction("2", "2"), Sample.appTransaction("900")],
      by: "anonymous:1")
    let receipt = try model.submit(
      [
        Self.purchase, Sample.transaction("2", "2"), Sample.appTransaction("900"),
        Sample.transaction("3", "3"),
      ], by: "alice", under: Sample.catalog(.keep, claimsPerDay: 1))
    #expect(receipt.links == [.transferred, .transferred, .transferred, .linked])
  }

  @Test("R44: between anonymous accounts, and against an identified one, the policy decides")
  func policies() throws {
    let keep = Sample.catalog(.keep)
    for (owner, claimer): (AccountID, AccountID) in [
      ("anonymous:1", "anonymous:2"), ("alice", "anonymous:1"), ("alice", "bob"),
    ] {
      var model = ModelStore()
      try model.submit([Self.purchase], by: owner)
      #expect(try model.submit([Self.purchase], by: claimer, under: keep).links == [.alreadyLinked])
      let receipt = try model.submit(
        [Self.purchase], by: claimer, under: Sample.catalog(.transfer))
      #expect(receipt.links == [.transferred])
      #expect(model.row(of: owner)?.mergedInto == nil)
    }
  }

  @Test("R44: unsigned facts merge no account")
  func unsigned() throws {
    var model = ModelStore()
    try model.submit([Self.purchase], by: "anonymous:1")
    let receipt = try model.submit(
      [Sample.unsigned(Sample.transaction("2", "1"))], by: "alice")
    #expect(receipt.links == [.alreadyLinked])
    #expect(receipt.subjects == [])
    #expect(model.row(of: "anonymous:1")?.mergedInto == nil)
  }

  @Test("R44: an unsigned claim with a signed one is granted and listed for the claiming account")
  func mixed() throws {
    var model = ModelStore()
    try model.submit([Self.purchase, Sample.transaction("2", "2")], by: "anonymous:1")
    let facts = [
      Sample.unsigned(Sample.transaction("9", "2")), Self.purchase,
    ]
    let receipt = try model.submit(facts, by: "alice")
    #expect(receipt.links == [.transferred, .transferred])
    #expect(receipt.subjects == [account("alice")])
  }

  @Test("R44: an imported link of an anonymous account is propagated once it is claimed")
  func imported() throws {
    var model = ModelStore()
    try model.submit([Sample.unsigned(Sample.transaction("1", "1"))], by: "anonymous:1")
    try model.submit([Sample.transaction("2", "2") { $0.previousOriginalTransactionID = "1" }])
    #expect(model.account(of: .chain("2")) == nil)
    try model.submit([Sample.transaction("1", "1")], by: "alice")
    #expect(model.account(of: .chain("2")) == "alice")
    #expect(model.links[ScopedTarget(Sample.scope, .chain("1"))]?.isUnsigned == false)
  }

  @Test("R44: an account with an identified alias is not anonymous")
  func identified() throws {
    var model = ModelStore()
    try model.submit([Self.purchase], by: "anonymous:1")
    try model.add(Sample.grant("g", to: "alice"))
    try model.ask(.merge("alice", into: "anonymous:1"))
    // As an owner it is subject to the policy. As a claiming account it merges others.
    let keep = Sample.catalog(.keep)
    #expect(try model.submit([Self.purchase], by: "bob", under: keep).links == [.alreadyLinked])
    try model.submit([Sample.transaction("2", "2")], by: "anonymous:2")
    try model.submit([Sample.transaction("2", "2")], by: "alice", under: keep)
    #expect(model.row(of: "anonymous:2")?.mergedInto == "anonymous:1")
  }

  @Test("R9, R44: accounts with the same id in different environments are different")
  func environments() throws {
    let sandbox = AppScope(bundleID: Sample.scope.bundleID, environment: .sandbox)
    var model = ModelStore()
    try model.submit([Self.purchase, Sample.transaction("1", "1", in: sandbox)], by: "anonymous:1")
    try model.submit([Self.purchase], by: "alice")
    #expect(model.accounts[ScopedAccount(sandbox, "anonymous:1")]?.mergedInto == nil)
    let receipt = try model.submit(
      [Sample.transaction("1", "1", in: sandbox), Sample.transaction("3", "3")],
      by: "anonymous:1")
    // One id, two accounts.
    #expect(receipt.subjects == [.account(sandbox, "anonymous:1"), account("alice")])
  }
}
