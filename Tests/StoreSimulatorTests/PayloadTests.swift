import AppStorePayloads
import Cryptography
import EntitlementDomain
import StoreSimulator
import Testing

/// The names of the fields are Apple's: what is written here is what the service's decoder reads.
@Suite("Payloads")
struct PayloadTests {
  private static let offer = Offer(
    type: .winBack, identifier: "come-back", discountType: .payUpFront, period: "P3M")
  private static let token: AppAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"

  private func fact(_ kind: FactKind, _ payload: [UInt8]) throws -> Fact {
    try PayloadDecoder.fact(
      kind: kind, payload: payload, digest: PayloadDigest(sha256: SHA256.digest(of: payload).words),
      bundleID: "com.example.other")
  }

  @Test("A transaction with every field comes back with every field")
  func transaction() throws {
    var payload = TransactionPayload(
      transactionID: "2000000000000001", originalTransactionID: "2000000000000000",
      bundleID: "com.example.scribe", productID: "com.example.scribe.pro.monthly",
      type: .autoRenewable, purchaseDate: 1, signedDate: 2, environment: .sandbox)
    payload.webOrderLineItemID = "3000000000000001"
    payload.subscriptionGroupID = "21000001"
    payload.originalPurchaseDate = 3
    payload.expiresDate = 4
    payload.quantity = 5
    payload.appAccountToken = Self.token
    payload.ownership = .assigned
    payload.revocationDate = 6
    payload.revocationReason = .appIssue
    payload.revocationType = .refundProrated
    payload.isUpgraded = true
    payload.offer = Self.offer
    payload.transactionReason = "RENEWAL"
    payload.storefront = "USA"
    payload.appTransactionID = "704000000000000001"
    payload.previousOriginalTransactionID = "1000000000000000"
    payload.commitment = Commitment(
      billingPeriodNumber: 7, totalBillingPeriods: 12, expiresDate: 8)
    guard case .transaction(let fact) = try fact(.transaction, payload.json) else {
      Issue.record("not a transaction")
      return
    }
    #expect(fact.transactionID == payload.transactionID)
    #expect(fact.originalTransactionID == payload.originalTransactionID)
    #expect(fact.webOrderLineItemID == payload.webOrderLineItemID)
    #expect(fact.bundleID == payload.bundleID && fact.environment == .sandbox)
    #expect(fact.productID == payload.productID && fact.type == .autoRenewable)
    #expect(fact.subscriptionGroupID == payload.subscriptionGroupID)
    #expect(fact.purchaseDate == 1 && fact.signedDate == 2)
    #expect(fact.originalPurchaseDate == 3 && fact.expiresDate == 4 && fact.quantity == 5)
    #expect(fact.appAccountToken == Self.token && fact.ownership == .assigned)
    #expect(fact.revocationDate == 6 && fact.revocationReason == .appIssue)
    #expect(fact.revocationType == .refundProrated && fact.isUpgraded)
    #expect(fact.offer == Self.offer && fact.transactionReason == "RENEWAL")
    #expect(fact.storefront == "USA" && fact.appTransactionID == payload.appTransactionID)
    #expect(fact.previousOriginalTransactionID == payload.previousOriginalTransactionID)
    #expect(fact.commitment == payload.commitment)
  }

  @Test("A renewal info with every field comes back with every field")
  func renewalInfo() throws {
    var payload = RenewalInfoPayload(
      originalTransactionID: "2000000000000000", signedDate: 1, environment: .production)
    payload.productID = "com.example.scribe.pro.monthly"
    payload.autoRenewProductID = "com.example.scribe.basic.monthly"
    payload.autoRenews = true
    payload.expirationIntent = .productUnavailable
    payload.gracePeriodExpiresDate = 2
    payload.isInBillingRetryPeriod = true
    payload.priceIncreaseStatus = .accepted
    payload.renewalOffer = Self.offer
    payload.recentSubscriptionStartDate = 3
    payload.renewalDate = 4
    payload.eligibleWinBackOfferIDs = ["a", "b"]
    payload.appAccountToken = Self.token
    payload.appTransactionID = "704000000000000001"
    guard case .renewalInfo(let fact) = try fact(.renewalInfo, payload.json) else {
      Issue.record("not a renewal info")
      return
    }
    #expect(fact.originalTransactionID == payload.originalTransactionID)
    #expect(fact.bundleID == "com.example.other" && fact.environment == .production)
    #expect(fact.productID == payload.productID)
    #expect(fact.autoRenewProductID == payload.autoRenewProductID && fact.autoRenews == true)
    #expect(fact.expirationIntent == .productUnavailable && fact.gracePeriodExpiresDate == 2)
    #expect(fact.isInBillingRetryPeriod == true && fact.priceIncreaseStatus == .accepted)
    #expect(fact.renewalOffer == Self.offer && fact.recentSubscriptionStartDate == 3)
    #expect(fact.renewalDate == 4 && fact.eligibleWinBackOfferIDs == ["a", "b"])
    #expect(fact.appAccountToken == Self.token)
    #expect(fact.appTransactionID == payload.appTransactionID && fact.signedDate == 1)
  }

