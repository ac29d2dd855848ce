import Cryptography
import EntitlementDomain
import StoreSimulator
import Testing

@testable import Verification

@Suite("Archived responses of verifyReceipt")
struct ArchivedResponseTests {
  private func read(_ response: ResponseText) throws -> ArchivedResponse {
    try ArchivedResponse(response.bytes)
  }

  private func transactions(_ response: ArchivedResponse) throws -> [TransactionFact] {
    try response.facts.compactMap { result in
      guard case .transaction(let fact) = try result.get().fact else { return nil }
      return fact
    }
  }

  @Test func `a usual response is read`() throws {
    let response = try read(ResponseText())
    #expect(response.receipt.receiptType == "ProductionSandbox")
    #expect(response.receipt.bundleID == "com.example.scribe")
    #expect(response.receipt.creationDate == 1_704_067_200_000)
    #expect(response.receipt.applicationVersion == "42")
    #expect(response.receipt.originalApplicationVersion == "1.0")
    #expect(response.receipt.originalPurchaseDate == 1_375_340_400_000)
    #expect(response.receipt.items.count == 2)
    let facts = try response.facts.map { try $0.get() }
    #expect(facts.map(\.fact.kind) == [.appTransaction, .transaction, .transaction, .renewalInfo])
    #expect(facts.allSatisfy { $0.fact.authority == .archivedResponse })
    #expect(facts.allSatisfy { $0.signed.proof == .document(ResponseText().bytes) })
    // When Apple answered, not when the receipt was made.
    #expect(facts.allSatisfy { $0.fact.precedence.signedDate == 1_710_000_000_123 })
    guard case .appTransaction(let app) = facts[0].fact,
      case .transaction(let first) = facts[1].fact, case .transaction(let second) = facts[2].fact,
      case .renewalInfo(let renewal) = facts[3].fact
    else {
      Issue.record("facts of other kinds")
      return
    }
    #expect(app.appTransactionID == "archive:2000000123456789")
    #expect(app.originalApplicationVersion == "1.0")
    #expect(first.transactionID == "2000000123456790")
    #expect(first.expiresDate == 1_706_678_400_000)
    #expect(first.quantity == 1)
    #expect(first.offer == Offer(type: .introductory, discountType: .freeTrial))
    #expect(first.appTransactionID == "archive:2000000123456789")
    #expect(second.transactionID == "2000000123456791")
    #expect(second.subscriptionGroupID == "21000001")
    #expect(second.ownership == .familyShared)
    #expect(second.webOrderLineItemID == "1000000013")
    #expect(second.appAccountToken == "7e3fb204-2d54-4c6a-9f1e-0d6a3c2b1a00")
    #expect(second.revocationDate == 1_707_000_000_000)
    #expect(second.revocationReason == .appIssue)
    #expect(second.offer == Offer(type: .promotional, identifier: "spring"))
    #expect(!second.isUpgraded)
    #expect(renewal.bundleID == "com.example.scribe")
    #expect(renewal.originalTransactionID == "2000000123456789")
    #expect(renewal.autoRenewProductID == "com.example.scribe.pro.yearly")
    #expect(renewal.autoRenews == false)
    #expect(renewal.expirationIntent == .billingError)
    #expect(renewal.isInBillingRetryPeriod == true)
    #expect(renewal.gracePeriodExpiresDate == 1_711_000_000_000)
    #expect(renewal.priceIncreaseStatus == .pending)
  }

