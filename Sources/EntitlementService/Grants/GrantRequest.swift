package import EntitlementDomain

/// An operator gives an account an entitlement (R32).
package struct GrantRequest: Hashable, Sendable {
  /// A UUID that makes repeats harmless; nil: the service makes one.
  package var id: GrantID?
  package var scope: AppScope
  package var accountID: AccountID
  package var entitlementID: EntitlementID
  /// Nil: now.
  package var starts: Milliseconds?
  /// Nil: without end.
  package var expires: Milliseconds?
  /// Why, in the operator's words.
  package var reason: String
  /// Who, in the operator's words.
  package var author: String

  package init(
    id: GrantID? = nil, scope: AppScope, accountID: AccountID, entitlementID: EntitlementID,
    starts: Milliseconds? = nil, expires: Milliseconds? = nil, reason: String, author: String
  ) {
    self.id = id
    self.scope = scope
    self.accountID = accountID
    self.entitlementID = entitlementID
    self.starts = starts
    self.expires = expires
    self.reason = reason
    self.author = author
  }
}
