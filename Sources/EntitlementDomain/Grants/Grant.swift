/// An entitlement that an operator gave an account outside the App Store (R32).
///
/// It never touches what was bought. One that is withdrawn is kept, with who did it and why.
package struct Grant: Hashable, Sendable {
  package var id: GrantID
  package var scope: AppScope
  package var accountID: AccountID
  package var entitlementID: EntitlementID
  /// It confers in `[starts, expires)`.
  package var starts: Milliseconds
  /// Nil when it has no end.
  package var expires: Milliseconds?
  /// Why, in the operator's words.
  package var reason: String
  /// Who gave it, in the operator's words.
  package var author: String
  package var createdAt: Milliseconds
  /// Nil while it stands.
  package var withdrawal: GrantWithdrawal?

  package init(
    id: GrantID, scope: AppScope, accountID: AccountID, entitlementID: EntitlementID,
    starts: Milliseconds, expires: Milliseconds? = nil, reason: String, author: String,
    createdAt: Milliseconds, withdrawal: GrantWithdrawal? = nil
  ) {
    self.id = id
    self.scope = scope
    self.accountID = accountID
    self.entitlementID = entitlementID
    self.starts = starts
    self.expires = expires
    self.reason = reason
    self.author = author
    self.createdAt = createdAt
    self.withdrawal = withdrawal
  }

  /// The end of what it confers: its own, or its withdrawal if that came first.
  package var end: Milliseconds? {
    guard let withdrawal else { return expires }
    return expires.map { min($0, withdrawal.at) } ?? withdrawal.at
  }
}

/// The end of a grant before its time.
package struct GrantWithdrawal: Hashable, Sendable {
  package var at: Milliseconds
  package var author: String
  package var reason: String

  package init(at: Milliseconds, author: String, reason: String) {
    self.at = at
    self.author = author
    self.reason = reason
  }
}
