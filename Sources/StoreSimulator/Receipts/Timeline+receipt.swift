package import EntitlementDomain

extension Timeline {
  /// The receipt on the customer's device after a refresh at `moment`. It contains every
  /// non-consumable and every period, and consumables until the app finishes them. The renewal
  /// infos are the latest at that time.
  ///
  /// Times are truncated to seconds, as in the App Store's receipts. A life cycle of LocalTesting
  /// has a receipt of Xcode, because LocalTesting has no receipts.
  package func receipt(at moment: Milliseconds) -> SimulatedReceipt {
    var receipt = SimulatedReceipt(
      receiptType: SimulatedReceipt.receiptType(for: environment) ?? "Xcode",
      creationDate: moment.wholeSeconds, seed: deviceSeed)
    describeApp(in: &receipt, at: moment)
    var items: [TransactionID: SimulatedReceiptItem] = [:]
    var order: [TransactionID] = []
    var upgrades: [TransactionID: Milliseconds] = [:]
    for event in history(until: moment) {
      for transaction in event.transactions where !isFinished(transaction, at: moment) {
        let id = transaction.transactionID
        if transaction.isUpgraded == true, upgrades[id] == nil { upgrades[id] = event.at }
        let item = SimulatedReceiptItem(
          transaction, upgraded: transaction.isUpgraded == true ? upgrades[id] : nil)
        if items.updateValue(item.inWholeSeconds, forKey: id) == nil { order.append(id) }
      }
    }
    receipt.items = order.compactMap { items[$0] }
    receipt.renewals = renewals(at: moment)
    return receipt
  }

  /// Apps finish the transaction of a consumable within an hour.
  private func isFinished(_ transaction: TransactionPayload, at moment: Milliseconds) -> Bool {
    transaction.type == .consumable
      && moment >= transaction.purchaseDate.advanced(by: Milliseconds.hourLength)
  }

  /// Receipts contain the original version since 2013-06-20.
  private static var firstWithOriginalVersion: Milliseconds { 1_371_686_400_000 }

  private func describeApp(in receipt: inout SimulatedReceipt, at moment: Milliseconds) {
    let appTransaction = history(until: moment).compactMap(\.appTransaction).last
    receipt.applicationVersion = appTransaction?.applicationVersion ?? LifeCycleScript.bundleVersion
    if let appTransaction {
      receipt.originalApplicationVersion = appTransaction.originalApplicationVersion
      receipt.originalPurchaseDate = appTransaction.originalPurchaseDate?.wholeSeconds
    } else if environment == .production {
      receipt.originalApplicationVersion = LifeCycleScript.bundleVersion
      // A customer without in-app purchases has at least the app.
      receipt.originalPurchaseDate = min(start, moment).wholeSeconds
    } else {
      // Apple's fixed values for every app outside Production.
      receipt.originalApplicationVersion = "1.0"
      receipt.originalPurchaseDate = Milliseconds(1_375_340_400_000)
    }
    if moment < Self.firstWithOriginalVersion { receipt.originalApplicationVersion = nil }
  }

  /// The latest renewal info of each chain, in the order in which the chains began.
  private func renewals(at moment: Milliseconds) -> [RenewalInfoPayload] {
    var latest: [OriginalTransactionID: RenewalInfoPayload] = [:]
    var order: [OriginalTransactionID] = []
    for renewal in history(until: moment).compactMap(\.renewalInfo) {
      let id = renewal.originalTransactionID
      if latest.updateValue(renewal, forKey: id) == nil { order.append(id) }
    }
    return order.compactMap { latest[$0] }
  }
}

extension SimulatedReceiptItem {
  fileprivate var inWholeSeconds: SimulatedReceiptItem {
    var item = self
    item.purchaseDate = purchaseDate?.wholeSeconds
    item.originalPurchaseDate = originalPurchaseDate?.wholeSeconds
    item.expiresDate = expiresDate?.wholeSeconds
    item.cancellationDate = cancellationDate?.wholeSeconds
    return item
  }
}

extension Milliseconds {
  fileprivate var wholeSeconds: Milliseconds {
    // The simulated clock is never before 1970.
    Milliseconds(rawValue / Self.secondsLength * Self.secondsLength)
  }
}
