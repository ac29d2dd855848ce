package import EntitlementDomain

/// A verified notification with the facts of the signed payloads inside it, which were verified
/// too and are of the same app and environment.
package struct VerifiedNotification: Hashable, Sendable {
  package let record: NotificationRecord
  package let transaction: SignedFact?
  /// Bound to the notification's app.
  package let renewalInfo: SignedFact?
  package let appTransaction: SignedFact?

  package init(
    record: NotificationRecord, transaction: SignedFact?, renewalInfo: SignedFact?,
    appTransaction: SignedFact?
  ) {
    self.record = record
    self.transaction = transaction
    self.renewalInfo = renewalInfo
    self.appTransaction = appTransaction
  }

  /// All facts that it brought.
  package var facts: [SignedFact] {
    [transaction, renewalInfo, appTransaction].compactMap { $0 }
  }
}
