package import EntitlementDomain

// Rows as a ``Ledger`` reads them from a store. What else a store keeps of them is its own affair.

/// The standing version of a fact, as far as merging needs it.
package struct StandingFact: Hashable, Sendable {
  /// What the standing version speaks of (R7).
  package var target: LinkTarget
  package var precedence: FactPrecedence
  /// The SHA-256 of the document that the fact came out of; nil for a JWS.
  package var document: PayloadDigest?

  package init(target: LinkTarget, precedence: FactPrecedence, document: PayloadDigest?) {
    self.target = target
    self.precedence = precedence
    self.document = document
  }
}

/// The hints of one standing fact of a chain that Apple signed.
package struct FactHintsRow: Hashable, Sendable {
  package var fact: FactKey
  package var signedDate: Milliseconds
  package var digest: PayloadDigest
  package var hints: FactHints

  package init(
    fact: FactKey, signedDate: Milliseconds, digest: PayloadDigest, hints: FactHints
  ) {
    self.fact = fact
    self.signedDate = signedDate
    self.digest = digest
    self.hints = hints
  }
}

/// A chain, or an app transaction id, that is known: whose it is.
package struct LinkRow: Hashable, Sendable {
  /// Nil while no account has it.
  package var account: AccountID?
  /// Nobody signed what the account was named with: the link leads nothing else to it.
  package var isUnsigned: Bool
  /// An operator took it from its account: hints do not lead it to one.
  package var isDetached: Bool
  /// Of the latest change as an unlinked chain; 0 when there was none.
  package var revision: Int64

  package init(
    account: AccountID? = nil, isUnsigned: Bool = false, isDetached: Bool = false,
    revision: Int64 = 0
  ) {
    self.account = account
    self.isUnsigned = isUnsigned
    self.isDetached = isDetached
    self.revision = revision
  }
}

/// An account that is known.
package struct AccountRow: Hashable, Sendable {
  /// Of the latest change; 0 when there was none.
  package var revision: Int64
  /// The account that it was merged into, which is never merged itself; nil for most.
  package var mergedInto: AccountID?
  /// It was deleted, and nothing has been heard of it since: the row keeps its revision from going
  /// backwards, and its claims from being granted anew, for as long as the feed tells of the
  /// deletion.
  package var isDeleted: Bool
  /// Claims of others' purchases that were granted (R44) since `claimsSince`, within one
  /// ``ClaimWindow``.
  package var claims: Int
  /// When the first of them was granted; nil when there was none.
  package var claimsSince: Milliseconds?

  package init(
    revision: Int64 = 0, mergedInto: AccountID? = nil, isDeleted: Bool = false, claims: Int = 0,
    claimsSince: Milliseconds? = nil
  ) {
    self.revision = revision
    self.mergedInto = mergedInto
    self.isDeleted = isDeleted
    self.claims = claims
    self.claimsSince = claimsSince
  }
}

/// Everything that moves or goes with an account.
package struct AccountHoldings: Hashable, Sendable {
  /// Chains and app transactions that are linked to it, in the order of chains before app
  /// transactions, then of their ids.
  package var targets: [LinkTarget]
  package var tokens: [AppAccountToken]
  /// Withdrawn ones included.
  package var grants: [Grant]
  /// Accounts that were merged into it.
  package var merged: [AccountID]

  package init(
    targets: [LinkTarget] = [], tokens: [AppAccountToken] = [], grants: [Grant] = [],
    merged: [AccountID] = []
  ) {
    self.targets = targets
    self.tokens = tokens
    self.grants = grants
    self.merged = merged
  }

  /// The rows that moving all of it reads. Tokens and grants are among them, so that a store that locks
  /// what it loads has their locks: whoever reads whose they are holds these, not that of the account.
  func keys(in scope: AppScope) -> Set<LedgerKey> {
    var keys: Set<LedgerKey> = []
    for target in targets { keys.insert(.link(ScopedTarget(scope, target))) }
    for token in tokens { keys.insert(.token(ScopedToken(scope, token))) }
    for grant in grants { keys.insert(.grant(ScopedGrant(scope, grant.id))) }
    for name in merged { keys.insert(.account(ScopedAccount(scope, name))) }
    return keys
  }
}
