import Cryptography
import EntitlementDomain
import StoreSimulator
import Testing

@Suite("The contents of a receipt")
struct SimulatedReceiptTests {
  static let authority = SignedReceiptTests.authority

  @Test("The fields of the app are in their attributes, and absent ones are left out")
  func app() throws {
    var receipt = SimulatedReceipt(
      receiptType: "ProductionVPP", bundleID: "com.example.café", creationDate: 1_443_000_000_999)
    receipt.applicationVersion = "7.0"
    receipt.originalApplicationVersion = "4.3"
    receipt.originalPurchaseDate = 1_330_837_567_000
    receipt.expirationDate = 1_500_000_000_000
    let tree = try ReceiptTree(try Self.authority.get().sign(receipt))
    #expect(try tree.value(0) == [0x0c, 13] + Array("ProductionVPP".utf8))
    #expect(try tree.value(2) == [0x0c, 17] + Array("com.example.café".utf8))
    #expect(try tree.value(3) == [0x0c, 3] + Array("7.0".utf8))
    #expect(try tree.value(4) == receipt.opaqueValue)
    #expect(try tree.value(12) == [0x16, 20] + Array("2015-09-23T09:20:00Z".utf8))
    #expect(try tree.value(18) == [0x16, 20] + Array("2012-03-04T05:06:07Z".utf8))
    #expect(try tree.value(19) == [0x0c, 3] + Array("4.3".utf8))
    #expect(try tree.value(21) == [0x16, 20] + Array("2017-07-14T02:40:00Z".utf8))
    #expect(tree.attributes.allSatisfy { $0.version == ($0.type == 4 ? 2 : 1) })

    let bare = try ReceiptTree(
      try Self.authority.get().sign(SimulatedReceipt(creationDate: 1_443_000_000_000)))
    #expect(Set(bare.attributes.map(\.type)).isDisjoint(with: [3, 17, 18, 19, 21]))
  }

