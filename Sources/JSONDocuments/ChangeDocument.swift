package import EntitlementDomain

/// An entry of the change feed in JSON: the fields of `entitle.v1.Change`, by the same names; what
/// is absent is left out.
package struct ChangeDocument: Encodable {
  let sequence: Int64
  let bundleId: String
  let environment: String
  let accountId: String?
  let originalTransactionId: String?
  let committedAtMs: Int64
  let facts: Bool
  let linked: Bool
  let unlinked: Bool
  let grants: Bool
  let merged: Bool
  let deleted: Bool
  let events: [FeedEventDocument]

  /// - Parameters:
  ///   - accountID: the account that it concerns; nil for a chain that no account has claimed, or
  ///     when no customer is known.
  ///   - originalTransactionID: the chain that it concerns; nil for an account.
  package init(
    sequence: Int64, scope: AppScope, accountID: AccountID?,
    originalTransactionID: OriginalTransactionID?, committedAt: Milliseconds, facts: Bool,
    linked: Bool, unlinked: Bool, grants: Bool, merged: Bool, deleted: Bool,
    events: [FeedEvent]
  ) {
    self.sequence = sequence
    bundleId = scope.bundleID.rawValue
    environment = scope.environment.rawValue
    accountId = accountID?.rawValue
    originalTransactionId = originalTransactionID?.rawValue
    committedAtMs = committedAt.rawValue
    self.facts = facts
    self.linked = linked
    self.unlinked = unlinked
    self.grants = grants
    self.merged = merged
    self.deleted = deleted
    self.events = events.map { FeedEventDocument($0) }
  }
}
