import EntitlementDomain
import EntitlementStore
import Testing

@Suite("Claims under transfer_if_inactive (R44)")
struct JudgedClaimTests {
  private static let catalog = Sample.catalog(.transferIfInactive)
  private static let active = Sample.transaction("1", "1")
  private static let refunded = Sample.transaction("1", "1", version: 5) {
    $0.revocationDate = 900
  }

  private static func model(_ fact: SignedFact) throws -> ModelStore {
    var model = ModelStore()
    try model.submit([fact], by: "alice")
    return model
  }

  @Test("R5, R44: the standing version decides, also when the claim contains it")
  func broughtAlong() throws {
    var model = try Self.model(Self.active)
    #expect(
      try model.submit([Self.active], by: "bob", under: Self.catalog).links == [.alreadyLinked])
    #expect(
      try model.submit([Self.refunded], by: "bob", under: Self.catalog).links == [.transferred])
  }

  @Test("R5, R44: an older version in force does not count")
  func superseded() throws {
    var model = try Self.model(Self.refunded)
    let receipt = try model.submit([Self.active], by: "bob", under: Self.catalog)
    #expect(receipt.dispositions == [.superseded])
    #expect(receipt.links == [.transferred])
  }

  @Test("R7, R44: a transaction that moved to another chain does not keep the first in force")
  func moved() throws {
    var model = try Self.model(Self.active)
    let receipt = try model.submit(
      [
        Sample.transaction("1", "2", version: 5),
        Sample.transaction("3", "1") { $0.revocationDate = 900 },
      ], by: "bob", under: Self.catalog)
    #expect(receipt.links == [.linked, .transferred])
  }

  @Test("R42, R44: an app transaction is in force while a chain of its owner with its id is")
  func appTransaction() throws {
    let carrier = Sample.transaction("1", "1") { $0.appTransactionID = "900" }
    var model = try Self.model(carrier)
    let claim = [Sample.appTransaction("900")]
    #expect(try model.submit(claim, by: "bob", under: Self.catalog).links == [.alreadyLinked])
    #expect(
      try model.submit(claim, by: "bob", at: Sample.late, under: Self.catalog).links
        == [.transferred])
  }

  @Test("R44: an earlier write of the same ledger counts", arguments: [true, false])
  func sharedLedger(isRefund: Bool) throws {
    let model = try Self.model(Self.active)
    var ledger = Ledger(reader: model)
    let news = isRefund ? Self.refunded : Sample.transaction("2", "1")
    _ = try ledger.commit(Submission(facts: [news], receivedAt: Sample.now))
    let receipt = try ledger.commit(
      Submission(
        facts: [Self.active], accountID: "bob", receivedAt: Sample.now, catalog: Self.catalog))
    let numbering = ChangeNumbering(base: model.feedEnd)
    #expect(receipt(numbering).links == [isRefund ? .transferred : .alreadyLinked])
  }
}
