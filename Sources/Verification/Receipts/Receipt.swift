import Cryptography
package import EntitlementDomain

/// The contents of a legacy app receipt (PKCS #7; Apple's "Receipt Validation Programming Guide").
/// They are not verified.
package struct Receipt: Hashable, Sendable {
  /// Attribute 0 as received: `Production`, `ProductionSandbox`, `ProductionVPP`, `Xcode`, …
  package var receiptType: String
  /// Attribute 2.
  package var bundleID: BundleID
  /// Attribute 2 as encoded in the receipt, DER header included. Input of the device hash.
  package var bundleIDBytes: [UInt8]
  /// Attribute 12.
  package var creationDate: Milliseconds
  /// Attribute 3.
  package var applicationVersion: String?
  /// Attribute 19; receipts before 2013-06-20 have none.
  package var originalApplicationVersion: String?
  /// Attribute 18.
  package var originalPurchaseDate: Milliseconds?
  /// Attribute 21: when the receipt of a volume purchase expires.
  package var expirationDate: Milliseconds?
  /// Attribute 4.
  package var opaqueValue: [UInt8]
  /// Attribute 5: the SHA-1 of device identifier, opaque value and bundle id.
  package var deviceHash: [UInt8]
  /// Attribute 17, in order. A receipt without purchases is valid (R52).
  package var items: [ReceiptItem]
  /// Unknown attributes, in order.
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

  /// The environment of the receipt type; nil for an unknown type.
  package var environment: StoreEnvironment? { Self.environment(ofType: receiptType) }

  static func environment(ofType receiptType: String) -> StoreEnvironment? {
    switch receiptType {
    case "Production", "ProductionVPP": .production
    case "ProductionSandbox", "ProductionVPPSandbox": .sandbox
    case "Xcode": .xcode
    default: nil
    }
  }
}

/// An in-app purchase of a receipt. Every field is optional; an empty value counts as absent.
package struct ReceiptItem: Hashable, Sendable {
  /// Attribute 1701.
  package var quantity: Int64?
  /// Attribute 1702.
  package var productID: ProductID?
  /// Attribute 1703.
  package var transactionID: TransactionID?
  /// Attribute 1705.
  package var originalTransactionID: OriginalTransactionID?
  /// Attribute 1704.
  package var purchaseDate: Milliseconds?
  /// Attribute 1706.
  package var originalPurchaseDate: Milliseconds?
  /// Attribute 1708.
  package var expiresDate: Milliseconds?
  /// Attribute 1712: when the purchase was refunded or upgraded.
  package var cancellationDate: Milliseconds?
  /// Attribute 1711.
  package var webOrderLineItemID: WebOrderLineItemID?
  /// Attribute 1713.
  package var isTrialPeriod: Bool?
  /// Attribute 1719.
  package var isInIntroductoryOfferPeriod: Bool?
  /// Attribute 1721: the identifier of a promotional offer.
  package var promotionalOfferID: String?
  /// The value of attribute 17, a part of the receipt; empty in an archived response.
  var encoded: ArraySlice<UInt8> = []
}

/// An attribute of a receipt or of one of its items, as received.
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

extension Receipt {
  /// Checks the device hash: the SHA-1 of the device identifier, the opaque value and the bundle
  /// id. The latter two are used as encoded in the receipt.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/wrongDevice``.
  func checkDevice(_ identifier: [UInt8]) throws(Refusal) {
    guard !identifier.isEmpty, identifier.count <= VerificationLimits.deviceIdentifierLength else {
      throw Refusal(
        .wrongDevice,
        "a device identifier has 1 to \(VerificationLimits.deviceIdentifierLength) bytes")
    }
    guard !deviceHash.isEmpty else {
      throw Refusal(.wrongDevice, "the receipt has no device hash")
    }
    let hash: [UInt8]
    do {
      hash = try SHA1.digest(of: identifier + opaqueValue + bundleIDBytes)
    } catch {
      throw Refusal(error, as: .retryable, in: "device")
    }
    guard ConstantTime.areEqual(hash, deviceHash) else {
      throw Refusal(.wrongDevice, "the receipt was made for another device")
    }
  }
}
