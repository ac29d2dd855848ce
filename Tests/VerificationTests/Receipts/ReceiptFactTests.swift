import AppStorePayloads
import Cryptography
import EntitlementDomain
import StoreSimulator
import Testing
import Verification

@Suite("The facts of a receipt")
struct ReceiptFactTests {
  private func verified(_ content: ReceiptContent) throws -> (VerifiedReceipt, der: [UInt8]) {
    let der = try ReceiptWorkshop.sign(content)
    return (try ReceiptWorkshop.verifier.verify(der, policy: .scribe), der)
  }

  private func transactions(_ purchases: ReceiptContent...) throws -> [TransactionFact] {
    let content = purchases.reduce(ReceiptWorkshop.content.without(17)) {
      $0.adding(.purchase($1))
    }
    return try verified(content).0.facts.dropFirst().map { fact in
      guard case .transaction(let transaction) = try fact.get().fact else {
        throw Refusal(.malformed, "not a transaction")
      }
      return transaction
    }
  }

  @Test func `the app comes first, then the purchases in their order`() throws {
    let (receipt, der) = try verified(
      ReceiptWorkshop.content.with(.date(18, "2014-07-01T09:00:00Z")))
    let facts = try receipt.facts.map { try $0.get() }
    #expect(facts.map(\.fact.kind) == [.appTransaction, .transaction])
    guard case .appTransaction(let app) = facts[0].fact,
      case .transaction(let transaction) = facts[1].fact
    else { return }
    #expect(app.authority == .receipt)
    #expect(app.environment == .sandbox)
    #expect(app.bundleID == "com.example.scribe")
    #expect(app.signedDate == ReceiptWorkshop.creationDate)
    #expect(app.originalApplicationVersion == "1.0")
    #expect(app.originalPurchaseDate == Milliseconds(rfc3339: "2014-07-01T09:00:00Z"))
    #expect(app.appTransactionID == "receipt:2000000123456789")
    #expect(app.appAppleID == nil)
    #expect(app.originalPlatform == nil)

    #expect(transaction.authority == .receipt)
    #expect(transaction.environment == .sandbox)
    #expect(transaction.originalTransactionID == "2000000123456789")
    #expect(transaction.transactionID == "2000000123456790")
    #expect(transaction.productID == "com.example.scribe.pro.monthly")
    #expect(transaction.type.rawValue.isEmpty)
    #expect(transaction.purchaseDate == Milliseconds(rfc3339: "2023-12-31T05:20:00Z"))
    #expect(transaction.expiresDate == Milliseconds(rfc3339: "2024-01-31T05:20:00Z"))
    #expect(transaction.quantity == 1)
    #expect(transaction.signedDate == ReceiptWorkshop.creationDate)
    #expect(transaction.appTransactionID == "receipt:2000000123456789")
    #expect(transaction.revocationDate == nil)
    #expect(transaction.offer == nil)
    #expect(facts.allSatisfy { $0.signed.proof == .document(der) })
  }

  @Test func `a stored payload gives the same fact again`() throws {
    let (receipt, _) = try verified(ReceiptWorkshop.content)
    for result in receipt.facts {
      let signed = try result.get()
      let digest = PayloadDigest(sha256: try SHA256.digest(of: signed.signed.payload).words)
      #expect(signed.fact.digest == digest)
      var again = try PayloadDecoder.fact(
        kind: signed.fact.kind, payload: signed.signed.payload, digest: digest,
        bundleID: "com.example.scribe")
      again.authority = .receipt
      #expect(again == signed.fact)
    }
  }

