/// The stored data of one customer in one scope. It is an input of evaluation, with the catalog and
/// the moment.
package struct CustomerRecord: Hashable, Sendable {
  package var scope: AppScope
  /// Nil for unlinked chains.
  package var accountID: AccountID?
  /// The number of the latest change of this customer; 0 when there was none.
  package var revision: Int64
  /// The moment of that change on the server's clock; nil when it is not known.
  package var changedAt: Milliseconds?
  /// The standing version of every fact, in any order.
  package var facts: [Fact]
  /// The grants of the account in any order, also the withdrawn ones (R32).
  package var grants: [Grant]

  package init(
    scope: AppScope, accountID: AccountID? = nil, revision: Int64 = 0,
    changedAt: Milliseconds? = nil, facts: [Fact] = [], grants: [Grant] = []
  ) {
    self.scope = scope
    self.accountID = accountID
    self.revision = revision
    self.changedAt = changedAt
    self.facts = facts
    self.grants = grants
  }
}

/// The identifier by which a read selects a customer within an ``AppScope``.
public enum CustomerSelector: Hashable, Sendable {
  /// The account with this id.
  case account(AccountID)
  /// The customer who owns the chain with this id.
  case originalTransaction(OriginalTransactionID)
  /// The customer who owns the chain of this transaction, or the chain with this id.
  case transaction(TransactionID)
  /// The customer of this app transaction.
  case appTransaction(AppTransactionID)
  /// The customer whose purchases have this token.
  case appAccountToken(AppAccountToken)
}
