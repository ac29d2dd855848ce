import EntitlementDomain
import TestSupport

@testable import Wire

extension OfferEligibilityEntry {
  static func random(using generator: inout SeededRandom) -> OfferEligibilityEntry {
    OfferEligibilityEntry(
      productID: .random(using: &generator),
      offerID: maybe(using: &generator) { .random(using: &$0) },
      kind: maybe(using: &generator) { OfferKind.allCases.randomElement(using: &$0)! },
      isEligible: .random(using: &generator),
      refusal: maybe(using: &generator) { OfferRefusal.allCases.randomElement(using: &$0)! },
      rule: randomText(using: &generator), sentence: randomText(using: &generator),
      situation: maybe(using: &generator) { OfferSituation.allCases.randomElement(using: &$0)! },
      uses: .random(in: 0...1_000, using: &generator),
      eligibleAt: maybe(using: &generator) { .random(using: &$0) })
  }
}

extension SignPromotionalOfferRequest {
  static func random(using generator: inout SeededRandom) -> SignPromotionalOfferRequest {
    SignPromotionalOfferRequest(
      customer: .account(.random(using: &generator)), scope: .random(using: &generator),
      productID: .random(using: &generator), offerID: .random(using: &generator),
      format: OfferSignatureFormat.allCases.randomElement(using: &generator)!,
      transactionID: maybe(using: &generator) { .random(using: &$0) },
      onBehalfOf: maybe(using: &generator, randomText),
      reason: maybe(using: &generator, randomText))
  }
}
