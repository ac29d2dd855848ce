import EntitlementDomain
import Testing

/// Receipts and archived responses have fewer fields and a lower authority than transactions.
@Suite("Purchases out of receipts and archived responses")
struct ReceiptRulesTests {
  private func item(
    _ id: Int, product: ProductID, from start: Double, to end: Double? = nil,
    authority: FactAuthority = .receipt
  ) -> TransactionFact {
    var fact = Given.purchase(id, product: product, type: ProductType(rawValue: ""), at: start)
    fact.authority = authority
    fact.expiresDate = end.map(Given.day)
    return fact
  }

  typealias Row = (
    product: ProductID, end: Double?, type: ProductType, status: DetailedStatus,
    entitlements: [EntitlementID]
  )

  static let lesser: [FactAuthority] = [.receipt, .archivedResponse]

  static let rows: [Row] = [
    ("pro.monthly", 30, .autoRenewable, .active, ["basic", "pro"]),
    ("season", nil, .nonRenewing, .active, ["season"]),
    ("adfree", nil, .nonConsumable, .active, ["ad_free"]),
    ("coins", nil, .consumable, .consumed, []),
    ("elsewhere", 30, .autoRenewable, .active, []),
    ("elsewhere", nil, ProductType(rawValue: ""), .undetermined, []),
  ]

  @Test(
    "R51: a missing type is taken from the catalog, or else from the expiry",
    arguments: rows, lesser)
  func type(_ row: Row, _ authority: FactAuthority) throws {
    let purchase = item(1, product: row.product, from: 0, to: row.end, authority: authority)
    let state = Given.state([purchase], at: 1)
    let standing = try #require(state.product(row.product))
    #expect(standing.productType == row.type)
    #expect(standing.status == row.status)
    #expect(state.entitlementIDs == row.entitlements)
    #expect(standing.notices.contains(.productUnknown) == (row.product == "elsewhere"))
    #expect(standing.notices.contains(.typeUnknown) == (row.status == .undetermined))
  }

  @Test("R10: a signed transaction without a type has an unknown type, whatever the catalog has")
  func signedWithoutType() {
    let fact = Given.purchase(1, product: "adfree", type: ProductType(rawValue: ""), at: 0)
    let state = Given.state([fact], at: 1)
    #expect(state.entitlements.isEmpty)
    #expect(state.product("adfree")?.notices == [.typeUnknown])
  }

  @Test("R11: a period out of a receipt takes its group from the catalog")
  func group() {
    let state = Given.state([item(1, product: "pro.monthly", from: 0, to: 30)], at: 1)
    #expect(state.group("g1")?.status == .active)
    #expect(state.product("pro.monthly")?.periodEnd == Given.day(30))
  }

  @Test(
    "R51: neither replaces a signed transaction, though it was made later", arguments: lesser)
  func authority(_ authority: FactAuthority) {
    let signed = Given.period(1, from: 0) { $0.revocationDate = Given.day(3) }
    var receipt = item(1, product: "pro.monthly", from: 0, to: 30, authority: authority)
    receipt.originalTransactionID = "c1"
    receipt.signedDate = Given.day(9)
    for facts in [[signed, receipt], [receipt, signed]] {
      #expect(Given.state(facts, at: 10).group("g1")?.status == .revoked)
    }
    #expect(Given.state([receipt], at: 10).coreState == .active)
  }

  @Test(
    "R6: of one line item the signed transaction stands, though the other was made later",
    arguments: lesser)
  func lineItem(_ authority: FactAuthority) {
    let signed = Given.period(1, from: 0) { $0.webOrderLineItemID = "w" }
    var receipt = item(2, product: "pro.monthly", from: 0, to: 60, authority: authority)
    receipt.originalTransactionID = "c1"
    receipt.webOrderLineItemID = "w"
    receipt.signedDate = Given.day(9)
    for facts in [[signed, receipt], [receipt, signed]] {
      let state = Given.state(facts, at: 10)
      #expect(state.group("g1")?.transactionID == "t1")
      #expect(state.nextTransitionAt == Given.day(30))
    }
  }
}
