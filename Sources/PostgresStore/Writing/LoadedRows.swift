import EntitlementDomain
import EntitlementStore

/// The rows that a writing transaction has locked and loaded. Its ledger reads only these.
struct LoadedRows: LedgerReading, Sendable {
  /// Keys that were loaded, whether or not there was a row.
  private(set) var keys: Set<LedgerKey> = []
  var standingFacts: [ScopedFact: StandingFact] = [:]
  /// The payloads of these, without those of app transactions.
  var standingPayloads: [ScopedFact: StoredFactPayload] = [:]
  var links: [ScopedTarget: LinkRow] = [:]
  var events: [ScopedTarget: [LinkEvent]] = [:]
  var refusedClaims: [RefusedClaim.Key: Milliseconds] = [:]
  var accounts: [ScopedAccount: AccountRow] = [:]
  var tokens: [ScopedToken: TokenRow] = [:]
  var hints: [ScopedTarget: [FactHintsRow]] = [:]
  var facts: [ScopedTarget: [Fact]] = [:]
  var unlinkedChains: [ScopedHint: [OriginalTransactionID]] = [:]
  var grants: [ScopedGrant: Grant] = [:]
  var holdings: [ScopedAccount: AccountHoldings] = [:]
  var notifications: Set<NotificationUUID> = []
  var jobs: [AppStoreJobKey: AppStoreJob] = [:]
  var consumption: [ConsumptionKey: ConsumptionRecord] = [:]
  var consents: [ScopedAccount: ConsumptionConsent] = [:]

  mutating func markLoaded(_ loaded: Set<LedgerKey>) {
    if keys.isEmpty { keys = loaded } else { keys.formUnion(loaded) }
  }

  // MARK: LedgerReading

  func standingFact(_ fact: ScopedFact) throws -> StandingFact? {
    try require(.standingFact(fact))
    return standingFacts[fact]
  }

  func link(of target: ScopedTarget) throws -> LinkRow? {
    try require(.link(target))
    return links[target]
  }

  func events(of target: ScopedTarget) throws -> [LinkEvent] {
    try require(.events(target))
    return events[target] ?? []
  }

  func refusedClaim(_ key: RefusedClaim.Key) throws -> Milliseconds? {
    try require(.refusedClaim(key))
    return refusedClaims[key]
  }

  func account(_ account: ScopedAccount) throws -> AccountRow? {
    try require(.account(account))
    return accounts[account]
  }

  func token(_ token: ScopedToken) throws -> TokenRow? {
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

  func job(_ reference: AppStoreJobReference) throws -> AppStoreJob? {
    guard case .key(let key) = reference else {
      // `PostgresStore.change` looks up the key.
      throw StoreError(.internalFault, "a ledger reads a job by its id")
    }
    try require(.job(key))
    return jobs[key]
  }

  func consumption(_ key: ConsumptionKey) throws -> ConsumptionRecord? {
    try require(.consumption(key))
    return consumption[key]
  }

  func consent(of account: ScopedAccount) throws -> ConsumptionConsent? {
    try require(.consent(account))
    return consents[account]
  }

  func willRead(_ needed: Set<LedgerKey>) throws {
    let missing = needed.subtracting(keys)
    if !missing.isEmpty { throw LedgerRowsMissing(missing) }
  }

  private func require(_ key: LedgerKey) throws {
    if !keys.contains(key) { throw LedgerRowsMissing(key) }
  }
}
