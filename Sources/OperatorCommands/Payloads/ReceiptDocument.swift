import EntitlementDomain
import Verification

/// The contents of a receipt or archived response in JSON. The format is a documented contract. As
/// in messages, 64-bit numbers are strings, and times are strings of milliseconds since 1970.
/// Fields that the receipt does not have are absent.
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
    let promotionalOfferId: String?
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
      promotionalOfferId = item.promotionalOfferID
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

/// The contents of a receipt as text for a terminal.
enum ReceiptText {
  static func text(of receipt: Receipt) -> String {
    var lines = [
      line("app", receipt.bundleID.rawValue),
      line("receipt type", receipt.receiptType),
      line("created", receipt.creationDate.display),
      line("version", receipt.applicationVersion),
      line("first version", receipt.originalApplicationVersion),
      line("first purchase", receipt.originalPurchaseDate?.display),
    ]
    if let expirationDate = receipt.expirationDate {
      lines.append(line("expires", expirationDate.display))
    }
    if !receipt.unknownAttributes.isEmpty {
      lines.append(
        line("not known", types(of: receipt.unknownAttributes)))
    }
    lines.append(line("purchases", "\(receipt.items.count)"))
    return receipt.items.isEmpty
      ? lines.joined(separator: "\n")
      : (lines + ["", table(of: receipt.items)]).joined(separator: "\n")
  }

  private static func line(_ name: String, _ value: String?) -> String {
    let label = "  \(name)"
    return label + String(repeating: " ", count: max(1, 18 - label.count)) + (value ?? "-")
  }

  private static func types(of attributes: [ReceiptAttribute]) -> String {
    let types = Set(attributes.map(\.type)).sorted().map { "\($0)" }
    return "attributes of type " + types.joined(separator: ", ")
  }

  private static func table(of items: [ReceiptItem]) -> String {
    var table = TextTable(
      header: ["TRANSACTION", "CHAIN", "PRODUCT", "PURCHASED", "EXPIRES", "CANCELLED", "OFFER"])
    for item in items {
      table.add([
        item.transactionID?.rawValue ?? "-", item.originalTransactionID?.rawValue ?? "-",
        item.productID?.rawValue ?? "-", item.purchaseDate?.display ?? "-",
        item.expiresDate?.display ?? "-", item.cancellationDate?.display ?? "-", offer(of: item),
      ])
    }
    return table.text
  }

  private static func offer(of item: ReceiptItem) -> String {
    if let identifier = item.promotionalOfferID { return identifier }
    if item.isTrialPeriod == true { return "trial" }
    return item.isInIntroductoryOfferPeriod == true ? "introductory" : "-"
  }
}
