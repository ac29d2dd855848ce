import Cryptography
package import EntitlementDomain

/// A legacy app receipt before it is signed (Apple's "Receipt Validation Programming Guide"), and what
/// `verifyReceipt` would have answered to it.
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
  /// Of the device that the receipt is for: attribute 5 is made of it. 16 bytes, the UUID that iOS
  /// gives to a vendor's apps; on a Mac 6.
  package var deviceIdentifier: [UInt8]
  /// Attribute 4.
  package var opaqueValue: [UInt8]
  /// Attribute 17, in their order.
  package var items: [SimulatedReceiptItem] = []
  /// Attributes without a public meaning, as real receipts have them.
  package var extraAttributes: [SimulatedReceiptAttribute]
  /// The latest of each chain: `pending_renewal_info` of the response.
  package var renewals: [RenewalInfoPayload] = []
  /// When `verifyReceipt` answered; nil for the creation date.
  package var requestDate: Milliseconds?
  /// Periods that the App Store knew when it answered, and that the receipt is too old to have: in
  /// `latest_receipt_info` alone.
  package var newerItems: [SimulatedReceiptItem] = []

  /// - Parameter seed: gives what is random: the device, the opaque value and values without meaning.
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

  /// In the order of their numbers, items and attributes without a public meaning last.
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

  /// What is signed: a SET of attributes in DER. The same values give the same bytes.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography`` when the device could not be hashed.
  package func content() throws(SimulatorError) -> [UInt8] {
    SimulatedReceiptAttribute.set(of: try attributes())
  }

  /// Numbers, dates and blobs whose meaning Apple does not tell, in the shapes of real receipts.
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
  /// Whether a receipt of this type is of what customers paid for.
  fileprivate var isProduction: Bool { self == "Production" || self == "ProductionVPP" }
}
