/// All that is known of one customer in one scope: the input of evaluation beside the catalog and
/// the moment.
package struct CustomerRecord: Hashable, Sendable {
  package var scope: AppScope
  /// Nil for chains that no account has claimed.
  package var accountID: AccountID?
  /// Number of the latest change that concerned this customer; 0 when there was none.
  package var revision: Int64
  /// When that change was made, on the server's clock; nil when it is not known.
  package var changedAt: Milliseconds?
  /// The standing version of every fact, in any order.
  package var facts: [Fact]
  /// What operators gave the account, in any order, withdrawn ones included (R32).
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
