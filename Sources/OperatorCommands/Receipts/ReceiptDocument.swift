import EntitlementDomain
import Verification

/// What a receipt, or an archived response to one, says, in JSON: a contract. Moments are in
/// milliseconds since the epoch; what is absent in the receipt is left out.
struct ReceiptDocument: Encodable {
  let receiptType: String
  let bundleId: String
  let environment: String?
  let creationMs: Int64
  let applicationVersion: String?
  let originalApplicationVersion: String?
  let originalPurchaseMs: Int64?
  let expirationMs: Int64?
  let inApp: [ItemDocument]
  let unknownAttributes: [AttributeDocument]

  struct ItemDocument: Encodable {
    let transactionId: String?
    let originalTransactionId: String?
    let productId: String?
    let quantity: Int64?
    let purchaseMs: Int64?
    let originalPurchaseMs: Int64?
    let expiresMs: Int64?
    let cancellationMs: Int64?
    let webOrderLineItemId: String?
    let isTrialPeriod: Bool?
    let isInIntroductoryOfferPeriod: Bool?
    let unknownAttributes: [AttributeDocument]

    init(_ item: ReceiptItem) {
      transactionId = item.transactionID?.rawValue
      originalTransactionId = item.originalTransactionID?.rawValue
      productId = item.productID?.rawValue
      quantity = item.quantity
      purchaseMs = item.purchaseDate?.rawValue
      originalPurchaseMs = item.originalPurchaseDate?.rawValue
      expiresMs = item.expiresDate?.rawValue
      cancellationMs = item.cancellationDate?.rawValue
      webOrderLineItemId = item.webOrderLineItemID?.rawValue
      isTrialPeriod = item.isTrialPeriod
      isInIntroductoryOfferPeriod = item.isInIntroductoryOfferPeriod
      unknownAttributes = item.unknownAttributes.map { AttributeDocument($0) }
    }
  }

  struct AttributeDocument: Encodable {
    let type: Int64
    let version: Int64
    /// Hexadecimal.
    let value: String

    init(_ attribute: ReceiptAttribute) {
      type = attribute.type
      version = attribute.version
      value = attribute.value.map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }.joined()
    }
  }

  init(_ receipt: Receipt) {
    receiptType = receipt.receiptType
    bundleId = receipt.bundleID.rawValue
    environment = receipt.environment?.rawValue
    creationMs = receipt.creationDate.rawValue
    applicationVersion = receipt.applicationVersion
    originalApplicationVersion = receipt.originalApplicationVersion
    originalPurchaseMs = receipt.originalPurchaseDate?.rawValue
    expirationMs = receipt.expirationDate?.rawValue
    inApp = receipt.items.map { ItemDocument($0) }
    unknownAttributes = receipt.unknownAttributes.map { AttributeDocument($0) }
  }
}