  @Test("The device hash is SHA-1 of device, opaque value and the bundle id's attribute")
  func deviceHash() throws {
    var receipt = SimulatedReceipt(bundleID: "com.example.a", creationDate: 1_443_000_000_000)
    receipt.deviceIdentifier = Array(0..<16)
    receipt.opaqueValue = [1, 2, 3]
    let tree = try ReceiptTree(try Self.authority.get().sign(receipt))
    // By `sha1sum`: 00…0f, 010203, 0c0d and the text.
    #expect(
      try tree.value(5) == [
        0x78, 0x3b, 0xd2, 0xb9, 0xde, 0xf5, 0xd2, 0x5f, 0xc5, 0xbb,
        0x55, 0xe8, 0x4f, 0xaa, 0x3b, 0x79, 0x2e, 0x63, 0x5b, 0x26,
      ])
    receipt.deviceIdentifier[0] ^= 1
    #expect(try ReceiptTree(Self.authority.get().sign(receipt)).value(5) != tree.value(5))
  }

  @Test("A purchase's fields are in their attributes; what is absent is empty, zero or left out")
  func item() throws {
    var full = SimulatedReceiptItem(
      transactionID: "2000000000000002", originalTransactionID: "2000000000000001",
      productID: "com.example.scribe.pro.monthly", purchaseDate: 1_760_000_000_000)
    full.quantity = 3
    full.originalPurchaseDate = 1_750_000_000_000
    full.expiresDate = 1_762_000_000_000
    full.webOrderLineItemID = "3000000000000002"
    full.cancellationDate = 1_761_000_000_000
    full.isTrialPeriod = true
    full.isInIntroductoryOfferPeriod = true
    var empty = full
    empty.quantity = nil
    empty.productID = nil
    empty.transactionID = nil
    empty.originalTransactionID = nil
    empty.purchaseDate = nil
    empty.originalPurchaseDate = nil
    empty.expiresDate = nil
    empty.webOrderLineItemID = nil
    empty.cancellationDate = nil
    empty.isTrialPeriod = false
    empty.isInIntroductoryOfferPeriod = false
    empty.extraAttributes = [SimulatedReceiptAttribute(type: 9_999, version: 7, value: [0xff])]
    var receipt = SimulatedReceipt(creationDate: 1_763_000_000_000)
    receipt.items = [full, empty]
    let items = try ReceiptTree(try Self.authority.get().sign(receipt)).items()
    // The short one comes first.
    try #require(items.count == 2)
    var values: [Int64: DERTree] = [:]
    for attribute in items[1] { values[attribute.type] = try DERTree(attribute.value) }
    #expect(values[1701]?.number == 3)
    #expect(values[1702]?.text == "com.example.scribe.pro.monthly" && values[1702]?.tag == 0x0c)
    #expect(values[1703]?.text == "2000000000000002" && values[1703]?.tag == 0x0c)
    #expect(values[1704]?.text == "2025-10-09T08:53:20Z" && values[1704]?.tag == 0x16)
    #expect(values[1705]?.text == "2000000000000001")
    #expect(values[1706]?.text == "2025-06-15T15:06:40Z")
    #expect(values[1708]?.text == "2025-11-01T12:26:40Z")
    #expect(values[1711]?.number == 3_000_000_000_000_002)
    #expect(values[1712]?.text == "2025-10-20T22:40:00Z")
    #expect(values[1713]?.number == 1 && values[1719]?.number == 1)

    var rest = Dictionary(uniqueKeysWithValues: items[0].map { ($0.type, $0) })
    let unknown = rest.removeValue(forKey: 9_999)
    #expect(unknown?.version == 7 && unknown?.value == [0xff])
    let emptyText: [UInt8] = [0x16, 0]
    #expect(
      rest.mapValues(\.value) == [
        1704: emptyText, 1706: emptyText, 1708: emptyText, 1712: emptyText, 1711: [2, 1, 0],
        1713: [2, 1, 0], 1719: [2, 1, 0],
      ])
  }

  static let numbers: [(Int64, [UInt8])] = [
    (0, [0]), (1, [1]), (127, [127]), (128, [0, 128]), (255, [0, 255]), (256, [1, 0]),
    (-1, [255]), (-128, [128]), (-129, [255, 127]),
    (.max, [127, 255, 255, 255, 255, 255, 255, 255]), (.min, [128, 0, 0, 0, 0, 0, 0, 0]),
  ]

  @Test("Numbers have the shortest form of DER", arguments: numbers)
  func integers(value: Int64, bytes: [UInt8]) throws {
    var receipt = SimulatedReceipt(creationDate: 1_763_000_000_000)
    var item = SimulatedReceiptItem(
      transactionID: "1", originalTransactionID: "1", productID: "a", purchaseDate: 0)
    item.quantity = value
    receipt.items = [item]
    let items = try ReceiptTree(try Self.authority.get().sign(receipt)).items()
    let quantity = items.first?.first { $0.type == 1701 }
    #expect(quantity?.value == [0x02, UInt8(bytes.count)] + bytes)
  }

  @Test("Purchases of one length keep their order")
  func order() throws {
    let receipt = SignedReceiptTests.receipt(itemCount: 50)
    let items = try ReceiptTree(try Self.authority.get().sign(receipt)).items()
    let ids = try items.map { item in
      try DERTree(item.first { $0.type == 1703 }?.value ?? []).text
    }
    #expect(ids == receipt.items.map { $0.transactionID?.rawValue ?? "" })
  }

  @Test("A long history is one chain without gaps, whose last period is in force")
  func longHistory() {
    let receipt = SignedReceiptTests.receipt(itemCount: 187)
    #expect(receipt.items.count == 187)
    #expect(Set(receipt.items.map(\.transactionID)).count == 187)
    #expect(Set(receipt.items.map(\.originalTransactionID)).count == 1)
    for (item, next) in zip(receipt.items, receipt.items.dropFirst()) {
      #expect(item.expiresDate == next.purchaseDate)
    }
    #expect(receipt.items.last?.purchaseDate.map { $0 <= receipt.creationDate } == true)
    #expect(receipt.items.last?.expiresDate.map { $0 > receipt.creationDate } == true)
    #expect(SignedReceiptTests.receipt(itemCount: 0).items.isEmpty)
  }
}
