package import EntitlementDomain

/// Where a ``Ledger`` reads what is stored, within one transaction that nothing else changes the
/// same rows of.
///
/// A store that reads ahead instead of on demand throws ``LedgerRowsMissing`` for what it has not
/// loaded, and runs the ledger again from the start when it has. So a ledger has no effect but its
/// changes.
package protocol LedgerReading {
  /// Nil when the fact is not known.
  func standingFact(_ fact: ScopedFact) throws -> StandingFact?
  /// Nil when nothing is known of it.
  func link(of target: ScopedTarget) throws -> LinkRow?
  /// Nil when nothing is known of it.
  func account(_ account: ScopedAccount) throws -> AccountRow?
  /// The account that the token is known for.
  func account(of token: ScopedToken) throws -> AccountID?
  /// Of the standing facts of a chain that Apple signed, newest first, then by digest, the greatest
  /// first.
  func hints(of chain: OriginalTransactionID, in scope: AppScope) throws -> [FactHintsRow]
  /// Every standing fact of a chain, or that of an app transaction.
  func facts(of target: ScopedTarget) throws -> [Fact]
  /// The chains without an account a standing fact of which carries the hint, in the order of their
  /// ids. Chains that hints do not lead to an account may be among them: the ledger tells them
  /// apart.
  func unlinkedChains(with hint: ScopedHint) throws -> [OriginalTransactionID]
  /// Nil when no grant has the id.
  func grant(_ grant: ScopedGrant) throws -> Grant?
  func holdings(of account: ScopedAccount) throws -> AccountHoldings
  func isKnown(_ notification: NotificationUUID) throws -> Bool
  /// Says what will be read next. A store that reads ahead throws ``LedgerRowsMissing`` with all of
  /// it that it has not loaded, so that it is loaded at once; others have nothing to do.
  func willRead(_ keys: Set<LedgerKey>) throws
}

extension LedgerReading {
  package func willRead(_ keys: Set<LedgerKey>) throws {}
}

/// A ledger asked for what was not loaded ahead.
package struct LedgerRowsMissing: Error, Hashable, Sendable {
  package let keys: Set<LedgerKey>

  package init(_ keys: Set<LedgerKey>) {
    self.keys = keys
  }

  package init(_ key: LedgerKey) {
    self.init([key])
  }
}

/// One thing that a ``Ledger`` reads: a case for each method of ``LedgerReading``.
package enum LedgerKey: Hashable, Sendable {
  case standingFact(ScopedFact)
  case link(ScopedTarget)
  case account(ScopedAccount)
  case token(ScopedToken)
  case hints(AppScope, OriginalTransactionID)
  case facts(ScopedTarget)
  case unlinkedChains(ScopedHint)
  case grant(ScopedGrant)
  case holdings(ScopedAccount)
  case notification(NotificationUUID)
}
