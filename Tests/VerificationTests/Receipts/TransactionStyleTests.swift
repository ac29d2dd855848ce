import AppStorePayloads
import EntitlementDomain
import Testing
import Verification

/// Responses of `verifyReceipt` to a receipt of one transaction, in the style of iOS 6.
@Suite("Archived responses in the style of iOS 6")
struct TransactionStyleTests {
  private typealias Members = [String: String]

  private static let receipt: Members = [
    "bid": #""com.example.scribe""#, "bvrs": #""42""#, "item_id": #""870000001""#,
    "product_id": #""com.example.scribe.pro.monthly""#, "quantity": #""1""#,
    "transaction_id": #""340000000000002""#, "original_transaction_id": #""340000000000001""#,
    "purchase_date": #""2017-03-01 00:00:00 Etc/GMT""#, "purchase_date_ms": #""1488326400000""#,
    "original_purchase_date_ms": #""1485907200000""#, "expires_date": #""1491004800000""#,
    "expires_date_formatted": #""2017-04-01 00:00:00 Etc/GMT""#,
    "web_order_line_item_id": #""340000000100""#, "unique_identifier": #""0123456789abcdef""#,
  ]

  private static func object(_ members: Members) -> String {
    "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
  }

  /// Of a subscription that has expired, unless the members are changed.
  private static func response(
    _ receipt: Members = receipt, changing changes: [String: String?] = [:]
  ) -> [UInt8] {
    var members: Members = [
      "status": "21006", "receipt": object(receipt),
      "latest_expired_receipt_info": object(
        receipt.merging(
          [
            "transaction_id": #""340000000000003""#, "purchase_date_ms": #""1491004800000""#,
            "expires_date": #""1493596800000""#,
          ], uniquingKeysWith: { $1 })),
      "auto_renew_status": "0", "auto_renew_product_id": #""com.example.scribe.pro.yearly""#,
      "expiration_intent": #""1""#, "is_in_billing_retry_period": #""0""#,
    ]
    for (name, value) in changes { members[name] = value }
    return Array(object(members).utf8)
  }

  /// Such a response names no environment.
  private func read(
    _ json: [UInt8], _ environment: StoreEnvironment? = .production, asOf: Milliseconds? = nil
  ) throws(Refusal) -> ArchivedResponse {
    try ArchivedResponse(
      json, beside: ArchivedResponse.Statement(environment: environment, asOf: asOf))
  }

  private func refusal(
    _ json: [UInt8], _ environment: StoreEnvironment? = .production, asOf: Milliseconds? = nil
  ) -> Refusal? {
    do throws(Refusal) {
      _ = try read(json, environment, asOf: asOf)
      return nil
    } catch {
      return error
    }
  }

  @Test func `status 21006 tells of a subscription that has expired`() throws {
    let response = try read(Self.response())
    #expect(response.receipt.bundleID == "com.example.scribe")
    #expect(response.receipt.environment == .production)
    #expect(response.receipt.applicationVersion == "42")
    // The latest moment in it, as the period is over.
    #expect(response.receipt.creationDate == 1_493_596_800_000)
    // This date is the transaction's, and says nothing of when the app was bought.
    #expect(response.receipt.originalPurchaseDate == nil)
    let facts = try response.facts.map { try $0.get().fact }
    #expect(facts.map(\.kind) == [.appTransaction, .transaction, .transaction, .renewalInfo])
    #expect(facts.allSatisfy { $0.precedence.signedDate == 1_493_596_800_000 })
    guard case .transaction(let own) = facts[1], case .transaction(let latest) = facts[2],
      case .renewalInfo(let renewal) = facts[3]
    else { return }
    #expect(own.transactionID == "340000000000002")
    #expect(own.originalTransactionID == "340000000000001")
    #expect(own.purchaseDate == 1_488_326_400_000)
    #expect(own.expiresDate == 1_491_004_800_000)
    #expect(own.webOrderLineItemID == "340000000100")
    #expect(latest.transactionID == "340000000000003")
    #expect(latest.expiresDate == 1_493_596_800_000)
    #expect(renewal.originalTransactionID == "340000000000001")
    #expect(renewal.productID == "com.example.scribe.pro.monthly")
    #expect(renewal.autoRenewProductID == "com.example.scribe.pro.yearly")
    #expect(renewal.autoRenews == false)
    #expect(renewal.expirationIntent == .cancelled)
    #expect(renewal.isInBillingRetryPeriod == false)
  }

