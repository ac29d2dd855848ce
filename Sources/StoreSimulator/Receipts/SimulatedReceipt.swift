import Cryptography
package import EntitlementDomain

/// A legacy app receipt before it is signed (Apple's "Receipt Validation Programming Guide"), with
/// the additional data of a `verifyReceipt` response.
package struct SimulatedReceipt: Hashable, Sendable {
  /// Attribute 0: `Production`, `ProductionSandbox`, `Xcode`, …
  package var receiptType: String
  /// Attribute 2.
  package var bundleID: BundleID
  /// Attribute 12.
  package var creationDate: Milliseconds
  /// Attribute 3.
  package var applicationVersion: String?
  /// Attribute 19; receipts before 2013-06-20 have none.
  package var originalApplicationVersion: String?
  /// Attribute 18.
  package var originalPurchaseDate: Milliseconds?
  /// Attribute 21, of volume purchases only.
  package var expirationDate: Milliseconds?
  /// The identifier of the device, from which attribute 5 is computed. 16 bytes on iOS, where it is
  /// the UUID for the vendor's apps; 6 bytes on a Mac.
  package var deviceIdentifier: [UInt8]
  /// Attribute 4.
  package var opaqueValue: [UInt8]
  /// Attribute 17, one for each item.
  package var items: [SimulatedReceiptItem] = []
  /// Undocumented attributes, as in real receipts.
  package var extraAttributes: [SimulatedReceiptAttribute]
  /// The latest renewal info of each chain: `pending_renewal_info` of the response.
  package var renewals: [RenewalInfoPayload] = []
  /// When `verifyReceipt` answered; nil for the creation date.
  package var requestDate: Milliseconds?
  /// Periods that are newer than the receipt. The response has them in `latest_receipt_info` only.
  package var newerItems: [SimulatedReceiptItem] = []

  /// - Parameter seed: the seed of the random values: the device, the opaque value and undocumented
  ///   attributes.
  package init(
    receiptType: String = "Production", bundleID: BundleID = SimulatedApp.bundleID,
    creationDate: Milliseconds, seed: UInt64 = 1
  ) {
    self.receiptType = receiptType
    self.bundleID = bundleID
    self.creationDate = creationDate
    var device = SeededGenerator(seed: seed, label: "device")
    deviceIdentifier = device.bytes(16)
    // The same device gets another opaque value with each receipt.
    var generator = SeededGenerator(
      seed: seed, label: "receipt", index: UInt64(bitPattern: creationDate.rawValue))
    opaqueValue = generator.bytes(16)
    extraAttributes = Self.usualExtraAttributes(
      isProduction: receiptType.isProduction, creationDate: creationDate, from: &generator)
  }

  /// Attribute 0 for an environment; nil where there are no receipts.
  package static func receiptType(for environment: StoreEnvironment) -> String? {
    switch environment {
    case .production: "Production"
    case .sandbox: "ProductionSandbox"
    case .xcode: "Xcode"
    case .localTesting: nil
    }
  }

  /// In the order of their types. Items and undocumented attributes are last.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography`` when the device could not be hashed.
  package func attributes() throws(SimulatorError) -> [SimulatedReceiptAttribute] {
    let bundle = DERWriter.utf8String(bundleID.rawValue)
    let hash = try SimulatorError.wrapping { () throws(CryptographyError) in
      try SHA1.digest(of: deviceIdentifier + opaqueValue + bundle)
    }
    var attributes: [SimulatedReceiptAttribute] = [
      .text(0, receiptType), SimulatedReceiptAttribute(type: 2, value: bundle),
    ]
    if let applicationVersion { attributes.append(.text(3, applicationVersion)) }
    attributes += [
      SimulatedReceiptAttribute(type: 4, version: 2, value: opaqueValue),
      SimulatedReceiptAttribute(type: 5, value: hash),
      .date(12, creationDate.rfc3339),
    ]
    if let originalPurchaseDate { attributes.append(.date(18, originalPurchaseDate.rfc3339)) }
    if let originalApplicationVersion { attributes.append(.text(19, originalApplicationVersion)) }
    if let expirationDate { attributes.append(.date(21, expirationDate.rfc3339)) }
    attributes += items.map {
      SimulatedReceiptAttribute(type: 17, value: SimulatedReceiptAttribute.set(of: $0.attributes))
    }
    return attributes + extraAttributes
  }

  /// The content that is signed: a SET of attributes in DER. The same values give the same bytes.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography`` when the device could not be hashed.
  package func content() throws(SimulatorError) -> [UInt8] {
    SimulatedReceiptAttribute.set(of: try attributes())
  }

  /// Undocumented numbers, dates and blobs, in the form of real receipts.
  private static func usualExtraAttributes(
    isProduction: Bool, creationDate: Milliseconds, from generator: inout SeededGenerator
  ) -> [SimulatedReceiptAttribute] {
    let date = isProduction ? creationDate.rfc3339 : nil
    return [
      .integer(1, isProduction ? SimulatedApp.appAppleID : 0),
      SimulatedReceiptAttribute(type: 6, value: generator.bytes(50 + generator.number(below: 20))),
      SimulatedReceiptAttribute(type: 7, value: generator.bytes(44 + generator.number(below: 28))),
      .date(8, date), .integer(9, 0x5032_3334), .date(10, "4+"), .integer(11, 2_003),
      .integer(13, 20_100), .integer(14, 141),
      .integer(15, isProduction ? Int64(generator.number(below: 1 << 46)) : 0),
      .integer(16, isProduction ? 812_345_678 : 0), .text(20, ""), .integer(25, 3),
    ]
  }
}

extension String {
  /// Whether this is a receipt type of Production.
  fileprivate var isProduction: Bool { self == "Production" || self == "ProductionVPP" }
}

extension SimulatedReceipt {
  /// The receipt of a customer with a long history: a subscription that renews every month, with
  /// its last period in force at `creationDate`. 187 items make about 80 kB.
  ///
  /// - Parameter itemCount: not negative.
  package static func ofLongHistory(
    itemCount: Int, creationDate: Milliseconds, seed: UInt64 = 1
  ) -> SimulatedReceipt {
    var receipt = SimulatedReceipt(creationDate: creationDate, seed: seed)
    let monthLength = 30 * Milliseconds.dayLength
    let start = creationDate.advanced(
      by: Milliseconds.dayLength - monthLength * Int64(max(itemCount, 1)))
    receipt.applicationVersion = LifeCycleScript.bundleVersion
    receipt.originalApplicationVersion = "108"
    receipt.originalPurchaseDate = start
    var identifiers = StoreIdentifiers(
      seed: seed, label: "long history", index: 0, hasToken: false)
    var first: OriginalTransactionID?
    for number in 0..<itemCount {
      let id = identifiers.nextTransactionID()
      let original = first ?? OriginalTransactionID(id.rawValue)
      first = original
      let purchased = start.advanced(by: monthLength * Int64(number))
      var item = SimulatedReceiptItem(
        transactionID: id, originalTransactionID: original,
        productID: SimulatedApp.basicMonthly.id, purchaseDate: purchased)
      item.originalPurchaseDate = start
      item.expiresDate = purchased.advanced(by: monthLength)
      item.webOrderLineItemID = identifiers.webOrderLineItemID
      item.response.ownership = .purchased
      item.response.subscriptionGroupID = SimulatedApp.subscriptionGroup
      receipt.items.append(item)
    }
    return receipt
  }
}
