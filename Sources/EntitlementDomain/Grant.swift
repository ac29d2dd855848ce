/// An entitlement that an operator gave an account outside the App Store (R32).
///
/// It does not affect purchases. A withdrawn grant is kept, with the author and the reason.
package struct Grant: Hashable, Sendable {
  package var id: GrantID
  package var scope: AppScope
  package var accountID: AccountID
  package var entitlementID: EntitlementID
  /// The grant confers in `[starts, expires)`.
  package var starts: Milliseconds
  /// Nil when the grant has no end.
  package var expires: Milliseconds?
  /// Free text of the operator.
  package var reason: String
  /// The name of the authenticated caller.
  package var author: String
  /// The person or tool for whom the author acted, in the author's words; nil when none was named.
  package var onBehalfOf: String?
  package var createdAt: Milliseconds
  /// Nil unless the grant was withdrawn.
  package var withdrawal: GrantWithdrawal?

  package init(
    id: GrantID, scope: AppScope, accountID: AccountID, entitlementID: EntitlementID,
    starts: Milliseconds, expires: Milliseconds? = nil, reason: String, author: String,
    onBehalfOf: String? = nil, createdAt: Milliseconds, withdrawal: GrantWithdrawal? = nil
  ) {
    self.id = id
    self.scope = scope
    self.accountID = accountID
    self.entitlementID = entitlementID
    self.starts = starts
    self.expires = expires
    self.reason = reason
    self.author = author
    self.onBehalfOf = onBehalfOf
    self.createdAt = createdAt
    self.withdrawal = withdrawal
  }

  /// The end of access: the expiry or the withdrawal, whichever is earlier.
  package var end: Milliseconds? {
    guard let withdrawal else { return expires }
    return expires.map { min($0, withdrawal.at) } ?? withdrawal.at
  }
}

/// The withdrawal of a grant before its expiry.
package struct GrantWithdrawal: Hashable, Sendable {
  package var at: Milliseconds
  /// As ``Grant/author`` and ``Grant/onBehalfOf``.
  package var author: String
  package var onBehalfOf: String?
  package var reason: String

  package init(at: Milliseconds, author: String, onBehalfOf: String? = nil, reason: String) {
    self.at = at
    self.author = author
    self.onBehalfOf = onBehalfOf
    self.reason = reason
  }
}
