import EntitlementDomain
import Testing

@testable import Verification

/// Forms in which teams stored responses of `verifyReceipt`, as they were published.
@Suite("Archived responses as they were stored")
struct ArchiveFormTests {
  /// Of a version 1 notification; the secret is the app's.
  private static let unified = """
    {"status":0,"environment":"Production","latest_receipt":"","latest_receipt_info":[{"quantity":"1",\
    "product_id":"yearly","transaction_id":"150001223000000","original_transaction_id":"150001223000000",\
    "purchase_date_ms":"1667034938000","original_purchase_date_ms":"1667034942000",\
    "expires_date_ms":"1667294138000","is_trial_period":"true","is_in_intro_offer_period":"false"}],\
    "pending_renewal_info":[{"auto_renew_product_id":"yearly","auto_renew_status":"0",\
    "expiration_intent":"2","grace_period_expires_date_ms":"1667816138000",\
    "is_in_billing_retry_period":"0","original_transaction_id":"150001223000000","product_id":"yearly"}]}
    """

  private static func notification(
    _ members: String = "", environment: String = "PROD", unified: String = unified
  ) -> [UInt8] {
    Array(
      """
      {"notification_type":"DID_CHANGE_RENEWAL_STATUS","environment":"\(environment)",\
      "bid":"com.example.disk","bvrs":"7","password":"SECRET","auto_renew_status":"false",\
      "auto_renew_product_id":"yearly","original_transaction_id":150001223000000\(members),\
      "unified_receipt":\(unified)}
      """.utf8)
  }

  private func read(
    _ json: [UInt8], _ statement: ArchivedResponse.Statement = ArchivedResponse.Statement()
  ) throws(Refusal) -> ArchivedResponse {
    try ArchivedResponse(json, beside: statement)
  }

  private func refusal(
    _ json: [UInt8], _ statement: ArchivedResponse.Statement = ArchivedResponse.Statement()
  ) -> Refusal? {
    do throws(Refusal) {
      _ = try read(json, statement)
      return nil
    } catch {
      return error
    }
  }

  @Test func `a version 1 notification has a response as its unified_receipt`() throws {
    let response = try read(Self.notification())
    #expect(response.receipt.bundleID == "com.example.disk")
    #expect(response.receipt.environment == .production)
    #expect(response.receipt.applicationVersion == "7")
    let facts = try response.facts.map { try $0.get() }
    #expect(facts.map(\.fact.kind) == [.appTransaction, .transaction, .renewalInfo])
    guard case .transaction(let purchase) = facts[1].fact,
      case .renewalInfo(let renewal) = facts[2].fact
    else { return }
    #expect(purchase.expiresDate == 1_667_294_138_000)
    #expect(renewal.gracePeriodExpiresDate == 1_667_816_138_000)
    #expect(renewal.expirationIntent == .billingError)
    // The end of the period is told to have come, that of grace is not.
    #expect(facts.allSatisfy { $0.fact.precedence.signedDate == 1_667_294_138_000 })
    // What is stored is the response, without the app's secret beside it.
    #expect(facts.allSatisfy { $0.signed.proof == .document(Array(Self.unified.utf8)) })
  }

