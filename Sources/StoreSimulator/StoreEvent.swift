package import EntitlementDomain

/// What the simulated App Store states at one moment: payloads to sign, all with that moment as
/// their signing date.
package struct StoreEvent: Hashable, Sendable {
  package var at: Milliseconds
  /// New or changed transactions; the notification carries the first.
  package var transactions: [TransactionPayload]
  /// The notification carries it too.
  package var renewalInfo: RenewalInfoPayload?
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
