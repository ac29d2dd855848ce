import AppStorePayloads
import EntitlementDomain

extension Receipt {
  /// Types of the known receipt attributes.
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

    static let all = KnownAttributes(
      receiptType, bundleID, applicationVersion, opaqueValue, deviceHash, creationDate, purchase,
      originalPurchaseDate, originalApplicationVersion, expirationDate)
  }

  /// Parses the content of a receipt: a DER SET of `SEQUENCE { type INTEGER, version INTEGER, value
  /// OCTET STRING }`.
  ///
  /// Empty text and empty values count as absent. A known attribute other than a purchase may occur
  /// only once, because duplicates would be ambiguous.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/malformed`` for any other form, and when the receipt
  ///   type, the bundle id or the creation date is missing.
  package init(content der: [UInt8]) throws(Refusal) {
    try self.init(attributesIn: der.indices, of: der)
  }

  /// - Parameter envelope: the envelope with the content.
  init(_ envelope: ReceiptEnvelope) throws(Refusal) {
    try self.init(attributesIn: envelope.content.contents, of: envelope.der)
  }

  private init(attributesIn contents: Range<Int>, of der: [UInt8]) throws(Refusal) {
    var attributes = ReceiptAttributes(
      in: der, known: Attribute.all, repeatable: Attribute.purchase)
    try attributes.read(contents, "set of attributes", of: "set of attributes")
    guard let receiptType = try attributes.text(Attribute.receiptType, "receipt type") else {
      throw Refusal(.malformed, "the receipt has no receipt type")
    }
    attributes.hasXcodeDates = Self.environment(ofType: receiptType) == .xcode
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
    items.reserveCapacity(attributes.repeated.count)
    var purchase = ReceiptAttributes(
      in: der, known: ReceiptItem.knownAttributes, keepsUnknown: false)
    purchase.hasXcodeDates = attributes.hasXcodeDates
    for value in attributes.repeated {
      try purchase.read(value, "set of attributes of a purchase", of: "purchase")
      items.append(try ReceiptItem(&purchase, in: der[value]))
    }
  }
}

extension ReceiptItem {
  /// Types of the known purchase attributes.
  private enum Attribute {
    static let quantity: Int64 = 1_701
    static let productID: Int64 = 1_702
    static let transactionID: Int64 = 1_703
    static let purchaseDate: Int64 = 1_704
    static let originalTransactionID: Int64 = 1_705
    static let originalPurchaseDate: Int64 = 1_706
    static let expiresDate: Int64 = 1_708
    static let webOrderLineItemID: Int64 = 1_711
    static let cancellationDate: Int64 = 1_712
    static let isTrialPeriod: Int64 = 1_713
    static let isInIntroductoryOfferPeriod: Int64 = 1_719
    static let promotionalOfferID: Int64 = 1_721
  }

  fileprivate static let knownAttributes = KnownAttributes(
    Attribute.quantity, Attribute.productID, Attribute.transactionID, Attribute.purchaseDate,
    Attribute.originalTransactionID, Attribute.originalPurchaseDate, Attribute.expiresDate,
    Attribute.webOrderLineItemID, Attribute.cancellationDate, Attribute.isTrialPeriod,
    Attribute.isInIntroductoryOfferPeriod, Attribute.promotionalOfferID)

  /// - Parameters:
  ///   - attributes: the SET in the value of attribute 17.
  ///   - value: that value.
  /// - Throws: ``Refusal`` with ``Verdict/malformed``. Missing fields are not an error.
  // All fields at once: setting one after the other copies the item at the end.
  fileprivate init(
    _ attributes: inout ReceiptAttributes, in value: ArraySlice<UInt8>
  ) throws(Refusal) {
    self.init(
      quantity: try attributes.integer(Attribute.quantity, "quantity"),
      productID: try attributes.repeatedText(Attribute.productID, "product id")
        .map(ProductID.init(_:)),
      transactionID: try attributes.text(Attribute.transactionID, "transaction id")
        .map(TransactionID.init(_:)),
      originalTransactionID: try attributes.repeatedText(
        Attribute.originalTransactionID, "original transaction id"
      ).map(OriginalTransactionID.init(_:)),
      purchaseDate: try attributes.moment(Attribute.purchaseDate, "purchase date"),
      originalPurchaseDate: try attributes.moment(
        Attribute.originalPurchaseDate, "original purchase date"),
      expiresDate: try attributes.moment(Attribute.expiresDate, "expires date"),
      cancellationDate: try attributes.moment(Attribute.cancellationDate, "cancellation date"),
      // 0 means none: only subscriptions have a web order line item.
      webOrderLineItemID: try attributes.integer(
        Attribute.webOrderLineItemID, "web order line item id"
      ).flatMap { $0 == 0 ? nil : WebOrderLineItemID(DecimalDigits.text($0)) },
      isTrialPeriod: try attributes.flag(Attribute.isTrialPeriod, "trial period flag"),
      isInIntroductoryOfferPeriod: try attributes.flag(
        Attribute.isInIntroductoryOfferPeriod, "introductory offer flag"),
      promotionalOfferID: try attributes.repeatedText(
        Attribute.promotionalOfferID, "promotional offer id"),
      encoded: value)
  }

  /// Unknown attributes, in order. They are read when they are asked for, because only operators look
  /// at them and a purchase has about nine.
  package var unknownAttributes: [ReceiptAttribute] {
    let bytes = Array(encoded)
    var attributes = ReceiptAttributes(in: bytes, known: Self.knownAttributes)
    // They were read when the receipt was. An archived response has none.
    try? attributes.read(bytes.indices, "set of attributes of a purchase", of: "purchase")
    return attributes.unknown
  }
}