  @Test("An app transaction with every field comes back with every field")
  func appTransaction() throws {
    var payload = AppTransactionPayload(
      bundleID: "com.example.scribe", appAppleID: 42, signedDate: 1, environment: .production)
    payload.applicationVersion = "412"
    payload.originalApplicationVersion = "108"
    payload.originalPurchaseDate = 2
    payload.preorderDate = 3
    payload.originalPlatform = "iOS"
    payload.appTransactionID = "704000000000000001"
    guard case .appTransaction(let fact) = try fact(.appTransaction, payload.json) else {
      Issue.record("not an app transaction")
      return
    }
    #expect(fact.bundleID == payload.bundleID && fact.environment == .production)
    #expect(fact.appAppleID == 42 && fact.signedDate == 1 && fact.originalPurchaseDate == 2)
    #expect(fact.preorderDate == 3 && fact.originalPlatform == "iOS")
    #expect(fact.originalApplicationVersion == "108")
    #expect(fact.appTransactionID == payload.appTransactionID)
  }

  @Test("A notification carries only the payloads of its subject")
  func notification() throws {
    var payload = StoreNotification(
      type: "REFUND", subtype: nil, uuid: "b1f0c6d2-4a37-4e59-8c1b-6d2f9e8a7054", signedDate: 1,
      environment: .sandbox, appAppleID: 42, bundleID: "com.example.scribe", status: 2)
    payload.consumptionRequestReason = "OTHER"
    let summary = RenewalExtensionSummary(
      requestIdentifier: "r", productID: "p", storefrontCountryCodes: ["USA"], succeededCount: 3,
      failedCount: 4)
    let token = ExternalPurchaseToken(identifier: "e", tokenCreationDate: 5)
    let table: [(StoreNotification.Subject, NotificationSubject, String)] = [
      (.data, .data, #""status":2,"consumptionRequestReason":"OTHER"}"#),
      (
        .summary(summary), .summary,
        #""requestIdentifier":"r","productId":"p","storefrontCountryCodes":["USA"],"#
          + #""succeededCount":3,"failedCount":4}"#
      ),
      (
        .externalPurchaseToken(token), .externalPurchaseToken,
        #""externalPurchaseId":"SANDBOX_e","tokenCreationDate":5}"#
      ),
      (.appData, .appData, #""environment":"Sandbox","signedAppTransactionInfo":"a"}"#),
    ]
    for (subject, expected, fragment) in table {
      payload.subject = subject
      let json = payload.json(
        signedTransaction: "t", signedRenewalInfo: "r", signedAppTransaction: "a")
      let decoded = try PayloadDecoder.notification(try PayloadFields(json: json))
      #expect(decoded.subject == expected)
      #expect(decoded.type == "REFUND" && decoded.uuid == payload.uuid && decoded.signedDate == 1)
      #expect(decoded.bundleID == payload.bundleID && decoded.appAppleID == 42)
      #expect(decoded.environment == "Sandbox")
      #expect((decoded.status == 2) == payload.contents.contains(.transaction))
      #expect((decoded.signedTransactionInfo != nil) == payload.contents.contains(.transaction))
      #expect((decoded.signedRenewalInfo != nil) == payload.contents.contains(.renewalInfo))
      #expect(
        (decoded.signedAppTransactionInfo != nil) == payload.contents.contains(.appTransaction))
      #expect(String(decoding: json, as: UTF8.self).contains(fragment))
    }
  }
}
