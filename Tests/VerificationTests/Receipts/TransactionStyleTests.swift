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
    "request_date_ms": #""1492000000000""#,
  ]

  private static func object(_ members: Members) -> String {
    "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
  }

  /// Of a subscription that has expired, unless the members are changed.
  private static func response(
    _ receipt: Members = receipt, changing changes: [String: String?] = [:]
  ) -> [UInt8] {
    var members: Members = [
      "status": "21006", "environment": #""Production""#, "receipt": object(receipt),
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

  private func refusal(_ json: [UInt8]) -> Refusal? {
    do throws(Refusal) {
      _ = try ArchivedResponse(json)
      return nil
    } catch {
      return error
    }
  }

  @Test func `status 21006 tells of a subscription that has expired`() throws {
    let response = try ArchivedResponse(Self.response())
    #expect(response.receipt.bundleID == "com.example.scribe")
    #expect(response.receipt.environment == .production)
    #expect(response.receipt.applicationVersion == "42")
    // The moment of the answer is the only date that it has.
    #expect(response.receipt.creationDate == 1_492_000_000_000)
    // This date is the transaction's, and says nothing of when the app was bought.
    #expect(response.receipt.originalPurchaseDate == nil)
    let facts = try response.facts.map { try $0.get().fact }
    #expect(facts.map(\.kind) == [.appTransaction, .transaction, .transaction, .renewalInfo])
    #expect(facts.allSatisfy { $0.precedence.signedDate == 1_492_000_000_000 })
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
    let response = try ArchivedResponse(Self.response(changing: changes))
    let facts = try response.facts.map { try $0.get().fact }
    #expect(facts.map(\.kind) == [.appTransaction, .transaction, .transaction])
    guard case .transaction(let fact) = facts[2] else { return }
    #expect(fact.transactionID == "340000000000009")
    let listed = try ArchivedResponse(
      Self.response(
        changing: changes.merging(
          ["latest_receipt_info": "[\(latest)]"], uniquingKeysWith: { $1 })))
    #expect(listed.receipt == response.receipt)
  }

  @Test func `without a date it is refused, and told so`() {
    var receipt = Self.receipt
    receipt["request_date_ms"] = nil
    #expect(
      refusal(Self.response(receipt))
        == Refusal(
          .malformed,
          "response: receipt_creation_date_ms and request_date_ms are missing: nothing tells the "
            + "date of the response"))
    // A creation date does as well.
    receipt["receipt_creation_date_ms"] = "1"
    #expect(refusal(Self.response(receipt)) == nil)
  }

  @Test func `without an app or an environment it is refused`() {
    var receipt = Self.receipt
    #expect(
      refusal(Self.response(receipt, changing: ["environment": nil]))?.verdict == .wrongEnvironment)
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
    let facts = try ArchivedResponse(Self.response(receipt)).facts.map { try $0.get().fact }
    guard case .transaction(let fact) = facts[1] else { return }
    #expect(fact.expiresDate == expected)
  }
}