  @Test func `it is read alone too, with the app that is stated beside it`() throws {
    let alone = Array(Self.unified.utf8)
    #expect(
      refusal(alone)
        == Refusal(.malformed, "response: it names no app, and none is stated beside it"))
    let response = try read(alone, ArchivedResponse.Statement(bundleID: "com.example.disk"))
    let whole = try read(Self.notification())
    #expect(response.receipt.bundleID == "com.example.disk")
    #expect(
      try response.facts.map { try $0.get().fact }.dropFirst()
        == whole.facts.map { try $0.get().fact }.dropFirst())
  }

  @Test func `the app that it names counts, whatever is stated`() throws {
    let response = try read(
      Self.notification(), ArchivedResponse.Statement(bundleID: "com.example.other"))
    #expect(response.receipt.bundleID == "com.example.disk")
  }

  @Test func `a change of the renewal that came later dates it`() throws {
    let later = #","auto_renew_status_change_date_ms":"1667300000000""#
    #expect(
      try read(Self.notification(later)).facts.map { try $0.get().fact.precedence.signedDate }
        .allSatisfy { $0 == 1_667_300_000_000 })
  }

  @Test(
    "R9: its environments agree",
    arguments: [
      ("PROD", nil, nil), ("Production", .production, nil), ("Sandbox", nil, .malformed),
      ("Moon", nil, .malformed), ("PROD", .sandbox, .wrongEnvironment),
    ] as [(String, StoreEnvironment?, Verdict?)])
  func environments(named: String, stated: StoreEnvironment?, expected: Verdict?) {
    #expect(
      refusal(
        Self.notification(environment: named), ArchivedResponse.Statement(environment: stated)
      )?.verdict == expected)
  }

  @Test func `without its unified_receipt a version 1 notification is refused`() {
    let text = #"{"notification_type":"INITIAL_BUY","bid":"com.example.disk","password":"SECRET"}"#
    #expect(
      refusal(Array(text.utf8))
        == Refusal(
          .malformed, "response: unified_receipt is missing from the version 1 notification"))
    let failed = Self.unified.replacing(#""status":0"#, with: #""status":21010"#)
    #expect(refusal(Self.notification(unified: failed))?.detail.contains("21006") == true)
  }

  @Test(
    "A renewal of 2017 belongs to the chain of its product",
    arguments: [
      (#""yearly""#, "150001223000000"), (#""other""#, nil), ("null", nil),
    ] as [(String, OriginalTransactionID?)])
  func chainOfProduct(product: String, chain: OriginalTransactionID?) throws {
    let unnamed = Self.unified.replacing(
      #""original_transaction_id":"150001223000000","product_id":"yearly"}]"#,
      with: #""product_id":\#(product)}]"#)
    let facts = try read(Self.notification(unified: unnamed)).facts
    guard let chain else {
      #expect(
        refusal(facts.last)
          == Refusal(
            .malformed,
            "renewal: original_transaction_id is missing, and its product has no purchase"))
      return
    }
    guard case .renewalInfo(let renewal) = try facts.last?.get().fact else {
      Issue.record("no renewal info")
      return
    }
    #expect(renewal.originalTransactionID == chain)
    #expect(renewal.productID == "yearly")
  }

  private func refusal(_ fact: Result<SignedFact, Refusal>?) -> Refusal? {
    guard case .failure(let refusal) = fact else { return nil }
    return refusal
  }

  @Test func `a product of several chains names none`() throws {
    var response = ResponseText()
    response.pending[0] = response.pending[0].with("original_transaction_id", nil)
    #expect(try ArchivedResponse(response.bytes).facts.last?.get().fact.kind == .renewalInfo)
    response.inApp[0] = response.inApp[0].with("original_transaction_id", #""7""#)
    let last = try ArchivedResponse(response.bytes).facts.last
    #expect(
      refusal(last)?.detail
        == "renewal: original_transaction_id is missing, and its product has purchases of several chains"
    )
  }

  /// One in the style since iOS 7, as Apple indented it.
  private static func weekly(_ weeks: Int) -> [UInt8] {
    var response = ResponseText()
    let date = #""2015-11-18 04:34:41 America/Los_Angeles""#
    let purchases = (0..<weeks).map { week in
      let start = 1_446_300_000_000 + week * 604_800_000
      var purchase = ResponseText.Members(members: [
        "quantity": #""1""#, "product_id": #""com.example.scribe.pro.weekly""#,
        "transaction_id": "\"\(200_000_000_000_000 + week)\"",
        "original_transaction_id": #""200000000000000""#,
        "web_order_line_item_id": "\"\(300_000_000_000_000 + week)\"",
        "purchase_date_ms": "\"\(start)\"", "original_purchase_date_ms": #""1446300000000""#,
        "expires_date_ms": "\"\(start + 604_800_000)\"", "is_trial_period": #""false""#,
        "is_in_intro_offer_period": #""false""#, "in_app_ownership_type": #""PURCHASED""#,
        "subscription_group_identifier": #""20000001""#,
        "padding": "\"" + String(repeating: "x", count: 400) + "\"",
      ])
      for name in ["purchase_date", "original_purchase_date", "expires_date"] {
        purchase = purchase.with(name, date).with("\(name)_pst", date)
      }
      return purchase
    }
    (response.inApp, response.latest) = (purchases, purchases.reversed())
    return response.bytes
  }

  @Test func `a weekly subscription of nine years has more than a mebibyte, and is read`() throws {
    let json = Self.weekly(470)
    #expect((1_048_576..<VerificationLimits.archiveLength).contains(json.count), "\(json.count)")
    let facts = try ArchivedResponse(json).facts
    #expect(facts.count == 472)
    #expect(try facts.allSatisfy { try $0.get().signed.proof == .document(json) })
  }

  @Test func `a longer response than the limit is refused, with the limit in the text`() {
    let limit = VerificationLimits.archiveLength
    let json = Self.weekly(1)
    let longest = json + [UInt8](repeating: 0x20, count: limit - json.count)
    #expect(refusal(longest) == nil)
    #expect(
      refusal(longest + [0x20]) == Refusal(.malformed, "response: more than \(limit) bytes"))
  }
}
