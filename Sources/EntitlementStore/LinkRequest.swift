package import EntitlementDomain

/// An explicit change of links by an operator or a backend (R46). No link policy applies, and the
/// change is audited.
package struct LinkRequest: Hashable, Sendable {
  package enum Change: Hashable, Sendable {
    /// Links an unlinked target. No change when the account has it already.
    case link(LinkTarget, to: AccountID)
    /// Unlinks a target; hints do not link it again. No change when it has no account.
    case unlink(LinkTarget)
    /// Links a target to another account. `from` is the account that must have it now; nil: no
    /// condition.
    case transfer(LinkTarget, from: AccountID?, to: AccountID)
    /// Merges an account into another. The first id is an alias of the second from then on.
    case merge(AccountID, into: AccountID)
    /// Unlinks everything of an account and deletes the data of the account itself. No change while
    /// the feed contains an earlier deletion, unless the account was created again since.
    case delete(AccountID)
    /// Binds a token to an account, and links the unlinked chains that carry it (R71). Nil: forgets
    /// what is known of the token.
    case bindToken(AppAccountToken, to: AccountID?)
  }

  package var scope: AppScope
  package var change: Change
  /// The person or tool for whom the caller acts, as free text of the caller; nil when none was named.
  package var onBehalfOf: String?
  /// The reason, as free text of the caller.
  package var reason: String
  package var at: Milliseconds
  /// The catalog, for the hints that link (R73, R74).
  package var catalog: Catalog
  /// Its name is the author of the change.
  package var caller: AuditCaller
  /// Whether a token that a request bound to another account stays bound to it: the request to bind it
  /// is refused then (R90).
  package var keepsBoundTokens: Bool

  package init(
    scope: AppScope, change: Change, onBehalfOf: String? = nil, reason: String, at: Milliseconds,
    catalog: Catalog = Catalog(), caller: AuditCaller = .server, keepsBoundTokens: Bool = false
  ) {
    self.scope = scope
    self.change = change
    self.onBehalfOf = onBehalfOf
    self.reason = reason
    self.at = at
    self.catalog = catalog
    self.caller = caller
    self.keepsBoundTokens = keepsBoundTokens
  }
}

/// The outcome of a ``LinkRequest``.
package enum LinkAnswer: Hashable, Sendable {
  case done(LinkReceipt)
  case refused(LinkRefusal)
}

/// The outcome of a ``LinkRequest`` that was done, or had been done before.
package struct LinkReceipt: Hashable, Sendable {
  /// The targets whose account changed, chains before app transactions, then by id; empty when
  /// nothing changed.
  package var targets: [LinkTarget]
  /// The affected accounts and unlinked chains, with their revisions after the request.
  package var customers: [CustomerRevision]
  /// All customers whose facts or links changed. Their cached answers are out of date.
  package var changed: [CustomerSubject]
  /// As ``CommitReceipt/latest``.
  package var latest: Int64
  /// False when nothing had to be changed.
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

/// The reason why a ``LinkRequest`` was refused. Nothing was changed.
package enum LinkRefusal: Hashable, Sendable {
  /// Neither a fact nor a link of the target is known.
  case targetUnknown
  /// The account that is to lose the target, to be merged or to be deleted is not known.
  case accountUnknown
  /// The target belongs to another account than the request allows.
  case linkedElsewhere
  /// Both ids name the same account, perhaps by an earlier merge. A repeated merge is not refused.
  case sameAccount
  /// The account would have more chains than it may have (R68).
  case accountFull
}
