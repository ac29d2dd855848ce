import EntitlementDomain
import StoreSimulator
import Testing

@testable import Verification

@Suite("What a receipt says")
struct ReceiptContentTests {
  private let workshop = ReceiptWorkshop.content

  private func receipt(_ content: ReceiptContent) throws -> Receipt {
    try ReceiptWorkshop.verifier.verify(
      try ReceiptWorkshop.sign(content), policy: .scribe
    ).receipt
  }

  /// As signed content, which is authentic, and as it is.
  private func expectMalformed(_ content: [UInt8], _ name: String) throws {
    #expect(throws: Refusal.self, "\(name)") { try Receipt(content: content) }
    let signed = try ReceiptWorkshop.authority.sign(content: content)
    #expect(verdict(ReceiptWorkshop.verifier, signed) == .malformed, "\(name)")
  }

  @Test func `every attribute that is known is read`() throws {
    let receipt = try receipt(
      workshop.adding(
        .init(type: 4, value: [1, 2, 3]), .init(type: 5, value: [4, 5]),
        .date(18, "2014-07-01T09:00:00Z"), .date(21, "2030-01-01T00:00:00Z")))
    #expect(receipt.receiptType == "ProductionSandbox")
    #expect(receipt.bundleID == "com.example.scribe")
    #expect(receipt.bundleIDBytes == DERNode.utf8("com.example.scribe").encoded)
    #expect(receipt.applicationVersion == "42")
    #expect(receipt.originalApplicationVersion == "1.0")
    #expect(receipt.creationDate == ReceiptWorkshop.creationDate)
    #expect(receipt.originalPurchaseDate == Milliseconds(rfc3339: "2014-07-01T09:00:00Z"))
    #expect(receipt.expirationDate == Milliseconds(rfc3339: "2030-01-01T00:00:00Z"))
    #expect(receipt.opaqueValue == [1, 2, 3])
    #expect(receipt.deviceHash == [4, 5])
    #expect(receipt.unknownAttributes.isEmpty)
    let item = try #require(receipt.items.first)
    #expect(item.quantity == 1)
    #expect(item.productID == "com.example.scribe.pro.monthly")
    #expect(item.transactionID == "2000000123456790")
    #expect(item.originalTransactionID == "2000000123456789")
    #expect(item.purchaseDate == Milliseconds(rfc3339: "2023-12-31T05:20:00Z"))
    #expect(item.expiresDate == Milliseconds(rfc3339: "2024-01-31T05:20:00Z"))
  }

  @Test func `a receipt without purchases is one`() throws {
    let verified = try ReceiptWorkshop.verifier.verify(
      try ReceiptWorkshop.sign(workshop.without(17)), policy: .scribe)
    #expect(verified.receipt.items.isEmpty)
    #expect(verified.facts.count == 1)
  }

  @Test func `a receipt of before 2013-06-20 has no original version`() throws {
    let receipt = try receipt(
      workshop.without(19).with(.date(18, "2012-03-04T05:06:07Z")))
    #expect(receipt.originalApplicationVersion == nil)
    #expect(receipt.originalPurchaseDate == Milliseconds(rfc3339: "2012-03-04T05:06:07Z"))
  }

  @Test func `empty text, empty dates and empty values are absent`() throws {
    let purchase = ReceiptWorkshop.purchase.with(.date(1_708, "")).with(.text(1_705, ""))
      .with(.init(type: 1_712, value: [])).with(.integer(1_711, 0))
    let receipt = try receipt(
      workshop.with(.text(3, "")).with(.init(type: 19, value: [])).with(.date(18, ""))
        .with(.purchase(purchase)))
    #expect(receipt.applicationVersion == nil)
    #expect(receipt.originalApplicationVersion == nil)
    #expect(receipt.originalPurchaseDate == nil)
    let item = try #require(receipt.items.first)
    #expect(item.expiresDate == nil)
    #expect(item.originalTransactionID == nil)
    #expect(item.cancellationDate == nil)
    #expect(item.webOrderLineItemID == nil)
  }

