import AppStorePayloads
import EntitlementDomain
import TestSupport
import Testing

@Suite("From payloads to facts")
struct PayloadDecoderTests {
  static let digest = PayloadDigest(words: (1, 2))

  private func fact(_ kind: FactKind, _ payload: Payload) throws -> Fact {
    try PayloadDecoder.fact(
      kind: kind, payload: payload.bytes, digest: Self.digest, bundleID: "com.example.bound")
  }

  private func transaction(_ payload: Payload) throws -> TransactionFact {
    guard case .transaction(let fact) = try fact(.transaction, payload) else {
      throw PayloadError(.wrongType, "not a transaction")
    }
    return fact
  }

  @Test func `a transaction's fields are read under Apple's names`() throws {
    let payload = Payload(members: [
      "bundleId": #""com.example.scribe""#, "environment": #""Production""#,
      "originalTransactionId": #""1""#, "transactionId": #""2""#, "productId": #""p""#,
      "type": #""Auto-Renewable Subscription""#, "purchaseDate": "10", "signedDate": "20",
      "originalPurchaseDate": "5", "expiresDate": "30", "webOrderLineItemId": #""w""#,
      "subscriptionGroupIdentifier": #""g""#, "quantity": "1",
      "appAccountToken": #""3B9D5F10-7C2E-4D84-B6A1-0E5F7A9C3D8F""#,
      "appTransactionId": #""a""#, "previousOriginalTransactionId": #""0""#,
      "inAppOwnershipType": #""FAMILY_SHARED""#, "revocationDate": "25", "revocationReason": "1",
      "revocationType": #""REFUND_PRORATED""#, "isUpgraded": "true", "offerType": "2",
      "offerIdentifier": #""o""#, "offerDiscountType": #""FREE_TRIAL""#, "offerPeriod": #""P1W""#,
      "storefront": #""USA""#, "transactionReason": #""RENEWAL""#, "price": "4990.5",
      "commitmentInfo":
        #"{"billingPeriodNumber":3,"totalBillingPeriods":12,"commitmentExpiresDate":99}"#,
    ])
    var expected = TransactionFact(
      bundleID: "com.example.scribe", environment: .production, originalTransactionID: "1",
      transactionID: "2", productID: "p", type: .autoRenewable, purchaseDate: 10, signedDate: 20,
      digest: Self.digest)
    expected.originalPurchaseDate = 5
    expected.expiresDate = 30
    expected.webOrderLineItemID = "w"
    expected.subscriptionGroupID = "g"
    expected.quantity = 1
    expected.appAccountToken = "3b9d5f10-7c2e-4d84-b6a1-0e5f7a9c3d8f"
    expected.appTransactionID = "a"
    expected.previousOriginalTransactionID = "0"
    expected.ownership = .familyShared
    expected.revocationDate = 25
    expected.revocationReason = .appIssue
    expected.revocationType = .refundProrated
    expected.isUpgraded = true
    expected.offer = Offer(
      type: .promotional, identifier: "o", discountType: .freeTrial, period: "P1W")
    expected.storefront = "USA"
    expected.transactionReason = "RENEWAL"
    expected.commitment = Commitment(
      billingPeriodNumber: 3, totalBillingPeriods: 12, expiresDate: 99)
    #expect(try fact(.transaction, payload) == .transaction(expected))
  }

  @Test func `a renewal info's fields are read under Apple's names`() throws {
    let payload = Payload(members: [
      "environment": #""Sandbox""#, "originalTransactionId": #""1""#, "signedDate": "20",
      "productId": #""p""#, "autoRenewProductId": #""q""#, "autoRenewStatus": "0",
      "expirationIntent": "2", "gracePeriodExpiresDate": "40", "isInBillingRetryPeriod": "true",
      "priceIncreaseStatus": "1", "offerType": "4", "offerIdentifier": #""w""#,
      "renewalDate": "50", "recentSubscriptionStartDate": "5",
      "eligibleWinBackOfferIds": #"["x","y"]"#, "appTransactionId": #""a""#,
      "appAccountToken": #""3b9d5f10-7c2e-4d84-b6a1-0e5f7a9c3d8f""#,
    ])
    var expected = RenewalInfoFact(
      bundleID: "com.example.bound", environment: .sandbox, originalTransactionID: "1",
      signedDate: 20, digest: Self.digest)
    expected.productID = "p"
    expected.autoRenewProductID = "q"
    expected.autoRenews = false
    expected.expirationIntent = .billingError
    expected.gracePeriodExpiresDate = 40
    expected.isInBillingRetryPeriod = true
    expected.priceIncreaseStatus = .accepted
    expected.renewalOffer = Offer(type: .winBack, identifier: "w")
    expected.renewalDate = 50
    expected.recentSubscriptionStartDate = 5
    expected.eligibleWinBackOfferIDs = ["x", "y"]
    expected.appTransactionID = "a"
    expected.appAccountToken = "3b9d5f10-7c2e-4d84-b6a1-0e5f7a9c3d8f"
    #expect(try fact(.renewalInfo, payload) == .renewalInfo(expected))
  }

