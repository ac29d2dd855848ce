import EntitlementDomain

extension Receipt {
  /// The attributes of receipts that are known.
  private enum Attribute {
    static let receiptType: Int64 = 0
    static let bundleID: Int64 = 2
    static let applicationVersion: Int64 = 3
    static let opaqueValue: Int64 = 4
    static let deviceHash: Int64 = 5
    static let creationDate: Int64 = 12
    static let purchase: Int64 = 17
    static let originalPurchaseDate: Int64 = 18
    static let originalApplicationVersion: Int64 = 19
    static let expirationDate: Int64 = 21

    static let all: Set<Int64> = [
      receiptType, bundleID, applicationVersion, opaqueValue, deviceHash, creationDate, purchase,
      originalPurchaseDate, originalApplicationVersion, expirationDate,
    ]
  }

  /// Reads the content of a receipt: a DER SET of `SEQUENCE { type INTEGER, version INTEGER, value
  /// OCTET STRING }`.
  ///
  /// Empty text and empty values count as absent. An attribute that is known may occur once,
  /// purchases apart: of two values nobody knows which one counts.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/malformed`` for any other form, and when the receipt
  ///   type, the bundle id or the creation date is missing.
  package init(content der: [UInt8]) throws(Refusal) {
    var reader = DERReader(der)
    let set = try reader.next(DERTag.set, "set of attributes")
    try reader.expectEnd(of: "set of attributes")
    try self.init(attributes: set, in: der)
  }

  /// - Parameter envelope: what the content is inside of.
  init(_ envelope: ReceiptEnvelope) throws(Refusal) {
    var reader = DERReader(envelope.der, inside: envelope.content)
    let set = try reader.next(DERTag.set, "set of attributes")
    try reader.expectEnd(of: "set of attributes")
    try self.init(attributes: set, in: envelope.der)
  }

  private init(attributes set: DERElement, in der: [UInt8]) throws(Refusal) {
    var attributes = ReceiptAttributes(known: Attribute.all, repeatable: Attribute.purchase)
    try attributes.read(set, in: der)
    guard let receiptType = try attributes.text(Attribute.receiptType, "receipt type") else {
      throw Refusal(.malformed, "the receipt has no receipt type")
    }
    guard let bundleID = try attributes.text(Attribute.bundleID, "bundle id") else {
      throw Refusal(.malformed, "the receipt has no bundle id")
    }
    guard let creationDate = try attributes.moment(Attribute.creationDate, "creation date") else {
      throw Refusal(.malformed, "the receipt has no creation date")
    }
    self.init(
      receiptType: receiptType, bundleID: BundleID(bundleID),
      bundleIDBytes: attributes.bytes(Attribute.bundleID), creationDate: creationDate)
    applicationVersion = try attributes.text(
      Attribute.applicationVersion, "application version")
    originalApplicationVersion = try attributes.text(
      Attribute.originalApplicationVersion, "original application version")
    originalPurchaseDate = try attributes.moment(
      Attribute.originalPurchaseDate, "original purchase date")
    expirationDate = try attributes.moment(Attribute.expirationDate, "expiration date")
    opaqueValue = attributes.bytes(Attribute.opaqueValue)
    deviceHash = attributes.bytes(Attribute.deviceHash)
    unknownAttributes = attributes.unknown
    guard attributes.repeated.count <= VerificationLimits.receiptItems else {
      throw Refusal(.malformed, "more than \(VerificationLimits.receiptItems) purchases")
    }
    for value in attributes.repeated { items.append(try ReceiptItem(value, in: der)) }
  }
}
