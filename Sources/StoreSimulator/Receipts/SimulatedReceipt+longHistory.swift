package import EntitlementDomain

extension SimulatedReceipt {
  /// The receipt of a customer who has been there for long: a subscription that renews every month,
  /// with its last period in force when the receipt is made. 187 items make about 80 kB.
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