  @Test func `an app transaction's fields are read under Apple's names`() throws {
    let payload = Payload(members: [
      "receiptType": #""Production""#, "bundleId": #""com.example.scribe""#, "appAppleId": "7",
      "receiptCreationDate": "20", "originalPurchaseDate": "5", "preorderDate": "4",
      "originalApplicationVersion": #""108""#, "originalPlatform": #""macOS""#,
      "appTransactionId": #""a""#,
    ])
    var expected = AppTransactionFact(
      bundleID: "com.example.scribe", environment: .production, signedDate: 20,
      digest: Self.digest)
    expected.appAppleID = 7
    expected.appTransactionID = "a"
    expected.originalPurchaseDate = 5
    expected.originalApplicationVersion = "108"
    expected.originalPlatform = "macOS"
    expected.preorderDate = 4
    #expect(try fact(.appTransaction, payload) == .appTransaction(expected))
  }

  @Test(arguments: [
    #""3b9d5f10-7c2e-4d84-b6a1-0e5f7a9c3d8""#, #""3b9d5f107c2e4d84b6a10e5f7a9c3d8f""#,
    #""3b9d5f10-7c2e-4d84-b6a1-0e5f7a9c3d8g""#, #""3b9d5f10-7c2e-4d84-b6a1_0e5f7a9c3d8f""#,
    #""""#, #""customer-42""#, "null",
    #""-07262da-1ac8-4e0a-a399-0e5f7a9c3d8f""#, #""00000000-0000-0000-0000-000000000000""#,
  ])
  func `R43: a token that is no UUID counts as absent, as does that of zeros`(token: String) throws
  {
    #expect(
      try transaction(Payload.transaction().with("appAccountToken", token)).appAccountToken == nil)
  }

  @Test func `R10: unknown enumerated values are kept and unknown fields are ignored`() throws {
    let payload = Payload.transaction().with("type", #""Season Pass""#)
      .with("inAppOwnershipType", #""LENT""#).with("offerType", "77")
      .with("revocationReason", "9").with("newField", #"{"deep":[1.5,{"x":null}]}"#)
      .with("advancedCommerceInfo", "{}")
    let fact = try transaction(payload)
    #expect(fact.type.rawValue == "Season Pass")
    #expect(fact.ownership?.rawValue == "LENT")
    #expect(fact.offer?.type.rawValue == 77)
    #expect(fact.revocationReason?.rawValue == 9)
    let renewal = Payload.renewalInfo().with("autoRenewStatus", "2")
    guard case .renewalInfo(let info) = try self.fact(.renewalInfo, renewal) else { return }
    #expect(info.autoRenews == nil)
  }

  @Test func `empty ids count as absent`() throws {
    let payload = Payload.transaction().with("webOrderLineItemId", #""""#)
      .with("appTransactionId", #""""#).with("subscriptionGroupIdentifier", #""""#)
      .with("previousOriginalTransactionId", #""""#)
    let fact = try transaction(payload)
    #expect(fact.webOrderLineItemID == nil)
    #expect(fact.appTransactionID == nil)
    #expect(fact.subscriptionGroupID == nil)
    #expect(fact.previousOriginalTransactionID == nil)
  }

  @Test(
    arguments: [
      ("transactionId", nil, .missingField), ("transactionId", #""""#, .missingField),
      ("transactionId", "1", .wrongType), ("transactionId", #""1\u0000""#, .invalidText),
      ("purchaseDate", nil, .missingField), ("purchaseDate", "1.5", .notAnInteger),
      ("signedDate", nil, .missingField), ("expiresDate", "1e400", .notAnInteger),
      ("expiresDate", #""2024""#, .wrongType), ("isUpgraded", "1", .wrongType),
      ("environment", nil, .environmentAbsent), ("environment", #""""#, .environmentAbsent),
      ("environment", #""Moon""#, .environmentUnknown), ("quantity", "1.5", .notAnInteger),
      ("commitmentInfo", "[]", .wrongType), ("bundleId", nil, .missingField),
    ] as [(String, String?, PayloadError.Code)])
  func `missing fields and fields of another type have different errors`(
    field: String, json: String?, expected: PayloadError.Code
  ) throws {
    let payload = Payload.transaction().with(field, json)
    let error = #expect(throws: PayloadError.self) { try fact(.transaction, payload) }
    #expect(error?.code == expected)
  }
}
