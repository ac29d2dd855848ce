package import EntitlementDomain

/// What a legacy app receipt says (PKCS#7; Apple's "Receipt Validation Programming Guide"), read
/// but not judged.
package struct Receipt: Hashable, Sendable {
  /// Attribute 0 as it came: `Production`, `ProductionSandbox`, `ProductionVPP`, `Xcode`, …
  package var receiptType: String
  /// Attribute 2.
  package var bundleID: BundleID
  /// Attribute 2 as it is in the receipt, DER and all: part of what the device hash is made of.
  package var bundleIDBytes: [UInt8]
  /// Attribute 12.
  package var creationDate: Milliseconds
  /// Attribute 3.
  package var applicationVersion: String?
  /// Attribute 19; receipts before 2013-06-20 have none.
  package var originalApplicationVersion: String?
  /// Attribute 18.
  package var originalPurchaseDate: Milliseconds?
  /// Attribute 21: when the receipt of a volume purchase ends.
  package var expirationDate: Milliseconds?
  /// Attribute 4, and attribute 5: the SHA-1 of device, opaque value and bundle id.
  package var opaqueValue: [UInt8]
  package var deviceHash: [UInt8]
  /// Attribute 17, in the order of the receipt; an empty list is a valid receipt (R52).
  package var items: [ReceiptItem]
  /// Attributes that are not known, in their order.
  package var unknownAttributes: [ReceiptAttribute]

  package init(
    receiptType: String, bundleID: BundleID, bundleIDBytes: [UInt8], creationDate: Milliseconds
  ) {
    self.receiptType = receiptType
    self.bundleID = bundleID
    self.bundleIDBytes = bundleIDBytes
    self.creationDate = creationDate
    opaqueValue = []
    deviceHash = []
    items = []
    unknownAttributes = []
  }

  /// The environment that the receipt type stands for; nil for a type that is not known.
  package var environment: StoreEnvironment? {
    switch receiptType {
    case "Production", "ProductionVPP": .production
    case "ProductionSandbox", "ProductionVPPSandbox": .sandbox
    case "Xcode": .xcode
    default: nil
    }
  }
}

/// One in-app purchase of a receipt. Any field may be absent: an empty value counts as none.
package struct ReceiptItem: Hashable, Sendable {
  /// 1701.
  package var quantity: Int64?
  /// 1702.
  package var productID: ProductID?
  /// 1703.
  package var transactionID: TransactionID?
  /// 1704.
  package var purchaseDate: Milliseconds?
  /// 1705.
  package var originalTransactionID: OriginalTransactionID?
  /// 1706.
  package var originalPurchaseDate: Milliseconds?
  /// 1708.
  package var expiresDate: Milliseconds?
  /// 1711.
  package var webOrderLineItemID: WebOrderLineItemID?
  /// 1712: when it was refunded, or upgraded.
  package var cancellationDate: Milliseconds?
  /// 1713.
  package var isTrialPeriod: Bool?
  /// 1719.
  package var isInIntroductoryOfferPeriod: Bool?
  /// Attributes that are not known, in their order.
  package var unknownAttributes: [ReceiptAttribute]

  package init() {
    unknownAttributes = []
  }
}

/// An attribute of a receipt, or of one of its items, as it came.
package struct ReceiptAttribute: Hashable, Sendable {
  package var type: Int64
  package var version: Int64
  /// The contents of its octet string.
  package var value: [UInt8]

  package init(type: Int64, version: Int64, value: [UInt8]) {
    self.type = type
    self.version = version
    self.value = value
  }
}
