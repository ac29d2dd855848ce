import EntitlementDomain
import NIOCore
import Testing

@testable import Framing
@testable import Wire

extension MessageLimitTests {
  @Test("Ids of offers have limits, and a form or decision that is not known is not the usual one")
  func offerRequests() {
    let app = MessageBytes().field(1, message: MessageBytes().field(1, text: "a"))
      .field(2, text: "com.example.scribe")
    func long(_ letter: Character) -> String { String(repeating: letter, count: 257) }
    let promotional = app.field(4, text: "p").field(5, text: "o")
    let cases: [(MessageBytes, MessageFault)] = [
      (app.field(5, text: "o"), .missing(field: "product_id")),
      (app.field(4, text: "p"), .missing(field: "offer_id")),
      (
        app.field(4, text: long("p")).field(5, text: "o"), .tooLong(field: "product_id", limit: 256)
      ),
      (app.field(4, text: "p").field(5, text: long("o")), .tooLong(field: "offer_id", limit: 256)),
      (promotional.field(3, number: 77), .unknownValue(field: "environment")),
      (promotional.field(6, number: 3), .unknownValue(field: "format")),
      (promotional.field(8, text: long("t")), .tooLong(field: "transaction_id", limit: 256)),
      (promotional.field(9, text: long("b")), .tooLong(field: "on_behalf_of", limit: 256)),
      (
        promotional.field(10, text: String(repeating: "r", count: 1_025)),
        .tooLong(field: "reason", limit: 1_024)
      ),
    ]
    for (bytes, fault) in cases {
      #expect(throws: MessageError(fault, in: "entitle.v1.SignPromotionalOfferRequest")) {
        try SignPromotionalOfferRequest.decode(from: bytes.buffer)
      }
    }
    #expect(
      throws: MessageError(
        .unknownValue(field: "decision"), in: "entitle.v1.SignIntroductoryOfferEligibilityRequest")
    ) {
      try SignIntroductoryOfferEligibilityRequest.decode(
        from: app.field(4, text: "p").field(5, number: 4).buffer)
    }
    for token in ["3f1c8a52", "3f1c8a529f0e4b7d8a675d2e6c90b1f4", "no uuid"] {
      #expect(throws: MessageError.self) {
        try SignPromotionalOfferRequest.decode(from: promotional.field(7, text: token).buffer)
      }
    }
  }

  @Test("A token of an offer is converted to lower case, as the text of V1 demands")
  func offerToken() throws {
    let request = MessageBytes().field(1, message: MessageBytes().field(1, text: "a"))
      .field(2, text: "com.example.scribe").field(4, text: "p").field(5, text: "o")
      .field(6, number: 1).field(7, text: "3F1C8A52-9F0E-4B7D-8A67-5D2E6C90B1F4")
    let read = try SignPromotionalOfferRequest.decode(from: request.buffer)
    #expect(read.appAccountToken == "3f1c8a52-9f0e-4b7d-8a67-5d2e6c90b1f4")
    #expect(read.format == .v1)
  }

  @Test("The verdicts on all offers of the largest catalog fit a frame")
  func offerList() throws {
    var offer = OfferEligibilityEntry.refused
    offer.productID = ProductID(String(repeating: "p", count: 255))
    offer.offerID = OfferID(String(repeating: "o", count: 255))
    offer.sentence = String(repeating: "s", count: 256)
    let list = GetOfferEligibilityResponse(
      offers: [OfferEligibilityEntry](repeating: offer, count: CatalogOffer.maximumCount),
      revision: 1, evaluatedAt: 1)
    let encoded = try list.encoded()
    #expect(encoded.readableBytes < RPCLimits.maximumFrameData)
    #expect(try GetOfferEligibilityResponse.decode(from: encoded) == list)
  }
}
