import EntitlementDomain
import Verification

/// What a receipt says, for people.
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
    if item.isTrialPeriod == true { return "trial" }
    return item.isInIntroductoryOfferPeriod == true ? "introductory" : "-"
  }
}
