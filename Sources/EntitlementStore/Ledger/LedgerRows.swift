package import EntitlementDomain

// Rows as a ``Ledger`` reads them from a store. A store may have more columns.

/// The standing version of a fact, with the fields that a merge needs.
package struct StandingFact: Hashable, Sendable {
  /// The target of the standing version (R7).
  package var target: LinkTarget
  package var precedence: FactPrecedence
  /// The digest of the document that contains the fact; nil for a JWS.
  package var document: PayloadDigest?
  package var versions: StoredVersions
  /// The payload of the transaction if it may complete another form (R92), as that of a JWS cannot.
  package var payload: [UInt8]?
  /// The payload of a ``FactSupplement``.
  package var supplement: [UInt8]?

  package init(
    target: LinkTarget, precedence: FactPrecedence, document: PayloadDigest?,
    versions: StoredVersions, payload: [UInt8]? = nil, supplement: [UInt8]? = nil
  ) {
    self.target = target
    self.precedence = precedence
    self.document = document
    self.versions = versions
    self.payload = payload
    self.supplement = supplement
  }
}

/// The versions of a stored fact.
package enum StoredVersions: Hashable, Sendable {
  /// One version, signed once: the standing one, with this payload.
  case single(payload: [UInt8])
  case several(FactHistory)
}

extension StandingFact {
  /// - Throws: ``StoreError/Code/corrupt`` when the stored payload is not JSON.
  func history() throws(StoreError) -> FactHistory {
    switch versions {
    case .several(let history): return history
    case .single(let payload):
      return FactHistory(
        standing: try StatementDigest(of: payload, authority: precedence.authority),
        signedAt: precedence.signedDate)
    }
  }
}

/// The hints of one signed standing fact of a chain.
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

/// The link of a known chain or app transaction.
package struct LinkRow: Hashable, Sendable {
  /// Nil while it is unlinked.
  package var account: AccountID?
  /// True when the account was named with unsigned facts only. The link is not propagated.
  package var isUnsigned: Bool
  /// True when an operator unlinked it. Hints do not link it again.
  package var isDetached: Bool
  /// True when a signed transaction of another chain was once of this one (R7). It names the app of
  /// the chain (R55), also if no transaction is left in it.
  package var isFormerChain: Bool
  package var standing: LinkStanding
  /// The revision of the latest change as an unlinked chain; 0 when there was none.
  package var revision: Int64

  package init(
    account: AccountID? = nil, isUnsigned: Bool = false, isDetached: Bool = false,
    isFormerChain: Bool = false, standing: LinkStanding = .named, revision: Int64 = 0
  ) {
    self.account = account
    self.isUnsigned = isUnsigned
    self.isDetached = isDetached
    self.isFormerChain = isFormerChain
    self.standing = standing
    self.revision = revision
  }
}

/// What is known of an `appAccountToken` (R71).
package struct TokenRow: Hashable, Sendable {
  /// The account that it belongs to, or that was the first while it is ambiguous. Nil if that account
  /// was deleted; the token is ambiguous then.
  package var account: AccountID?
  package var state: AccountTokenState
  /// The caller that bound it; nil for other tokens.
  package var author: String?
  /// The person or tool for whom the author acted, and the reason, as free text of the request.
  package var onBehalfOf: String?
  package var note: String?
  /// When it got its state.
  package var since: Milliseconds

  package init(
    account: AccountID?, state: AccountTokenState = .learned, author: String? = nil,
    onBehalfOf: String? = nil, note: String? = nil, since: Milliseconds
  ) {
    self.account = account
    self.state = state
    self.author = author
    self.onBehalfOf = onBehalfOf
    self.note = note
    self.since = since
  }
}

/// A known account.
package struct AccountRow: Hashable, Sendable {
  /// The revision of the latest change; 0 when there was none.
  package var revision: Int64
  /// The account that it was merged into, which is never merged itself; nil when not merged.
  package var mergedInto: AccountID?
  /// True when it was deleted and not created again. The row stays as long as the feed contains the
  /// deletion, so that the revision does not decrease and the claim limit is not reset.
  package var isDeleted: Bool
  /// The claims that were granted (R44) since ``claimsSince``, within one ``ClaimWindow``.
  package var claims: Int
  /// The time of the first granted claim; nil when there was none.
  package var claimsSince: Milliseconds?
  /// How many chains are linked to it (R68).
  package var chains: Int

  package init(
    revision: Int64 = 0, mergedInto: AccountID? = nil, isDeleted: Bool = false, claims: Int = 0,
    claimsSince: Milliseconds? = nil, chains: Int = 0
  ) {
    self.revision = revision
    self.mergedInto = mergedInto
    self.isDeleted = isDeleted
    self.claims = claims
    self.claimsSince = claimsSince
    self.chains = chains
  }
}

/// Everything that moves with a merged account, or goes with a deleted one.
package struct AccountHoldings: Hashable, Sendable {
  /// Linked chains, then linked app transactions, each in the order of their ids.
  package var targets: [LinkTarget]
  package var tokens: [AppAccountToken]
  /// Withdrawn ones included.
  package var grants: [Grant]
  /// The accounts that were merged into it.
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

  /// The rows that a move of everything reads. Tokens and grants are included, so that a store that
  /// locks the rows it loads also locks these. A write that reads the account of a token or grant
  /// has locked that row and not the account.
  func keys(in scope: AppScope) -> Set<LedgerKey> {
    var keys: Set<LedgerKey> = []
    for target in targets { keys.insert(.link(ScopedTarget(scope, target))) }
    for token in tokens { keys.insert(.token(ScopedToken(scope, token))) }
    for grant in grants { keys.insert(.grant(ScopedGrant(scope, grant.id))) }
    for name in merged { keys.insert(.account(ScopedAccount(scope, name))) }
    return keys
  }
}
