import EntitlementDomain
import EntitlementStore

/// Reads a book as a store does that loads rows before it runs a ledger, and has nothing else.
struct ReadAheadReader: LedgerReading {
  let book: Book
  /// Whether it heeds what the ledger says that it will read.
  var isForesighted = true
  private var loaded: Set<LedgerKey> = []

  init(_ book: Book, isForesighted: Bool = true) {
    self.book = book
    self.isForesighted = isForesighted
  }

  /// With a link its account, and with an account that which it was merged into.
  mutating func load(_ keys: Set<LedgerKey>) {
    for key in keys {
      loaded.insert(key)
      switch key {
      case .link(let target):
        if let account = book.link(of: target)?.account {
          load([.account(ScopedAccount(target.scope, account))])
        }
      case .account(let account):
        if let other = book.account(account)?.mergedInto {
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
    return book.standingFact(fact)
  }

  func link(of target: ScopedTarget) throws -> LinkRow? {
    try need(.link(target))
    return book.link(of: target)
  }

  func account(_ account: ScopedAccount) throws -> AccountRow? {
    try need(.account(account))
    return book.account(account)
  }

  func account(of token: ScopedToken) throws -> AccountID? {
    try need(.token(token))
    return book.account(of: token)
  }

  func hints(of chain: OriginalTransactionID, in scope: AppScope) throws -> [FactHintsRow] {
    try need(.hints(scope, chain))
    return book.hints(of: chain, in: scope)
  }

  func facts(of target: ScopedTarget) throws -> [Fact] {
    try need(.facts(target))
    return book.facts(of: target)
  }

  func unlinkedChains(with hint: ScopedHint) throws -> [OriginalTransactionID] {
    try need(.unlinkedChains(hint))
    return book.unlinkedChains(with: hint)
  }

  func grant(_ grant: ScopedGrant) throws -> Grant? {
    try need(.grant(grant))
    return book.grant(grant)
  }

  func holdings(of account: ScopedAccount) throws -> AccountHoldings {
    try need(.holdings(account))
    return book.holdings(of: account)
  }

  func isKnown(_ notification: NotificationUUID) throws -> Bool {
    try need(.notification(notification))
    return book.isKnown(notification)
  }
}

/// What a store did that reads ahead.
struct ReadAheadRun {
  var outcomes: [BookWrite.Outcome?]
  var changes: LedgerChanges
  /// How often rows were loaded after those that were expected.
  var extraRounds: Int

  /// Takes all writes in one ledger, from the start again after each round of loading.
  ///
  /// - Parameter book: what is stored before.
  init(_ writes: [BookWrite], over book: Book, isForesighted: Bool = true) throws {
    var reader = ReadAheadReader(book, isForesighted: isForesighted)
    reader.load(writes.reduce(into: []) { $0.formUnion($1.expectedKeys) })
    extraRounds = 0
    while true {
      do {
        var ledger = Ledger(reader: reader)
        let decided = try writes.map { write in try ledger.take(write) }
        changes = ledger.changes
        let numbering = ChangeNumbering(base: book.feedEnd)
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
  /// - Returns: nil for a write that cannot be done, and changes nothing.
  mutating func take(_ write: BookWrite) throws
    -> (@Sendable (ChangeNumbering) -> BookWrite.Outcome)?
  {
    do {
      return try write.decide(in: &self)
    } catch is StoreError {
      return nil
    }
  }
}
