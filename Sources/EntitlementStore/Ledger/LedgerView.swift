import EntitlementDomain

/// What a ledger sees: what its reader has stored, and upon that what was changed since. So a write
/// sees those before it.
struct LedgerView<Reader: LedgerReading> {
  let reader: Reader
  /// Of the writes that are decided.
  private(set) var settled = LedgerLayer()
  /// Of the one under way.
  private(set) var pending = LedgerLayer()

  init(reader: Reader) {
    self.reader = reader
  }

  /// The write under way is decided.
  mutating func settle() {
    // Mostly the only one.
    if settled.changes.isEmpty { settled = pending } else { settled.absorb(pending) }
    pending = LedgerLayer()
  }

  /// Forgets the write under way.
  mutating func discard() {
    pending = LedgerLayer()
  }

  // MARK: Links

  func link(of target: ScopedTarget) throws -> LinkRow? {
    if let write = changedLink(target) { return write.row }
    return try reader.link(of: target)
  }

  /// Changes a row, or makes it.
  mutating func updateLink(
    of target: ScopedTarget, at: Milliseconds, ordinal: Int? = nil,
    _ change: (inout LinkRow) -> Void = { _ in }
  ) throws {
    var write: LinkWrite
    if let changed = changedLink(target) {
      write = changed
    } else {
      let stored = try reader.link(of: target)
      write = LinkWrite(
        row: stored ?? LinkRow(), storedAccount: stored?.account, isNew: stored == nil,
        changedAt: at)
    }
    change(&write.row)
    if let ordinal {
      write.changeOrdinal = ordinal
      write.changedAt = at
    }
    pending.write(write, of: target)
  }

  func changedLink(_ target: ScopedTarget) -> LinkWrite? {
    pending.changes.links[target] ?? settled.changes.links[target]
  }

  mutating func append(_ event: LinkEventWrite) {
    pending.changes.linkEvents.append(event)
  }

  // MARK: Accounts

  func account(_ account: ScopedAccount) throws -> AccountRow? {
    if let write = changedAccount(account) { return write.row }
    return try reader.account(account)
  }

  /// Changes a row, or makes it.
  mutating func updateAccount(
    _ account: ScopedAccount, at: Milliseconds, ordinal: Int? = nil,
    _ change: (inout AccountRow) -> Void = { _ in }
  ) throws {
    var write: AccountWrite
    if let changed = changedAccount(account) {
      write = changed
    } else {
      let stored = try reader.account(account)
      write = AccountWrite(row: stored ?? AccountRow(), isNew: stored == nil, changedAt: at)
    }
    change(&write.row)
    if let ordinal {
      write.changeOrdinal = ordinal
      write.changedAt = at
    }
    pending.changes.accounts[account] = write
  }

  private func changedAccount(_ account: ScopedAccount) -> AccountWrite? {
    pending.changes.accounts[account] ?? settled.changes.accounts[account]
  }

  mutating func erase(_ accounts: Set<ScopedAccount>) {
    pending.changes.erasedAccounts.formUnion(accounts)
  }

  // MARK: Tokens and grants

  func account(of token: ScopedToken) throws -> AccountID? {
    if let changed = pending.changes.tokens[token] { return changed }
    if let changed = settled.changes.tokens[token] { return changed }
    return try reader.account(of: token)
  }

  mutating func setAccount(_ account: AccountID?, of token: ScopedToken) {
    pending.changes.tokens.updateValue(account, forKey: token)
  }

  func grant(_ grant: ScopedGrant) throws -> Grant? {
    if let changed = pending.changes.grants[grant] { return changed }
    if let changed = settled.changes.grants[grant] { return changed }
    return try reader.grant(grant)
  }

  mutating func setGrant(_ grant: Grant?, of id: ScopedGrant) {
    pending.changes.grants.updateValue(grant, forKey: id)
  }

  // MARK: Notifications

  func isKnown(_ notification: NotificationUUID) throws -> Bool {
    if pending.knownNotifications.contains(notification) { return true }
    if settled.knownNotifications.contains(notification) { return true }
    return try reader.isKnown(notification)
  }

  mutating func write(_ notification: NotificationWrite) {
    pending.write(notification)
  }

  // MARK: Facts

  func changedFact(_ fact: ScopedFact) -> FactWrite? {
    pending.changes.facts[fact] ?? settled.changes.facts[fact]
  }

  func standingFact(_ fact: ScopedFact) throws -> StandingFact? {
    guard let changed = changedFact(fact) else { return try reader.standingFact(fact) }
    // Its document is not stored yet, and will not be when another version replaces it.
    return StandingFact(
      target: changed.target, precedence: changed.signed.fact.precedence, document: nil)
  }

  /// - Parameter known: the version that it replaces; nil when there was none.
  mutating func write(_ signed: SignedFact, replacing known: StandingFact?) {
    let fact = signed.fact
    let changed = changedFact(ScopedFact(fact.scope, fact.key))
    pending.write(
      FactWrite(
        signed: signed, target: fact.target, hints: FactHints(fact),
        storedTarget: changed.map(\.storedTarget) ?? known?.target),
      formerTarget: known?.target)
    if let document = known?.document { pending.changes.releasedDocuments.insert(document) }
  }

  // MARK: The feed

  /// - Returns: its ordinal.
  mutating func append(_ change: ChangeWrite) -> Int {
    pending.changes.changes.append(change)
    return settled.changes.changes.count + pending.changes.changes.count
  }

  func revision(of subject: CustomerSubject) throws -> LedgerRevision {
    switch subject {
    case .account(let scope, let id):
      let account = ScopedAccount(scope, id)
      if let ordinal = changedAccount(account)?.changeOrdinal { return .change(ordinal) }
      return .stored(try self.account(account)?.revision ?? 0)
    case .unlinkedChain(let scope, let chain):
      let target = ScopedTarget(scope, .chain(chain))
      if let ordinal = changedLink(target)?.changeOrdinal { return .change(ordinal) }
      return .stored(try link(of: target)?.revision ?? 0)
    }
  }
}