  @Test func `a transaction in both lists is what the latest list says`() throws {
    var response = ResponseText()
    let old = response.inApp[0]
    response.latest = [old.with("expires_date_ms", #""1""#), response.latest[0]]
    let facts = try transactions(try read(response))
    #expect(facts.map(\.transactionID) == ["2000000123456790", "2000000123456791"])
    #expect(facts[0].expiresDate == 1)
  }

  @Test func `numbers and flags may be numbers and flags`() throws {
    var response = ResponseText()
    response.status = #""0""#
    response.inApp[0] = response.inApp[0].with("quantity", "1")
      .with("purchase_date_ms", "1704000000000").with("is_trial_period", "true")
      .with("transaction_id", "2000000123456790")
    let facts = try transactions(try read(response))
    #expect(facts[0] == (try transactions(try read(ResponseText())))[0].with(digestOf: facts[0]))
  }

  @Test func `an upgrade is not a refund`() throws {
    var response = ResponseText()
    response.latest[0] = response.latest[0].with("is_upgraded", #""true""#)
      .with("cancellation_reason", nil)
    var fact = try #require(try transactions(try read(response)).last)
    #expect(fact.isUpgraded)
    #expect(fact.revocationDate == nil)
    // With a reason it is both.
    response.latest[0] = response.latest[0].with("cancellation_reason", #""0""#)
    fact = try #require(try transactions(try read(response)).last)
    #expect(fact.isUpgraded)
    #expect(fact.revocationDate == 1_707_000_000_000)
    #expect(fact.revocationReason == .other)
  }

  @Test(
    arguments: [
      (["is_trial_period": #""true""#], Offer(type: .introductory, discountType: .freeTrial)),
      (["is_in_intro_offer_period": #""true""#], Offer(type: .introductory)),
      (["offer_code_ref_name": #""launch""#], Offer(type: .offerCode, identifier: "launch")),
      (
        ["promotional_offer_id": #""spring""#, "offer_code_ref_name": #""launch""#],
        Offer(type: .promotional, identifier: "spring")
      ),
      (
        ["promotional_offer_id": #""spring""#, "is_trial_period": #""true""#],
        Offer(type: .promotional, identifier: "spring", discountType: .freeTrial)
      ),
      (["promotional_offer_id": #""""#, "is_trial_period": #""false""#], nil), ([:], nil),
    ] as [([String: String], Offer?)])
  func `offers are read from four fields`(members: [String: String], offer: Offer?) throws {
    var response = ResponseText()
    response.inApp[0] = response.inApp[0].with("is_trial_period", nil)
    for (name, json) in members { response.inApp[0] = response.inApp[0].with(name, json) }
    #expect(try transactions(try read(response)).first?.offer == offer)
  }

  @Test func `an item without a required field is refused alone`() throws {
    var response = ResponseText()
    response.inApp[0] = response.inApp[0].with("product_id", nil)
    response.pending[0] = response.pending[0].with("original_transaction_id", nil)
      .with("product_id", nil)
    response.latest.append(
      response.latest[0].with("transaction_id", #""7""#).with("quantity", "{}"))
    let read = try read(response)
    #expect(read.receipt.items.count == 3)
    let verdicts = read.facts.map { result -> Verdict in
      switch result {
      case .success: .ok
      case .failure(let refusal): refusal.verdict
      }
    }
    #expect(verdicts == [.ok, .malformed, .ok, .malformed, .malformed])
  }

  @Test func `without lists there is the app alone`() throws {
    var response = ResponseText()
    (response.inApp, response.latest, response.pending) = ([], [], [])
    let read = try read(response)
    #expect(read.facts.count == 1)
    #expect(read.receipt.items.isEmpty)
    response.omitsLists = true
    #expect(try self.read(response).facts.count == 1)
  }

  @Test func `without the moment of the answer the latest one in it that had come stands in`()
    throws
  {
    var response = ResponseText()
    response.receipt["receipt_creation_date_ms"] = nil
    #expect(try read(response).receipt.creationDate == 1_710_000_000_123)
    // The end of the last period, as the renewal tells that it is over.
    response = ResponseText()
    response.receipt["request_date_ms"] = nil
    func dates() throws -> (receipt: Milliseconds, facts: Set<Milliseconds>) {
      let read = try read(response)
      return (
        read.receipt.creationDate,
        Set(try read.facts.map { try $0.get().fact.precedence.signedDate })
      )
    }
    #expect(try dates() == (1_704_067_200_000, [1_709_184_000_000]))
    // Otherwise that end may lie ahead: the cancellation is the last that is told.
    response.pending = []
    #expect(try dates() == (1_704_067_200_000, [1_707_000_000_000]))
    response.latest = []
    #expect(try dates() == (1_704_067_200_000, [1_704_067_200_000]))
    response.receipt["receipt_creation_date_ms"] = nil
    #expect(try dates() == (1_704_000_000_000, [1_704_000_000_000]))
    response.inApp = []
    #expect(
      verdict(response.bytes) == .malformed)
  }

  @Test func `a receipt of an expired subscription is valid`() throws {
    var response = ResponseText()
    let expected = try read(response)
    for status in ["21006", #""21006""#] {
      response.status = status
      let read = try read(response)
      #expect(read.receipt == expected.receipt)
      #expect(
        try read.facts.map { try $0.get().fact.key } == expected.facts.map { try $0.get().fact.key }
      )
    }
  }

  @Test func `other statuses are refused with the two that are valid`() {
    var response = ResponseText()
    response.status = "21010"
    let refusal = #expect(throws: Refusal.self) { try self.read(response) }
    #expect(
      refusal
        == Refusal(
          .malformed,
          "response: status is neither 0 nor 21006 (valid, the subscription has expired): Apple "
            + "did not find the receipt valid"))
  }

  @Test(
    arguments: [
      (#""Sandbox""#, #""ProductionSandbox""#, .ok), (#""Production""#, #""Production""#, .ok),
      (#""Production""#, #""ProductionVPP""#, .ok),
      (#""Sandbox""#, #""ProductionVPPSandbox""#, .ok), (nil, #""ProductionSandbox""#, .ok),
      (#""Sandbox""#, nil, .ok), (#""Production""#, nil, .ok),
      (#""Production""#, #""ProductionSandbox""#, .malformed),
      (#""Sandbox""#, #""Production""#, .malformed), (#""Moon""#, #""Production""#, .malformed),
      (nil, nil, .wrongEnvironment), (#""Xcode""#, #""Xcode""#, .wrongEnvironment),
      (nil, #""Xcode""#, .wrongEnvironment), (nil, #""Moon""#, .wrongEnvironment),
      (#""LocalTesting""#, nil, .wrongEnvironment), (#""Moon""#, nil, .wrongEnvironment),
    ] as [(String?, String?, Verdict)])
  func `environment and receipt type agree`(
    environment: String?, type: String?, expected: Verdict
  ) {
    var response = ResponseText()
    response.environment = environment
    response.receipt["receipt_type"] = type
    #expect(verdict(response.bytes) == expected)
  }

  @Test(
    arguments: [
      "21000", "21002", "21003", "21005", "21007", "21010", "-21006", "null", "-1", "0.0", "[]",
      #""""#,
      "99999999999999999999", #""zero""#,
    ])
  func `a response that Apple did not say yes in is refused`(status: String) {
    var response = ResponseText()
    response.status = status
    #expect(verdict(response.bytes) == .malformed)
  }

  @Test func `invalid responses are refused`() {
    let texts = [
      "", "{}", "[]", "null", #"{"status":0}"#, #"{"status":0,"receipt":[]}"#,
      #"{"status":0,"status":0,"receipt":{}}"#, String(repeating: "[", count: 10_000),
      #"{"status":0,"environment":"Sandbox","latest_receipt_info":{},"receipt":{"#
        + #""bundle_id":"com.example.scribe","receipt_creation_date_ms":"1","#
        + #""receipt_type":"ProductionSandbox"}}"#,
    ]
    for text in texts { #expect(verdict(Array(text.utf8)) == .malformed, "\(text.prefix(40))") }
    #expect(
      verdict(Array(repeating: 0x20, count: VerificationLimits.archiveLength + 1)) == .malformed)
    for name in ["in_app", "latest_receipt_info", "pending_renewal_info"] {
      var response = ResponseText()
      response.more = #","\#(name)2":0"#
      #expect(verdict(response.bytes) == .ok)
    }
  }

  @Test func `a response cut at any length is refused`() {
    let bytes = ResponseText().bytes
    for length in 0..<bytes.count { #expect(verdict(Array(bytes[..<length])) == .malformed) }
  }

  @Test func `the numbers of purchases and renewals are bounded`() throws {
    var response = ResponseText()
    (response.inApp, response.pending) = ([], [])
    let limit = VerificationLimits.receiptItems
    response.latest = Array(repeating: ResponseText.Members(), count: limit)
    #expect(try read(response).facts.count == limit + 1)
    response.inApp = [ResponseText.Members()]
    #expect(verdict(response.bytes) == .malformed)
    (response.inApp, response.latest) = ([], [])
    response.pending = Array(repeating: ResponseText.Members(), count: limit)
    #expect(try read(response).facts.count == limit + 1)
    response.pending.append(ResponseText.Members())
    #expect(verdict(response.bytes) == .malformed)
  }

  @Test func `a simulated response says what the receipt to it says`() throws {
    var simulated = SimulatedReceipt(
      receiptType: "ProductionSandbox", bundleID: "com.example.scribe",
      creationDate: ReceiptWorkshop.creationDate)
    simulated.applicationVersion = "42"
    simulated.originalApplicationVersion = "1.0"
    simulated.originalPurchaseDate = 1_375_340_400_000
    simulated.items = (0..<5).map { number in
      var item = SimulatedReceiptItem(
        transactionID: TransactionID("\(3_000_000_000_000_000 + number)"),
        originalTransactionID: "3000000000000000",
        productID: "com.example.scribe.pro.monthly",
        purchaseDate: Milliseconds(1_690_000_000_000 + Int64(number) * 2_592_000_000))
      item.expiresDate = item.purchaseDate?.advanced(by: 2_592_000_000)
      return item
    }
    let signed = try ReceiptWorkshop.verifier.verify(
      try ReceiptWorkshop.authority.sign(simulated), policy: .scribe)
    let archived = try ArchivedResponse(simulated.archivedResponse())
    #expect(archived.receipt.items.count == 5)
    #expect(archived.receipt.receiptType == signed.receipt.receiptType)
    #expect(
      Set(archived.receipt.items.map(\.transactionID))
        == Set(signed.receipt.items.map(\.transactionID)))
    let keys = try Set(archived.facts.map { try $0.get().fact.key })
    let signedKeys = try Set(signed.facts.map { try $0.get().fact.key })
    #expect(keys.subtracting(signedKeys).count == 1)
    // The alias tells which of the two it is.
    #expect(keys.intersection(signedKeys).count == 5)
  }

  private func verdict(_ bytes: [UInt8]) -> Verdict {
    do {
      _ = try ArchivedResponse(bytes)
      return .ok
    } catch {
      return error.verdict
    }
  }
}

extension TransactionFact {
  /// With another digest: of a statement that is spelled otherwise.
  fileprivate func with(digestOf other: TransactionFact) -> TransactionFact {
    var copy = self
    copy.digest = other.digest
    return copy
  }
}
