package import EntitlementDomain

/// What the simulated App Store states at one moment: payloads to sign, all with that moment as
/// their signing date.
package struct StoreEvent: Hashable, Sendable {
  package var at: Milliseconds
  /// New or changed transactions; a notification about a purchase carries the first.
  package var transactions: [TransactionPayload]
  /// A notification about a purchase carries it too.
  package var renewalInfo: RenewalInfoPayload?
  /// A notification about the app as such carries it.
  package var appTransaction: AppTransactionPayload?
  package var notification: StoreNotification?

  package init(
    at: Milliseconds, transactions: [TransactionPayload], renewalInfo: RenewalInfoPayload? = nil,
    appTransaction: AppTransactionPayload? = nil, notification: StoreNotification? = nil
  ) {
    self.at = at
    self.transactions = transactions
    self.renewalInfo = renewalInfo
    self.appTransaction = appTransaction
    self.notification = notification
  }
}
