import AppStorePayloads
import EntitlementDomain
import JSON
import TestSupport
import Testing

/// The fact of a purchase is made without reading its payload again; that must change nothing.
@Suite("R51: payloads of the purchases of a receipt")
struct ReceiptPayloadTests {
  private static let digest = PayloadDigest(words: (1, 2))

  private static func origin(
    _ bundleID: BundleID = "com.example.scribe", _ environment: StoreEnvironment = .production
  ) -> ReceiptPayload.Origin {
    ReceiptPayload.Origin(
      bundleID: bundleID, environment: environment, signedDate: 1_704_067_200_000,
      appTransactionID: "receipt:2000000123456789")
  }

  private static func purchase(_ product: ProductID = "com.example.scribe.pro") -> ReceiptPurchase {
    ReceiptPurchase(
      transactionID: "2000000123456790", originalTransactionID: "2000000123456789",
      productID: product, purchaseDate: 1_704_000_000_000)
  }

  private func outcome(
    _ read: () throws(PayloadError) -> TransactionFact
  ) -> Result<TransactionFact, PayloadError> {
    do throws(PayloadError) {
      return .success(try read())
    } catch {
      return .failure(error)
    }
  }

  /// Both ways to the fact have the same outcome.
  ///
  /// - Returns: the outcome.
  @discardableResult
  private func check(
    _ purchase: ReceiptPurchase, _ origin: ReceiptPayload.Origin,
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> Result<TransactionFact, PayloadError> {
    var encoder = PurchaseEncoder(of: origin)
    // After another one, of which nothing must be left.
    _ = encoder.payload(of: Self.purchase("\"another\""))
    let payload = encoder.payload(of: purchase)
    let made = outcome { () throws(PayloadError) in
      try PayloadDecoder.transaction(
        purchase, of: origin, in: payload, digest: Self.digest, authority: .signedTransaction)
    }
    let read = outcome { () throws(PayloadError) in
      try PayloadDecoder.transaction(try PayloadFields(json: payload.bytes), digest: Self.digest)
    }
    #expect(made == read, "\(purchase)", sourceLocation: sourceLocation)
    return made
  }

  @Test func `all fields are written in one order and form`() {
    var purchase = Self.purchase()
    purchase.originalPurchaseDate = Milliseconds(.min)
    purchase.expiresDate = Milliseconds(.max)
    purchase.webOrderLineItemID = "1000000012"
    purchase.subscriptionGroupID = "21000001"
    purchase.quantity = 0
    purchase.appAccountToken = "6F1C2C2E-9f6b-4b8e-8a44-2f6f9d1d7c11"
    purchase.ownership = .familyShared
    purchase.revocationDate = -10
    purchase.revocationReason = RevocationReason(rawValue: 1)
    purchase.isUpgraded = true
    purchase.offer = Offer(
      type: .promotional, identifier: "a\"b\\c\u{1F}é", discountType: .freeTrial)
    var encoder = PurchaseEncoder(of: Self.origin())
    let payload = encoder.payload(of: purchase)
    #expect(
      String(decoding: payload.bytes, as: UTF8.self)
        == #"{"originalTransactionId":"2000000123456789","transactionId":"2000000123456790","#
        + #""webOrderLineItemId":"1000000012","bundleId":"com.example.scribe","#
        + #""productId":"com.example.scribe.pro","subscriptionGroupIdentifier":"21000001","#
        + #""purchaseDate":1704000000000,"originalPurchaseDate":-9223372036854775808,"#
        + #""expiresDate":9223372036854775807,"quantity":0,"#
        + #""appAccountToken":"6F1C2C2E-9f6b-4b8e-8a44-2f6f9d1d7c11","#
        + #""inAppOwnershipType":"FAMILY_SHARED","signedDate":1704067200000,"#
        + #""revocationReason":1,"revocationDate":-10,"isUpgraded":true,"offerType":2,"#
        + #""offerIdentifier":"a\"b\\c\u001fé","offerDiscountType":"FREE_TRIAL","#
        + #""environment":"Production","appTransactionId":"receipt:2000000123456789"}"#)
    guard case .success(let fact) = check(purchase, Self.origin()) else {
      Issue.record("the payload has a fact")
      return
    }
    // As in any payload, the token is in lower case.
    #expect(fact.appAccountToken == "6f1c2c2e-9f6b-4b8e-8a44-2f6f9d1d7c11")
  }

  @Test func `purchases of any form`() {
    var random = SeededRandom(for: "purchases of a receipt")
    let texts = [
      "", "a", "2000000123456790", "com.example.scribe.pro.monthly", "é👋\u{2028}", "\u{0}",
      "\u{1F}",
      "\"", "\\", "a\u{0}b", String(repeating: "x", count: 5_000),
      "6f1c2c2e-9f6b-4b8e-8a44-2f6f9d1d7c11", "6F1C2C2E-9F6B-4B8E-8A44-2F6F9D1D7C11",
    ]
    func text() -> String {
      // Mostly one that needs no care.
      Bool.random(using: &random)
        ? texts[Int.random(in: 1...4, using: &random)] : texts.randomElement(using: &random) ?? ""
    }
    func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
    func number() -> Int64 {
      let numbers: [Int64] = [.min, -1, 0, 1, 9, 10, 1_704_067_200_000, .max]
      return numbers.randomElement(using: &random) ?? 0
    }
    var facts = 0
    for _ in 0..<5_000 {
      var origin = Self.origin(
        BundleID(text()), StoreEnvironment.allCases.randomElement(using: &random) ?? .sandbox)
      origin.signedDate = Milliseconds(number())
      origin.appTransactionID = maybe(AppTransactionID(text()))
      var purchase = ReceiptPurchase(
        transactionID: TransactionID(text()), originalTransactionID: OriginalTransactionID(text()),
        productID: ProductID(text()), purchaseDate: Milliseconds(number()))
      purchase.originalPurchaseDate = maybe(Milliseconds(number()))
      purchase.expiresDate = maybe(Milliseconds(number()))
      purchase.webOrderLineItemID = maybe(WebOrderLineItemID(text()))
      purchase.subscriptionGroupID = maybe(SubscriptionGroupID(text()))
      purchase.quantity = maybe(number())
      purchase.appAccountToken = maybe(maybe(AppAccountToken(text()))) ?? nil
      purchase.ownership = maybe(OwnershipType(rawValue: text()))
      purchase.revocationDate = maybe(Milliseconds(number()))
      purchase.revocationReason = maybe(RevocationReason(rawValue: number()))
      purchase.isUpgraded = maybe(Bool.random(using: &random))
      purchase.offer = maybe(
        Offer(
          type: OfferType(rawValue: number()), identifier: maybe(text()),
          discountType: maybe(OfferDiscountType(rawValue: text())), period: maybe(text())))
      if case .success = check(purchase, origin) { facts += 1 }
    }
    #expect((1_000..<4_500).contains(facts))
  }

  @Test func `only characters that JSON cannot hold are escaped, at any place`() throws {
    var encoder = PurchaseEncoder(of: Self.origin())
    for length in 1...20 {
      for place in 0..<length {
        // All of ASCII, and the bytes of other characters in between.
        for scalar in (0..<0x80 as Range<UInt32>).compactMap(Unicode.Scalar.init(_:)) + ["é", "👋"] {
          var characters = [Unicode.Scalar](repeating: "x", count: length)
          characters[place] = scalar
          let text = String(String.UnicodeScalarView(characters))
          let isEscaped = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
          let payload = encoder.payload(of: Self.purchase(ProductID(text)))
          #expect(try PayloadFields(json: payload.bytes).text("productId") == text)
          let isPlain = payload.bytes.firstRange(of: Array("\"\(text)\"".utf8)) != nil
          #expect(isPlain == !isEscaped, "\(scalar.value) at \(place) of \(length)")
        }
      }
    }
  }

  @Test func `a payload that is too long is refused`() throws {
    // Each character is escaped with six.
    let product = ProductID(String(repeating: "\u{1}", count: JSONLimits.length / 6))
    guard case .failure(let error) = check(Self.purchase(product), Self.origin()) else {
      Issue.record("the payload is longer than JSON may be")
      return
    }
    #expect(error.code == .tooLarge)
    let longest = ProductID(String(repeating: "x", count: JSONLimits.length - 1_000))
    _ = try check(Self.purchase(longest), Self.origin()).get()
    let longer = ProductID(String(repeating: "x", count: JSONLimits.length))
    #expect(throws: PayloadError.self) {
      try check(Self.purchase(longer), Self.origin()).get()
    }
  }
}
