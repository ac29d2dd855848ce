import EntitlementDomain
import Verification

/// What a receipt, or an archived response to one, says, in JSON: a contract. As in messages,
/// numbers of 64 bits are strings, and so are moments, in milliseconds since the epoch; what is absent
/// in the receipt is left out.
struct ReceiptDocument: Encodable {
  let receiptType: String
  let bundleId: String
  let environment: String?
  let creationMs: String
  let applicationVersion: String?
  let originalApplicationVersion: String?
  let originalPurchaseMs: String?
  let expirationMs: String?
  let inApp: [ItemDocument]
  let unknownAttributes: [AttributeDocument]

  struct ItemDocument: Encodable {
    let transactionId: String?
    let originalTransactionId: String?
    let productId: String?
    let quantity: String?
    let purchaseMs: String?
    let originalPurchaseMs: String?
    let expiresMs: String?
    let cancellationMs: String?
    let webOrderLineItemId: String?
    let isTrialPeriod: Bool?
    let isInIntroductoryOfferPeriod: Bool?
    let unknownAttributes: [AttributeDocument]

    init(_ item: ReceiptItem) {
      transactionId = item.transactionID?.rawValue
      originalTransactionId = item.originalTransactionID?.rawValue
      productId = item.productID?.rawValue
      quantity = item.quantity.map { "\($0)" }
      purchaseMs = item.purchaseDate.map { "\($0)" }
      originalPurchaseMs = item.originalPurchaseDate.map { "\($0)" }
      expiresMs = item.expiresDate.map { "\($0)" }
      cancellationMs = item.cancellationDate.map { "\($0)" }
      webOrderLineItemId = item.webOrderLineItemID?.rawValue
      isTrialPeriod = item.isTrialPeriod
      isInIntroductoryOfferPeriod = item.isInIntroductoryOfferPeriod
      unknownAttributes = item.unknownAttributes.map { AttributeDocument($0) }
    }
  }

  struct AttributeDocument: Encodable {
    let type: String
    let version: String
    /// Hexadecimal.
    let value: String

    init(_ attribute: ReceiptAttribute) {
      type = "\(attribute.type)"
      version = "\(attribute.version)"
      value = attribute.value.map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }.joined()
    }
  }

  init(_ receipt: Receipt) {
    receiptType = receipt.receiptType
    bundleId = receipt.bundleID.rawValue
    environment = receipt.environment?.jsonName
    creationMs = "\(receipt.creationDate)"
    applicationVersion = receipt.applicationVersion
    originalApplicationVersion = receipt.originalApplicationVersion
    originalPurchaseMs = receipt.originalPurchaseDate.map { "\($0)" }
    expirationMs = receipt.expirationDate.map { "\($0)" }
    inApp = receipt.items.map { ItemDocument($0) }
    unknownAttributes = receipt.unknownAttributes.map { AttributeDocument($0) }
  }
}
