package import EntitlementDomain

/// A change of who owns what that a person or a service asks for by name (R46). No policy keeps it
/// from being done: it is the operator's or the backend's own decision, and is audited.
package struct LinkRequest: Hashable, Sendable {
  package enum Change: Hashable, Sendable {
    /// Gives what has no account to one. Done already when it is that account's.
    case link(LinkTarget, to: AccountID)
    /// Takes it from its account; hints do not lead it back. Done already when it has none.
    case unlink(LinkTarget)
    /// Gives it to another account.
    /// - `from`: whose it has to be now; nil: anybody's, or nobody's.
    case transfer(LinkTarget, from: AccountID?, to: AccountID)
    /// Gives everything of one account to another, under whose id the first is known from then on.
    case merge(AccountID, into: AccountID)
    /// Unlinks everything of an account and deletes what is known of the account itself. Done
    /// already for as long as the feed tells of an earlier deletion, unless it came back since.
    case delete(AccountID)
  }

  package var scope: AppScope
  package var change: Change
  /// Who asks, in the caller's words.
  package var author: String
  /// Why, in the caller's words.
  package var reason: String
  package var at: Milliseconds

  package init(
    scope: AppScope, change: Change, author: String, reason: String, at: Milliseconds
  ) {
    self.scope = scope
    self.change = change
    self.author = author
    self.reason = reason
    self.at = at
  }
}

/// What became of a ``LinkRequest``.
package enum LinkAnswer: Hashable, Sendable {
  case done(LinkReceipt)
  case refused(LinkRefusal)
}

package struct LinkReceipt: Hashable, Sendable {
  /// What changed hands, chains before app transactions, then by id; empty when it stood so before.
  package var targets: [LinkTarget]
  /// The accounts and unlinked chains concerned, with their revisions after it.
  package var customers: [CustomerRevision]
  /// Everybody whose facts or links changed: answers held for them are out of date.
  package var changed: [CustomerSubject]
  /// As ``CommitReceipt/latest``.
  package var latest: Int64
  /// False when it stood so before.
  package var isChanged: Bool

  package init(
    targets: [LinkTarget], customers: [CustomerRevision], changed: [CustomerSubject],
    latest: Int64, isChanged: Bool
  ) {
    self.targets = targets
    self.customers = customers
    self.changed = changed
    self.latest = latest
    self.isChanged = isChanged
  }
}

/// Why a ``LinkRequest`` was not done; nothing changed.
package enum LinkRefusal: Hashable, Sendable {
  /// No fact of the chain or app transaction is known, and no link.
  case targetUnknown
  /// Nothing is known of the account to take from.
  case accountUnknown
  /// It belongs to another account than the request allows.
  case linkedElsewhere
  /// The two accounts are one, by an earlier merge too; but to merge the same again is done already.
  case sameAccount
}
