package import EntitlementDomain

/// The stored rows that a ``Ledger`` reads, within one transaction. No other transaction changes
/// the same rows meanwhile.
///
/// A store that loads rows ahead throws ``LedgerRowsMissing`` for rows that it has not loaded, and
/// runs the ledger again from the start after loading them. A ledger therefore has no side effects.
package protocol LedgerReading {
  /// Nil for an unknown fact.
  func standingFact(_ fact: ScopedFact) throws -> StandingFact?
  /// Nil for an unknown target.
  func link(of target: ScopedTarget) throws -> LinkRow?
  /// The latest ``ClaimHistory/eventLimit`` events of a target, oldest first. One that no more than
  /// linked a target without an account may be missing.
  func events(of target: ScopedTarget) throws -> [LinkEvent]
  /// When the kept claim of an account on a target was refused; nil without one.
  func refusedClaim(_ key: RefusedClaim.Key) throws -> Milliseconds?
  /// Nil for an unknown account.
  func account(_ account: ScopedAccount) throws -> AccountRow?
  /// Nil for an unknown token.
  func token(_ token: ScopedToken) throws -> TokenRow?
  /// The hints of the signed standing facts of a chain, newest first, then by descending digest.
  func hints(of chain: OriginalTransactionID, in scope: AppScope) throws -> [FactHintsRow]
  /// All standing facts of a chain or app transaction.
  func facts(of target: ScopedTarget) throws -> [Fact]
  /// The unlinked chains with a standing fact that carries the hint, in the order of their ids.
  /// Chains that ignore hints may be included; the ledger filters them.
  func unlinkedChains(with hint: ScopedHint) throws -> [OriginalTransactionID]
  /// Nil for an unknown grant.
  func grant(_ grant: ScopedGrant) throws -> Grant?
  func holdings(of account: ScopedAccount) throws -> AccountHoldings
  func isKnown(_ notification: NotificationUUID) throws -> Bool
  /// Nil for an unknown job. A store that loads rows ahead knows jobs by their keys only.
  func job(_ reference: AppStoreJobReference) throws -> AppStoreJob?
  /// Nil when nothing is stored about the purchase.
  func consumption(_ key: ConsumptionKey) throws -> ConsumptionRecord?
  /// Nil when nothing is recorded of the account.
  func consent(of account: ScopedAccount) throws -> ConsumptionConsent?
  /// Announces the next reads. A store that loads rows ahead throws ``LedgerRowsMissing`` for those
  /// that are not loaded, so that one round trip loads them. Other stores do nothing.
  func willRead(_ keys: Set<LedgerKey>) throws
}

extension LedgerReading {
  package func willRead(_ keys: Set<LedgerKey>) throws {}
}

/// A ledger needs rows that were not loaded ahead.
package struct LedgerRowsMissing: Error, Hashable, Sendable {
  package let keys: Set<LedgerKey>

  package init(_ keys: Set<LedgerKey>) {
    self.keys = keys
  }

  package init(_ key: LedgerKey) {
    self.init([key])
  }
}