  @Test(
    arguments: [
      ("2024-01-01T01:00:00+01:00", 1_704_067_200_000),
      ("2023-12-31T16:00:00-08:00", 1_704_067_200_000),
      ("2024-01-01T00:00:00.250Z", 1_704_067_200_250),
      ("2024-01-01t00:00:00z", 1_704_067_200_000),
    ] as [(String, Int64)])
  func `dates may carry an offset and a fraction`(text: String, expected: Int64) throws {
    #expect(try receipt(workshop.with(.date(12, text))).creationDate.rawValue == expected)
    // Text of the other kind is a date as well.
    #expect(try receipt(workshop.with(.text(12, text))).creationDate.rawValue == expected)
  }

  @Test func `attributes that are not known are kept as they came, even twice`() throws {
    let receipt = try receipt(
      workshop.adding(
        .init(type: 99, value: [1]), .init(type: 99, value: []),
        .init(type: 4_000_000, value: [0x80])
      )
      .with(.purchase(ReceiptWorkshop.purchase.adding(.init(type: 1_722, value: [7])))))
    #expect(
      receipt.unknownAttributes == [
        ReceiptAttribute(type: 99, version: 1, value: [1]),
        ReceiptAttribute(type: 99, version: 1, value: []),
        ReceiptAttribute(type: 4_000_000, version: 1, value: [0x80]),
      ])
    #expect(
      receipt.items.first?.unknownAttributes
        == [ReceiptAttribute(type: 1_722, version: 1, value: [7])])
  }

  @Test func `types beside those that are known are not known`() throws {
    // The numbers before the first and after the last, and far away from them.
    let types = [-1, -1_702, 64, 1_700, 1_701, 1_765, .min, .min + 1_701, .max, 1 << 32]
    let receipt = try receipt(
      types.reduce(workshop) { $0.adding(.init(type: $1, value: [1])) })
    #expect(receipt.unknownAttributes.map(\.type) == types.map { Int64($0) })
    let others = [-1, 0, 17, 1_637, 1_700, 1_707, 1_765, .min, .min + 1_701, .max]
    let item = try self.receipt(
      workshop.with(
        .purchase(
          others.reduce(ReceiptWorkshop.purchase) { $0.adding(.init(type: $1, value: [1])) }))
    ).items.first
    #expect(item?.unknownAttributes.map(\.type) == others.map { Int64($0) })
  }

  @Test func `what a receipt cannot be without`() throws {
    for type in [0, 2, 12] {
      try expectMalformed(workshop.without(type).encoded, "without \(type)")
      try expectMalformed(workshop.with(.text(type, "")).encoded, "empty \(type)")
      try expectMalformed(
        workshop.with(.init(type: type, value: [])).encoded, "without a value \(type)")
    }
  }

  @Test func `of two values of one attribute none counts`() throws {
    for attribute in workshop.attributes where attribute.type != 17 {
      try expectMalformed(workshop.adding(attribute).encoded, "\(attribute.type)")
    }
    let purchase = ReceiptWorkshop.purchase.adding(.text(1_703, "1"))
    try expectMalformed(workshop.with(.purchase(purchase)).encoded, "1703")
  }

  @Test(
    arguments: [
      ("nothing", []), ("a sequence", DERNode.empty(0x30).encoded),
      (
        "an attribute without a set",
        DERNode(0x30, [.integer(0), .integer(1), .octets([])]).encoded
      ),
      ("an attribute that is a set", DERNode(0x31, [DERNode.empty(0x31)]).encoded),
      (
        "an attribute without a value",
        DERNode(0x31, [DERNode(0x30, [.integer(0), .integer(1)])]).encoded
      ),
      (
        "an attribute with more than a value",
        DERNode(0x31, [DERNode(0x30, [.integer(99), .integer(1), .octets([]), .integer(1)])])
          .encoded
      ),
      (
        "a type that is text",
        DERNode(0x31, [DERNode(0x30, [.utf8("0"), .integer(1), .octets([])])]).encoded
      ),
      (
        "a type of a thousand digits",
        DERNode(
          0x31,
          [DERNode(0x30, [DERNode(0x02, [3] + Array(repeating: 9, count: 415)), .integer(1)])]
        ).encoded
      ),
      ("a set that is too long", [0x31, 0x05, 0x30, 0x00]),
      ("a set of indefinite length", [0x31, 0x80, 0x00, 0x00]),
    ] as [(String, [UInt8])])
  func `invalid sets of attributes`(name: String, content: [UInt8]) throws {
    try expectMalformed(content, name)
  }

  @Test func `something after the set`() throws {
    try expectMalformed(workshop.encoded + [0x05, 0x00], "after the set")
  }

  @Test(
    arguments: [
      ("a number as bundle id", .init(type: 2, value: DERNode.integer(7).encoded)),
      ("text that is not UTF-8", .init(type: 2, value: [0x0C, 0x02, 0xC3, 0x28])),
      ("text that is longer than its value", .init(type: 2, value: [0x0C, 0x05, 0x61])),
      ("text with something after it", .init(type: 2, value: [0x0C, 0x01, 0x61, 0x00])),
      ("text with a NUL", .text(2, "com.example.scribe\u{0}.evil")),
      ("a date without a time", .date(12, "2024-01-01")),
      ("a date without an offset", .date(12, "2024-01-01T00:00:00")),
      ("a day that does not exist", .date(12, "2024-02-30T00:00:00Z")),
      ("a number as date", .integer(12, 1_704_067_200)),
      ("an original purchase date that is none", .date(18, "never")),
      ("a purchase that is a sequence", .init(type: 17, value: DERNode.empty(0x30).encoded)),
      ("a purchase without a value", .init(type: 17, value: [])),
      (
        "a purchase with something after it",
        .init(type: 17, value: DERNode.empty(0x31).encoded + [0x05, 0x00])
      ),
      (
        "a quantity that is text",
        .purchase(ReceiptWorkshop.purchase.with(.text(1_701, "1")))
      ),
      (
        "a quantity of a thousand digits",
        .purchase(
          ReceiptWorkshop.purchase.with(
            .init(
              type: 1_701, value: DERNode(0x02, [3] + Array(repeating: 9, count: 415)).encoded)))
      ),
      (
        "a purchase date that is none",
        .purchase(ReceiptWorkshop.purchase.with(.date(1_704, "yesterday")))
      ),
    ] as [(String, ReceiptContent.Attribute)])
  func `a value of another form than its attribute has`(
    name: String, attribute: ReceiptContent.Attribute
  ) throws {
    try expectMalformed(workshop.with(attribute).encoded, name)
  }

  @Test func `each purchase has its own texts, also after an equal one`() throws {
    let products: [ReceiptContent.Attribute] = [
      .text(1_702, "com.example.scribe.a"), .text(1_702, "com.example.scribe.a"),
      .text(1_702, "com.example.scribe.b"), .text(1_702, ""),
      .init(type: 1_702, value: DERNode.ia5("com.example.scribe.b").encoded),
      .text(1_702, "com.example.scribe.a"),
    ]
    let content = products.reduce(workshop.without(17)) {
      $0.adding(.purchase(ReceiptWorkshop.purchase.with($1)))
    }
    #expect(
      try receipt(content).items.map { $0.productID?.rawValue.last } == [
        "a", "a", "b", nil, "b", "a",
      ])
    for invalid in [
      .text(1_702, "com.example.scribe.\u{0}"),
      .init(type: 1_702, value: DERNode.utf8("com.example.scribe.a").encoded + [0x00]),
    ] as [ReceiptContent.Attribute] {
      try expectMalformed(
        content.adding(.purchase(ReceiptWorkshop.purchase.with(invalid))).encoded, "a product id")
    }
  }

  @Test func `attributes and purchases are bounded`() throws {
    let attributes = VerificationLimits.receiptAttributes - 5
    let most =
      workshop.attributes
      + (0..<attributes).map { .init(type: 100 + $0, value: []) }
    #expect(
      try Receipt(content: ReceiptContent(most).encoded).unknownAttributes.count == attributes)
    let more = ReceiptContent(most + [.init(type: 99, value: [])])
    #expect(throws: Refusal.self) { try Receipt(content: more.encoded) }

    let items = VerificationLimits.receiptItems
    let purchase = ReceiptContent.Attribute(type: 17, value: DERNode.empty(0x31).encoded)
    let full = ReceiptContent(
      workshop.without(17).attributes + Array(repeating: purchase, count: items))
    #expect(try Receipt(content: full.encoded).items.count == items)
    #expect(throws: Refusal.self) { try Receipt(content: full.adding(purchase).encoded) }
  }
}
