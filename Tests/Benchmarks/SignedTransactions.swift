import EntitlementDomain
import StoreSimulator
import Verification

/// Distinct transactions as the App Store signs them, all by one signer.
struct SignedTransactions {
  static let signedDate: Milliseconds = 1_704_067_200_000
  static let policy = VerificationPolicy(apps: [
    .init(bundleID: "com.example.scribe", appAppleID: 1_234_567_890, environments: [.production])
  ])

  let items: [VerificationPool.Item]
  let anchors: TrustAnchors

  init(count: Int) throws {
    let authority = try SigningAuthority.generate()
    var anchors = TrustAnchors.apple
    anchors.trust(authority.rootFingerprint, for: TrustAnchor.allEnvironments)
    self.anchors = anchors
    items = try (0..<count).map { index in
      let json = Array(Self.json(index).utf8)
      return VerificationPool.Item(
        jws: Array(try authority.sign(payloadJSON: json).utf8), kind: .transaction)
    }
  }

  /// The length of one JWS in bytes.
  var length: Int { items[0].jws.count }

  /// With the fields of a renewed subscription, in the order in which Apple writes them.
  private static func json(_ index: Int) -> String {
    let purchased = signedDate.rawValue - 60_000
    return """
      {"transactionId":"\(2_000_000_500_000_000 + index)",\
      "originalTransactionId":"\(2_000_000_100_000_000 + index)",\
      "webOrderLineItemId":"\(2_000_000_030_000_000 + index)",\
      "bundleId":"com.example.scribe","productId":"com.example.scribe.pro.monthly",\
      "subscriptionGroupIdentifier":"21000001","purchaseDate":\(purchased),\
      "originalPurchaseDate":\(purchased - 2_592_000_000),"expiresDate":\(purchased + 2_678_400_000),\
      "quantity":1,"type":"Auto-Renewable Subscription",\
      "appAccountToken":"6f1c2c2e-9f6b-4b8e-8a44-2f6f9d1d7c11",\
      "deviceVerification":"P3nKLdJmQ8z4b0VQH4cJ9XkqUJ0xD4mPZb1n0mVb0Q5M5j3z8Rr5o4lUO7vYw1aK",\
      "deviceVerificationNonce":"48c8b92d-ce0d-4229-bedf-e61b4f9cfc92",\
      "inAppOwnershipType":"PURCHASED","signedDate":\(signedDate.rawValue),\
      "environment":"Production","transactionReason":"RENEWAL","storefront":"USA",\
      "storefrontId":"143441","price":4990,"currency":"USD",\
      "appTransactionId":"704346128300986174"}
      """
  }
}
