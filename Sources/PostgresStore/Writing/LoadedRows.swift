import EntitlementDomain
import EntitlementStore

/// Rows that were read ahead within a writing transaction that has locked them: what its ledger
/// decides by.
struct LoadedRows: LedgerReading, Sendable {
  /// A standing fact, with what the ledger does not ask for but the tables have by it.
  struct StoredFact: Sendable {
    var standing: StandingFact
    var hints: FactHints
  }

  /// What was loaded, found or not.
  private(set) var keys: Set<LedgerKey> = []
  var standingFacts: [ScopedFact: StoredFact] = [:]
  var links: [ScopedTarget: LinkRow] = [:]
  var accounts: [ScopedAccount: AccountRow] = [:]
  var tokens: [ScopedToken: AccountID] = [:]
  var hints: [ScopedTarget: [FactHintsRow]] = [:]
  var facts: [ScopedTarget: [Fact]] = [:]
  var unlinkedChains: [ScopedHint: [OriginalTransactionID]] = [:]
  var grants: [ScopedGrant: Grant] = [:]
  var holdings: [ScopedAccount: AccountHoldings] = [:]
  var notifications: Set<NotificationUUID> = []

  mutating func note(_ loaded: some Sequence<LedgerKey>) {
    keys.formUnion(loaded)
  }

  // MARK: LedgerReading

  func standingFact(_ fact: ScopedFact) throws -> StandingFact? {
    try require(.standingFact(fact))
    return standingFacts[fact]?.standing
  }

  func link(of target: ScopedTarget) throws -> LinkRow? {
    try require(.link(target))
    return links[target]
  }

  func account(_ account: ScopedAccount) throws -> AccountRow? {
    try require(.account(account))
    return accounts[account]
  }

  func account(of token: ScopedToken) throws -> AccountID? {
    try require(.token(token))
    return tokens[token]
  }

  func hints(of chain: OriginalTransactionID, in scope: AppScope) throws -> [FactHintsRow] {
    try require(.hints(scope, chain))
    return hints[ScopedTarget(scope, .chain(chain))] ?? []
  }

  func facts(of target: ScopedTarget) throws -> [Fact] {
    try require(.facts(target))
    return facts[target] ?? []
  }

  func unlinkedChains(with hint: ScopedHint) throws -> [OriginalTransactionID] {
    try require(.unlinkedChains(hint))
    return unlinkedChains[hint] ?? []
  }

  func grant(_ grant: ScopedGrant) throws -> Grant? {
    try require(.grant(grant))
    return grants[grant]
  }

  func holdings(of account: ScopedAccount) throws -> AccountHoldings {
    try require(.holdings(account))
    return holdings[account] ?? AccountHoldings()
  }

  func isKnown(_ notification: NotificationUUID) throws -> Bool {
    try require(.notification(notification))
    return notifications.contains(notification)
  }

  func willRead(_ needed: Set<LedgerKey>) throws {
    let missing = needed.subtracting(keys)
    if !missing.isEmpty { throw LedgerRowsMissing(missing) }
  }

  private func require(_ key: LedgerKey) throws {
    if !keys.contains(key) { throw LedgerRowsMissing(key) }
  }
}
