import EntitlementDomain
import EntitlementStore
import Testing

@Suite("Anonymous accounts (R75)")
struct AnonymousAccountTests {
  private static let purchase = Sample.transaction("1", "1") { $0.appTransactionID = "900" }

  @Test(
    "R75: a signed-in account gets everything of the anonymous account that is named with it",
    arguments: LinkPolicy.allCases)
  func merges(_ policy: LinkPolicy) throws {
    let catalog = Sample.catalog(policy)
    var model = ModelStore()
    try model.submit([Self.purchase, Sample.transaction("2", "2")], by: "anonymous:1")
    try model.add(Sample.grant("g", to: "anonymous:1"))
    let receipt = try model.submit(
      [Self.purchase], by: "alice", anonymous: "anonymous:1", under: catalog)
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
    #expect(model.row(of: "alice")?.claims == 0)
    let again = try model.submit([Self.purchase], by: "alice", under: catalog)
    #expect(again.links == [.unchanged])
    #expect(again.subjects == [account("alice")])
    // A device that still uses the anonymous account.
    let late = try model.submit([Self.purchase], by: "anonymous:1", under: catalog)
    #expect(late.links == [.unchanged])
    #expect(late.subjects == [account("alice")])
  }

  @Test("R75: every fact of a merged chain has the merge outcome")
  func outcomes() throws {
    var model = ModelStore()
    try model.submit(
      [Self.purchase, Sample.transaction("2", "2"), Sample.appTransaction("900")],
      by: "anonymous:1")
    let receipt = try model.submit(
      [
        Self.purchase, Sample.transaction("2", "2"), Sample.appTransaction("900"),
        Sample.transaction("3", "3"),
      ], by: "alice", anonymous: "anonymous:1", under: Sample.catalog(.keep, claimsPerDay: 1))
    #expect(receipt.links == [.transferred, .transferred, .transferred, .linked])
  }

  @Test("R44: the policy decides a claim, also of what an anonymous account has")
  func policies() throws {
    let keep = Sample.catalog(.keep)
    for (owner, claimer): (AccountID, AccountID) in [
      ("anonymous:1", "anonymous:2"), ("anonymous:1", "alice"), ("alice", "anonymous:1"),
      ("alice", "bob"),
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

  @Test("R44: an unsigned claim takes nothing of an anonymous account")
  func unsigned() throws {
    var model = ModelStore()
    try model.submit([Self.purchase], by: "anonymous:1")
    let receipt = try model.submit(
      [Sample.unsigned(Sample.transaction("2", "1"))], by: "alice")
    #expect(receipt.links == [.alreadyLinked])
    #expect(receipt.subjects == [])
    #expect(model.row(of: "anonymous:1")?.mergedInto == nil)
  }

  @Test("R75: an unsigned fact of a merged chain is listed for the account")
  func mixed() throws {
    var model = ModelStore()
    try model.submit([Self.purchase, Sample.transaction("2", "2")], by: "anonymous:1")
    let facts = [
      Sample.unsigned(Sample.transaction("9", "2")), Self.purchase,
    ]
    let receipt = try model.submit(facts, by: "alice", anonymous: "anonymous:1")
    #expect(receipt.links == [.transferred, .transferred])
    #expect(receipt.subjects == [account("alice")])
  }

  @Test("R75: an imported link of a merged account is propagated once it is confirmed")
  func imported() throws {
    var model = ModelStore()
    try model.submit([Sample.unsigned(Sample.transaction("1", "1"))], by: "anonymous:1")
    try model.submit([Sample.transaction("2", "2") { $0.previousOriginalTransactionID = "1" }])
    #expect(model.account(of: .chain("2")) == nil)
    try model.submit([Sample.transaction("1", "1")], by: "alice", anonymous: "anonymous:1")
    #expect(model.account(of: .chain("2")) == "alice")
    #expect(model.links[ScopedTarget(Sample.scope, .chain("1"))]?.isUnsigned == false)
  }

  @Test("R75: an account with an identified alias is not anonymous")
  func identified() throws {
    var model = ModelStore()
    try model.submit([Self.purchase], by: "anonymous:1")
    try model.add(Sample.grant("g", to: "alice"))
    try model.ask(.merge("alice", into: "anonymous:1"))
    let keep = Sample.catalog(.keep)
    try model.submit([Self.purchase], by: "bob", anonymous: "anonymous:1", under: keep)
    #expect(model.account(of: .chain("1")) == "anonymous:1")
    try model.submit([Sample.transaction("2", "2")], by: "anonymous:2")
    try model.submit(
      [Sample.transaction("2", "2")], by: "alice", anonymous: "anonymous:2", under: keep)
    #expect(model.row(of: "anonymous:2")?.mergedInto == "anonymous:1")
  }

  @Test("R9, R75: accounts with the same id in different environments are different")
  func environments() throws {
    let sandbox = AppScope(bundleID: Sample.scope.bundleID, environment: .sandbox)
    var model = ModelStore()
    try model.submit([Self.purchase, Sample.transaction("1", "1", in: sandbox)], by: "anonymous:1")
    try model.submit([Self.purchase], by: "alice", anonymous: "anonymous:1")
    #expect(model.accounts[ScopedAccount(sandbox, "anonymous:1")]?.mergedInto == nil)
    let receipt = try model.submit(
      [Sample.transaction("1", "1", in: sandbox), Sample.transaction("3", "3")],
      by: "anonymous:1")
    // One id, two accounts.
    #expect(receipt.subjects == [.account(sandbox, "anonymous:1"), account("alice")])
  }
}