  @Test func `the statement is written in one way`() throws {
    let (receipt, _) = try verified(ReceiptWorkshop.content)
    let texts = try receipt.facts.map {
      String(decoding: try $0.get().signed.payload, as: UTF8.self)
    }
    #expect(
      texts == [
        #"{"receiptType":"Sandbox","bundleId":"com.example.scribe","applicationVersion":"42","#
          + #""receiptCreationDate":1704067200000,"originalApplicationVersion":"1.0","#
          + #""appTransactionId":"receipt:2000000123456789"}"#,
        #"{"originalTransactionId":"2000000123456789","transactionId":"2000000123456790","#
          + #""bundleId":"com.example.scribe","productId":"com.example.scribe.pro.monthly","#
          + #""purchaseDate":1704000000000,"expiresDate":1706678400000,"quantity":1,"#
          + #""signedDate":1704067200000,"environment":"Sandbox","#
          + #""appTransactionId":"receipt:2000000123456789"}"#,
      ])
  }

  @Test func `text that JSON must escape stays what it is`() throws {
    let product = "a\"b\\c\u{1}\n/é👋\u{7F}\u{2028}"
    let facts = try transactions(ReceiptWorkshop.purchase.with(.text(1_702, product)))
    #expect(facts.first?.productID.rawValue == product)
  }

  @Test(
    arguments: [
      ([], nil), ([("1713", 0), ("1719", 0)], nil), ([("1713", 2)], nil),
      ([("1713", 1)], Offer(type: .introductory, discountType: .freeTrial)),
      ([("1719", 1)], Offer(type: .introductory)),
      ([("1713", 1), ("1719", 1)], Offer(type: .introductory, discountType: .freeTrial)),
    ] as [([(String, Int)], Offer?)])
  func `trials and introductory prices are offers`(flags: [(String, Int)], offer: Offer?) throws {
    var purchase = ReceiptWorkshop.purchase
    for (type, value) in flags {
      purchase = purchase.with(.integer(try #require(Int(type)), value))
    }
    #expect(try transactions(purchase).first?.offer == offer)
  }

  @Test(
    arguments: [
      ("spring", [], Offer(type: .promotional, identifier: "spring")),
      ("spring", [1_719], Offer(type: .promotional, identifier: "spring")),
      (
        "spring", [1_713],
        Offer(type: .promotional, identifier: "spring", discountType: .freeTrial)
      ),
      ("", [], nil), ("", [1_719], Offer(type: .introductory)),
    ] as [(String, [Int], Offer?)])
  func `attribute 1721 is the promotional offer, before the flags`(
    identifier: String, flags: [Int], offer: Offer?
  ) throws {
    let purchase = flags.reduce(ReceiptWorkshop.purchase.with(.text(1_721, identifier))) {
      $0.with(.integer($1, 1))
    }
    let (receipt, _) = try verified(ReceiptWorkshop.content.with(.purchase(purchase)))
    #expect(
      receipt.receipt.items.first?.promotionalOfferID == (identifier.isEmpty ? nil : "spring"))
    #expect(receipt.receipt.items.first?.unknownAttributes == [])
    #expect(try transactions(purchase).first?.offer == offer)
  }

  @Test func `a cancelled purchase is revoked`() throws {
    let facts = try transactions(
      ReceiptWorkshop.purchase.with(.date(1_712, "2024-01-02T00:00:00Z")))
    #expect(facts.first?.revocationDate == Milliseconds(rfc3339: "2024-01-02T00:00:00Z"))
  }

  @Test func `a purchase without an original is its own`() throws {
    let facts = try transactions(
      ReceiptWorkshop.purchase.without(1_705).with(.integer(1_711, 1_000_000_012)))
    #expect(facts.first?.originalTransactionID == "2000000123456790")
    #expect(facts.first?.appTransactionID == "receipt:2000000123456790")
    #expect(facts.first?.webOrderLineItemID == "1000000012")
  }

  @Test func `a purchase without a required field is refused alone`() throws {
    for type in [1_702, 1_703, 1_704] {
      let incomplete = ReceiptWorkshop.purchase.without(type)
      let (receipt, _) = try verified(
        ReceiptWorkshop.content.without(17).adding(
          .purchase(incomplete), .purchase(ReceiptWorkshop.purchase)))
      #expect(receipt.receipt.items.count == 2)
      #expect(receipt.facts.count == 3)
      #expect(throws: Refusal.self) { try receipt.facts[1].get() }
      if case .failure(let refusal) = receipt.facts[1] { #expect(refusal.verdict == .malformed) }
      _ = try receipt.facts[2].get()
    }
  }

  @Test(
    arguments: [
      (["1000000000000002", "999999999999999"], "receipt:999999999999999"),
      (["20", "100", "3"], "receipt:3"), (["310000144922729"], "receipt:310000144922729"),
      (["10", "09"], "receipt:09"),
    ])
  func `the oldest purchase stands for the account`(originals: [String], alias: String) throws {
    let content = originals.reduce(ReceiptWorkshop.content.without(17)) {
      $0.adding(.purchase(ReceiptWorkshop.purchase.with(.text(1_705, $1))))
    }
    let facts = try verified(content).0.facts.map { try $0.get().fact }
    #expect(facts.count == originals.count + 1)
    for fact in facts {
      switch fact {
      case .transaction(let fact): #expect(fact.appTransactionID?.rawValue == alias)
      case .appTransaction(let fact): #expect(fact.appTransactionID?.rawValue == alias)
      case .renewalInfo: Issue.record("a receipt says nothing of renewals")
      }
    }
  }

  @Test func `without purchases nothing stands for the account`() throws {
    let (receipt, _) = try verified(ReceiptWorkshop.content.without(17))
    guard case .appTransaction(let fact) = try receipt.facts[0].get().fact else { return }
    #expect(fact.appTransactionID == nil)
    #expect(fact.identity.rawValue == "sha256:" + fact.digest.hexadecimal)
  }

  @Test func `187 purchases are 187 facts`() throws {
    let content = (0..<187).reduce(ReceiptWorkshop.content.without(17)) { content, number in
      content.adding(
        .purchase(ReceiptWorkshop.purchase.with(.text(1_703, "\(2_000_000_123_456_790 + number)"))))
    }
    let facts = try verified(content).0.facts.map { try $0.get().fact }
    #expect(facts.count == 188)
    #expect(Set(facts.map(\.key)).count == 188)
  }
}
