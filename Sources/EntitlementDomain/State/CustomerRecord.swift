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
  /// All versions of the facts that have more than one version or signing moment (R53), in any order.
  /// Loaded only for ``signed(by:)``; evaluation does not use them.
  package var versions: [FactVersion]
  /// The grants of the account in any order, also the withdrawn ones (R32).
  package var grants: [Grant]

  package init(
    scope: AppScope, accountID: AccountID? = nil, revision: Int64 = 0,
    changedAt: Milliseconds? = nil, facts: [Fact] = [], versions: [FactVersion] = [],
    grants: [Grant] = []
  ) {
    self.scope = scope
    self.accountID = accountID
    self.revision = revision
    self.changedAt = changedAt
    self.facts = facts
    self.versions = versions
    self.grants = grants
  }
}

/// What the state of another moment than now is computed from (R54). Raw values are the numbers on
/// the wire.
public enum Knowledge: Int, Hashable, Sendable, CaseIterable {
  /// What Apple had signed by that moment.
  case signedByThen = 1
  /// What is known today of that moment.
  case now = 2
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
