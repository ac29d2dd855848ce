import EntitlementDomain
import EntitlementStore

/// A reader like a store that loads rows before it runs a ledger, and reads only these rows.
struct ReadAheadReader: LedgerReading {
  let model: ModelStore
  /// Whether it loads the rows that the ledger announces.
  var isForesighted = true
  private var loaded: Set<LedgerKey> = []

  init(_ model: ModelStore, isForesighted: Bool = true) {
    self.model = model
    self.isForesighted = isForesighted
  }

  /// Loads the account with a link, and with an account the one that it was merged into.
  mutating func load(_ keys: Set<LedgerKey>) {
    for key in keys {
      loaded.insert(key)
      switch key {
      case .link(let target):
        if let account = model.link(of: target)?.account {
          load([.account(ScopedAccount(target.scope, account))])
        }
      case .account(let account):
        if let other = model.account(account)?.mergedInto {
          loaded.insert(.account(ScopedAccount(account.scope, other)))
        }
      default: break
      }
    }
  }

  func willRead(_ keys: Set<LedgerKey>) throws {
    guard isForesighted else { return }
    let missing = keys.subtracting(loaded)
    if !missing.isEmpty { throw LedgerRowsMissing(missing) }
  }

  private func need(_ key: LedgerKey) throws {
    if !loaded.contains(key) { throw LedgerRowsMissing(key) }
  }

  func standingFact(_ fact: ScopedFact) throws -> StandingFact? {
    try need(.standingFact(fact))
    return model.standingFact(fact)
  }

  func link(of target: ScopedTarget) throws -> LinkRow? {
    try need(.link(target))
    return model.link(of: target)
  }

  func events(of target: ScopedTarget) throws -> [LinkEvent] {
    try need(.events(target))
    return model.events(of: target)
  }

  func refusedClaim(_ key: RefusedClaim.Key) throws -> Milliseconds? {
    try need(.refusedClaim(key))
    return model.refusedClaim(key)
  }

  func account(_ account: ScopedAccount) throws -> AccountRow? {
    try need(.account(account))
    return model.account(account)
  }

  func token(_ token: ScopedToken) throws -> TokenRow? {
    try need(.token(token))
    return model.token(token)
  }

  func hints(of chain: OriginalTransactionID, in scope: AppScope) throws -> [FactHintsRow] {
    try need(.hints(scope, chain))
    return model.hints(of: chain, in: scope)
  }

  func facts(of target: ScopedTarget) throws -> [Fact] {
    try need(.facts(target))
    return model.facts(of: target)
  }

  func unlinkedChains(with hint: ScopedHint) throws -> [OriginalTransactionID] {
    try need(.unlinkedChains(hint))
    return model.unlinkedChains(with: hint)
  }

  func grant(_ grant: ScopedGrant) throws -> Grant? {
    try need(.grant(grant))
    return model.grant(grant)
  }

  func holdings(of account: ScopedAccount) throws -> AccountHoldings {
    try need(.holdings(account))
    return model.holdings(of: account)
  }

  func isKnown(_ notification: NotificationUUID) throws -> Bool {
    try need(.notification(notification))
    return model.isKnown(notification)
  }

  func job(_ reference: AppStoreJobReference) throws -> AppStoreJob? {
    if case .key(let key) = reference { try need(.job(key)) }
    return model.job(reference)
  }

  func consumption(_ key: ConsumptionKey) throws -> ConsumptionRecord? {
    try need(.consumption(key))
    return model.consumption(key)
  }

  func consent(of account: ScopedAccount) throws -> ConsumptionConsent? {
    try need(.consent(account))
    return model.consent(of: account)
  }
}

/// The work of a store that reads ahead.
struct ReadAheadRun {
  var outcomes: [ModelWrite.Outcome?]
  var changes: LedgerChanges
  /// The number of loads after the load of the expected rows.
  var extraRounds: Int

  /// Runs all writes in one ledger, and again from the start after each load.
  ///
  /// - Parameter model: the stored rows before the writes.
  init(_ writes: [ModelWrite], over model: ModelStore, isForesighted: Bool = true) throws {
    var reader = ReadAheadReader(model, isForesighted: isForesighted)
    reader.load(writes.reduce(into: []) { $0.formUnion($1.expectedKeys) })
    extraRounds = 0
    while true {
      do {
        var ledger = Ledger(reader: reader)
        let decided = try writes.map { write in try ledger.take(write) }
        changes = ledger.changes
        let numbering = ChangeNumbering(base: model.feedEnd)
        outcomes = decided.map { $0?(numbering) }
        return
      } catch let missing as LedgerRowsMissing {
        reader.load(missing.keys)
        extraRounds += 1
      }
    }
  }
}

extension Ledger {
  /// - Returns: nil for a refused write, which changes nothing.
  mutating func take(_ write: ModelWrite) throws
    -> (@Sendable (ChangeNumbering) -> ModelWrite.Outcome)?
  {
    do {
      return try write.decide(in: &self)
    } catch is StoreError {
      return nil
    }
  }
}