  @Test func `status 0 is read alike, with the latest transaction in a member of that name`() throws
  {
    let latest = Self.object(
      Self.receipt.merging(
        ["transaction_id": #""340000000000009""#], uniquingKeysWith: { $1 }))
    let changes: [String: String?] = [
      "status": "0", "latest_expired_receipt_info": nil, "latest_receipt_info": latest,
      "auto_renew_status": nil,
    ]
    let response = try read(Self.response(changing: changes))
    // The period may be in force: its end is not told to have come.
    #expect(response.receipt.creationDate == 1_488_326_400_000)
    let facts = try response.facts.map { try $0.get().fact }
    #expect(facts.map(\.kind) == [.appTransaction, .transaction, .transaction])
    guard case .transaction(let fact) = facts[2] else { return }
    #expect(fact.transactionID == "340000000000009")
    let listed = try read(
      Self.response(
        changing: changes.merging(
          ["latest_receipt_info": "[\(latest)]"], uniquingKeysWith: { $1 })))
    #expect(listed.receipt == response.receipt)
  }

  @Test func `its own date goes before the stated one, and that before the latest in it`() throws {
    var receipt = Self.receipt
    let stated: Milliseconds = 1_495_000_000_000
    #expect(
      try read(Self.response(receipt), asOf: stated).receipt.creationDate == stated)
    #expect(
      refusal(Self.response(receipt), asOf: 1_493_596_799_999)
        == Refusal(
          .malformed,
          "response: the date that is stated beside it is before the latest date in it"))
    receipt["request_date_ms"] = #""1492000000000""#
    let response = try read(Self.response(receipt), asOf: stated)
    #expect(response.receipt.creationDate == 1_492_000_000_000)
    #expect(
      try response.facts.map { try $0.get().fact.precedence.signedDate }.allSatisfy {
        $0 == 1_492_000_000_000
      })
  }

  @Test func `without any date it is refused, and told so`() {
    var receipt = Self.receipt
    for name in ["purchase_date_ms", "original_purchase_date_ms", "expires_date"] {
      receipt[name] = nil
    }
    let response = Self.response(
      receipt, changing: ["latest_expired_receipt_info": nil, "auto_renew_status": nil])
    #expect(
      refusal(response)
        == Refusal(
          .malformed,
          "response: request_date_ms is missing, and there is no other date to date it by"))
    #expect(refusal(response, asOf: 1) == nil)
  }

  @Test func `R9: its environment is its own or the stated one, and never two`() throws {
    #expect(
      refusal(Self.response(), nil)
        == Refusal(
          .wrongEnvironment, "response: it names no environment, and none is stated beside it"))
    #expect(try read(Self.response(), .sandbox).receipt.environment == .sandbox)
    for environment in [StoreEnvironment.xcode, .localTesting] {
      #expect(refusal(Self.response(), environment)?.verdict == .wrongEnvironment)
    }
    let named = Self.response(changing: ["environment": #""Sandbox""#])
    #expect(refusal(named, nil) == nil)
    #expect(refusal(named, .sandbox) == nil)
    #expect(
      refusal(named, .production)
        == Refusal(
          .wrongEnvironment, "response: it names another environment than is stated beside it"))
  }

  @Test func `without an app it is refused`() {
    var receipt = Self.receipt
    receipt["bid"] = nil
    #expect(
      refusal(Self.response(receipt))
        == Refusal(.malformed, "response: bundle_id is missing"))
    receipt["bid"] = #""""#
    #expect(refusal(Self.response(receipt))?.verdict == .malformed)
  }

  @Test(
    arguments: [
      (#""1491004800000""#, nil, 1_491_004_800_000), ("1491004800000", nil, 1_491_004_800_000),
      (#""2017-04-01 00:00:00 Etc/GMT""#, nil, nil), (#""""#, nil, nil), (nil, nil, nil),
      (#""2017-04-01 00:00:00 Etc/GMT""#, #""7""#, 7), (#""1491004800000""#, #""7""#, 7),
    ] as [(String?, String?, Milliseconds?)])
  func `the end of a period is milliseconds under either name`(
    date: String?, milliseconds: String?, expected: Milliseconds?
  ) throws {
    var receipt = Self.receipt
    receipt["expires_date"] = date
    receipt["expires_date_ms"] = milliseconds
    let facts = try read(Self.response(receipt)).facts.map { try $0.get().fact }
    guard case .transaction(let fact) = facts[1] else { return }
    #expect(fact.expiresDate == expected)
  }
}
