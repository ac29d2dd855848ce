import ArgumentParser
import EntitlementDomain
import Testing
import Wire

@testable import OperatorCommands

@Suite("The commands of offers")
struct OfferCommandTests {
  private static let product: ProductID = "com.example.scribe.pro.monthly"

  private static let refused = OfferEligibilityEntry(
    productID: product, offerID: "come-back", kind: .promotional, refusal: .lapsedTooRecently,
    rule: "R82", sentence: "the subscription ended too recently for this offer",
    situation: .lapsed, uses: 1, eligibleAt: 1_767_323_045_000)

  private static let introductory = OfferEligibilityEntry(
    productID: product, kind: .introductory, isEligible: true, rule: "R84",
    sentence: "the customer may have the offer", situation: .new, uses: 0)

  @Test func `a table has a line for each offer, with the rule that decided`() {
    let newer = OfferEligibilityEntry(
      productID: "p", offerID: "o\u{1b}", rule: "R84", sentence: "s", uses: 0)
    #expect(
      OfferTable.text(of: [Self.introductory, Self.refused, newer]) == """
        PRODUCT                         OFFER      KIND          ELIGIBLE  SITUATION  USES  ELIGIBLE AT           WHY
        com.example.scribe.pro.monthly  -          INTRODUCTORY  yes       NEW        0     -                     R84
        com.example.scribe.pro.monthly  come-back  PROMOTIONAL   no        LAPSED     1     2026-01-02 03:04:05Z  R82 LAPSED_TOO_RECENTLY: the subscription ended too recently for this offer
        p                               o\\u{1b}    -             no        -          0     -                     R84
        """)
  }

  @Test func `a signature has a line for each value that the app needs`() {
    var given = Self.refused
    given.isEligible = true
    given.refusal = nil
    #expect(
      OfferTable.details(
        of: SignOfferResponse(
          signature: "MEUCIQ==", keyID: "ABC123DEFG", nonce: "3f1c8a52-9f0e-4b7d-8a67-5d2e6c90b1f4",
          timestamp: 1_767_323_045_000, expiresAt: 1_767_409_445_000, verdict: given)) == """
          product         com.example.scribe.pro.monthly
          offer           come-back
          why             R82
          key             ABC123DEFG
          nonce           3f1c8a52-9f0e-4b7d-8a67-5d2e6c90b1f4
          timestamp       1767323045000
          valid until     2026-01-03 03:04:05Z
          signature       MEUCIQ==
          """)
    #expect(
      OfferTable.details(
        of: SignOfferResponse(
          signature: "a.b.c", keyID: "K", nonce: "n", timestamp: 1_767_323_045_000,
          allowsIntroductoryOffer: true, verdict: Self.introductory)) == """
          product         com.example.scribe.pro.monthly
          offer           INTRODUCTORY
          allowed         yes
          why             R84
          key             K
          nonce           n
          timestamp       1767323045000
          signature       a.b.c
          """)
  }

  @Test(
    "Arguments that cannot be meant are refused",
    arguments: [
      ["list"], ["list", "a", "--product", ""], ["sign", "a"], ["sign", "a", "p"],
      ["sign", "a", "p", "o", "--format", "v3"],
      ["sign", "a", "p", "o", "--app-account-token", "3f1c8a52-9f0e-4b7d-8a67-5d2e6c90b1f4"],
      ["sign", "a", "p", "o", "--format", "v1", "--app-account-token", "x"],
      ["sign", "a", "p", "o", "--transaction", ""], ["sign", "a", "p", "o", "--reason", ""],
      ["introductory", "a"], ["introductory", "a", "p", "--allow", "--deny"],
      ["introductory", "a", "p", "--transaction", ""],
      ["introductory", "a", "p", "--on-behalf-of", ""],
    ])
  func refused(arguments: [String]) {
    #expect(throws: (any Error).self) { try OfferCommand.parseAsRoot(arguments) }
  }

  @Test(
    "What can be meant is accepted",
    arguments: [
      ["list", "a", "--by", "transaction", "--product", "p"], ["sign", "a", "p", "o"],
      [
        "sign", "a", "p", "o", "--format", "v1", "--app-account-token",
        "3F1C8A52-9F0E-4B7D-8A67-5D2E6C90B1F4", "--reason", "r", "--on-behalf-of", "ada",
      ],
      ["introductory", "a", "p", "--by", "app-transaction", "--deny"],
    ])
  func accepted(arguments: [String]) throws {
    _ = try OfferCommand.parseAsRoot(arguments)
  }
}
