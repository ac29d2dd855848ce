import EntitlementDomain

@testable import Wire

extension MessageSample {
  static let offers: [MessageSample] = [
    MessageSample("full", GetOfferEligibilityRequest.full),
    MessageSample(
      "bare", GetOfferEligibilityRequest(customer: .account("a"), scope: MessageSample.barest)),
    MessageSample("full", GetOfferEligibilityResponse.full),
    MessageSample("bare", GetOfferEligibilityResponse(offers: [], revision: 0, evaluatedAt: 0)),
    MessageSample("full", SignPromotionalOfferRequest.full),
    MessageSample(
      "bare",
      SignPromotionalOfferRequest(
        customer: .account("a"), scope: MessageSample.barest, productID: "p", offerID: "o")),
    MessageSample("full", SignIntroductoryOfferEligibilityRequest.full),
    MessageSample(
      "bare",
      SignIntroductoryOfferEligibilityRequest(
        customer: .account("a"), scope: MessageSample.barest, productID: "p")),
    MessageSample("full", SignOfferResponse.full),
    MessageSample(
      "bare",
      SignOfferResponse(signature: "", keyID: "", nonce: "", timestamp: 0, verdict: .bare)),
  ]
}

extension GetOfferEligibilityRequest {
  static let full = GetOfferEligibilityRequest(
    customer: .account("émile"), scope: MessageSample.scope,
    productID: "com.example.scribe.pro.monthly")
}

extension GetOfferEligibilityResponse {
  static let full = GetOfferEligibilityResponse(
    offers: [.introductory, .refused, .bare], revision: 42, evaluatedAt: 1_700_000_000_123)
}

extension SignPromotionalOfferRequest {
  static let full = SignPromotionalOfferRequest(
    customer: .originalTransaction("2000000000000001"), scope: MessageSample.scope,
    productID: "com.example.scribe.pro.monthly", offerID: "half-price", format: .v1,
    appAccountToken: "3f1c8a52-9f0e-4b7d-8a67-5d2e6c90b1f4", transactionID: "2000000000000007",
    onBehalfOf: "ada", reason: "émis")
}

extension SignIntroductoryOfferEligibilityRequest {
  static let full = SignIntroductoryOfferEligibilityRequest(
    customer: .appTransaction("704000000000000001"), scope: MessageSample.scope,
    productID: "com.example.scribe.pro.monthly", decision: .deny,
    transactionID: "704000000000000001", onBehalfOf: "ada", reason: "émis")
}

extension SignOfferResponse {
  static let full = SignOfferResponse(
    signature: "MEUCIQ==", keyID: "ABC123DEFG", nonce: "3f1c8a52-9f0e-4b7d-8a67-5d2e6c90b1f4",
    timestamp: 1_700_000_000_123, expiresAt: 1_700_086_400_123, allowsIntroductoryOffer: true,
    verdict: .refused)
}

extension OfferEligibilityEntry {
  static let introductory = OfferEligibilityEntry(
    productID: "com.example.scribe.pro.monthly", kind: .introductory, isEligible: true,
    rule: "R84", sentence: "the customer may have the offer", situation: .new, uses: 0)

  static let refused = OfferEligibilityEntry(
    productID: "com.example.scribe.pro.monthly", offerID: "half-price", kind: .promotional,
    refusal: .usedTooRecently, rule: "R83", sentence: "the customer had the offer too recently",
    situation: .lapsed, uses: 2, eligibleAt: 1_700_000_060_000)

  /// Of a server that knows kinds, situations and refusals that this program does not.
  static let bare = OfferEligibilityEntry(productID: "", rule: "", sentence: "", uses: 0)
}
