import EntitlementDomain

/// The rows that a ledger sees: the stored ones, overlaid with the changes of earlier writes and of
/// the current one.
struct LedgerView<Reader: LedgerReading> {
  let reader: Reader
  /// Changes of the completed writes.
  private(set) var applied = LedgerLayer()
  /// Changes of the current write.
  private(set) var pending = LedgerLayer()

  init(reader: Reader) {
    self.reader = reader
  }

  /// Completes the current write.
  mutating func apply() {
    // Usually the only write of its transaction, so the merge is skipped.
    if applied.changes.isEmpty { applied = pending } else { applied.absorb(pending) }
    pending = LedgerLayer()
  }

  /// Discards the changes of the current write.
  mutating func discard() {
    pending = LedgerLayer()
  }

  // MARK: Links

  func link(of target: ScopedTarget) throws -> LinkRow? {
    if let write = changedLink(target) { return write.row }
    return try reader.link(of: target)
  }

  /// Updates a row, or inserts it.
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
    pending.changes.links[target] ?? applied.changes.links[target]
  }

  /// The latest events of a target, oldest first. One that only linked it may be missing.
  func events(of target: ScopedTarget) throws -> [LinkEvent] {
    let added = [applied, pending].flatMap(\.changes.linkEvents)
    return try reader.events(of: target) + added.filter { $0.target == target }.map(\.event)
  }

  mutating func append(_ event: LinkEventWrite) {
    pending.changes.linkEvents.append(event)
  }

  /// When the kept claim of an account on a target was refused; nil without one.
  func refusedClaim(_ key: RefusedClaim.Key) throws -> Milliseconds? {
    let changed = pending.changes.refusedClaims[key] ?? applied.changes.refusedClaims[key]
    return try changed?.at ?? reader.refusedClaim(key)
  }

  mutating func write(_ claim: RefusedClaim) {
    pending.changes.refusedClaims[claim.key] = claim
  }

  // MARK: Accounts

  func account(_ account: ScopedAccount) throws -> AccountRow? {
    if let write = changedAccount(account) { return write.row }
    return try reader.account(account)
  }

  /// Updates a row, or inserts it.
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
    pending.changes.accounts[account] ?? applied.changes.accounts[account]
  }

  mutating func erase(_ accounts: Set<ScopedAccount>) {
    pending.changes.erasedAccounts.formUnion(accounts)
  }

  // MARK: The audit trail

  mutating func append(_ call: AuditCall) {
    pending.changes.audits.append(call)
  }

  // MARK: Tokens and grants

  func token(_ token: ScopedToken) throws -> TokenRow? {
    if let changed = pending.changes.tokens[token] { return changed }
    if let changed = applied.changes.tokens[token] { return changed }
    return try reader.token(token)
  }

  mutating func setToken(_ row: TokenRow?, of token: ScopedToken) {
    pending.changes.tokens.updateValue(row, forKey: token)
  }

  func grant(_ grant: ScopedGrant) throws -> Grant? {
    if let changed = pending.changes.grants[grant] { return changed }
    if let changed = applied.changes.grants[grant] { return changed }
    return try reader.grant(grant)
  }

  mutating func setGrant(_ grant: Grant?, of id: ScopedGrant) {
    pending.changes.grants.updateValue(grant, forKey: id)
  }

  // MARK: Jobs

  func job(_ reference: AppStoreJobReference) throws -> AppStoreJob? {
    for layer in [pending, applied] {
      switch reference {
      case .key(let key):
        if let job = layer.changes.jobs[key] { return job }
      case .id(let id):
        if let job = layer.changes.jobs.values.first(where: { $0.id == id }) { return job }
      }
    }
    return try reader.job(reference)
  }

  mutating func write(_ job: AppStoreJob) {
    pending.changes.jobs[job.key] = job
  }

  // MARK: Consumption

  func consumption(_ key: ConsumptionKey) throws -> ConsumptionRecord? {
    if let changed = pending.changes.consumption[key] { return changed }
    if let changed = applied.changes.consumption[key] { return changed }
    return try reader.consumption(key)
  }

  mutating func write(_ record: ConsumptionRecord) {
    pending.changes.consumption[record.key] = record
  }

  func consent(of account: ScopedAccount) throws -> ConsumptionConsent? {
    if let changed = pending.changes.consents[account] { return changed }
    if let changed = applied.changes.consents[account] { return changed }
    return try reader.consent(of: account)
  }

  mutating func setConsent(_ consent: ConsumptionConsent?, of account: ScopedAccount) {
    pending.changes.consents.updateValue(consent, forKey: account)
  }

  // MARK: Notifications

  func isKnown(_ notification: NotificationUUID) throws -> Bool {
    if pending.knownNotifications.contains(notification) { return true }
    if applied.knownNotifications.contains(notification) { return true }
    return try reader.isKnown(notification)
  }

  mutating func write(_ notification: NotificationWrite) {
    pending.write(notification)
  }

  // MARK: Facts

  func changedFact(_ fact: ScopedFact) -> FactWrite? {
    pending.changes.facts[fact] ?? applied.changes.facts[fact]
  }

  func standingFact(_ fact: ScopedFact) throws -> StandingFact? {
    guard let changed = changedFact(fact) else {
      var standing = try reader.standingFact(fact)
      if let write = changedHistory(fact) {
        standing?.versions = .several(write.history)
        standing?.supplement = write.supplement
      }
      return standing
    }
    // Its document is not stored yet, and is never stored if another version replaces it.
    return StandingFact(
      target: changed.target, precedence: changed.signed.fact.precedence, document: nil,
      versions: changed.history.map { .several($0) }
        ?? .single(payload: changed.signed.signed.payload),
      payload: changed.signed.signed.payload, supplement: changed.supplement)
  }

  var hasChangedHistories: Bool {
    !pending.changes.histories.isEmpty || !applied.changes.histories.isEmpty
  }

  func changedHistory(_ fact: ScopedFact) -> HistoryWrite? {
    pending.changes.histories[fact] ?? applied.changes.histories[fact]
  }

  /// - Parameters:
  ///   - known: the version that it replaces; nil when there was none.
  ///   - history: nil for the first version.
  ///   - supplement: the payload of a ``FactSupplement``.
  mutating func write(
    _ signed: SignedFact, replacing known: StandingFact?, history: FactHistory? = nil,
    supplement: [UInt8]? = nil
  ) {
    let fact = signed.fact
    let changed = changedFact(ScopedFact(fact.scope, fact.key))
    pending.write(
      FactWrite(
        signed: signed, target: fact.target, hints: FactHints(fact),
        storedTarget: changed.map(\.storedTarget) ?? known?.target,
        history: history.flatMap { $0.isSingle ? nil : $0 }, supplement: supplement),
      formerTarget: known?.target)
    if let document = known?.document { pending.changes.releasedDocuments.insert(document) }
  }

  /// Updates the history and the supplement of a fact whose standing version stays.
  mutating func write(
    _ history: FactHistory, supplement: [UInt8]?, of fact: ScopedFact, target: LinkTarget
  ) {
    if var write = changedFact(fact) {
      write.history = history
      write.supplement = supplement
      pending.write(write, formerTarget: nil)
    } else {
      pending.changes.histories[fact] = HistoryWrite(
        target: target, history: history, supplement: supplement)
    }
  }

  mutating func updateVersions(
    of fact: ScopedFact, from before: FactHistory, to after: FactHistory,
    adding statement: StatementDigest, _ signed: SignedFact
  ) {
    if before.others == after.others { return }
    var write =
      pending.changes.versions[fact] ?? applied.changes.versions[fact] ?? VersionsWrite()
    write.update(
      from: before, to: after, adding: statement, signed, standing: changedFact(fact)?.signed)
    pending.changes.versions[fact] = write
  }

  // MARK: The feed

  /// - Returns: its ordinal.
  mutating func append(_ change: ChangeWrite) -> Int {
    pending.changes.changes.append(change)
    return applied.changes.changes.count + pending.changes.changes.count
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

/// Changes with indexes for lookups.
struct LedgerLayer {
  var changes = LedgerChanges()
  /// The changed facts whose target is or was the key.
  private(set) var factsOfTargets: [ScopedTarget: Set<FactKey>] = [:]
  /// The chains with a changed signed fact that carries or carried the hint.
  private(set) var chainsOfHints: [ScopedHint: Set<OriginalTransactionID>] = [:]
  /// The chains that lost their account in these changes.
  private(set) var lostChains: [AppScope: Set<OriginalTransactionID>] = [:]
  private(set) var knownNotifications: Set<NotificationUUID> = []

  mutating func write(_ write: FactWrite, formerTarget: LinkTarget?) {
    let fact = write.signed.fact
    let scope = fact.scope
    changes.facts[ScopedFact(scope, fact.key)] = write
    factsOfTargets[ScopedTarget(scope, write.target), default: []].insert(fact.key)
    if let formerTarget, formerTarget != write.target {
      factsOfTargets[ScopedTarget(scope, formerTarget), default: []].insert(fact.key)
    }
    guard case .chain(let chain) = write.target, fact.authority.isSigned else { return }
    for hint in write.hints.all {
      chainsOfHints[ScopedHint(scope, hint), default: []].insert(chain)
    }
  }

  mutating func write(_ write: LinkWrite, of target: ScopedTarget) {
    changes.links[target] = write
    if case .chain(let chain) = target.target, write.row.account == nil,
      write.storedAccount != nil
    {
      lostChains[target.scope, default: []].insert(chain)
    }
  }

  mutating func write(_ write: NotificationWrite) {
    changes.notifications.append(write)
    knownNotifications.insert(write.notification.record.uuid)
  }

  /// Adds the changes of a later write.
  mutating func absorb(_ later: LedgerLayer) {
    let added = later.changes
    // Done before the later events are added, as a deleted account may be named again in them.
    if !added.erasedAccounts.isEmpty {
      for index in changes.linkEvents.indices {
        changes.linkEvents[index].erase(added.erasedAccounts)
      }
      changes.refusedClaims = changes.refusedClaims.filter {
        !added.erasedAccounts.contains($0.key.account)
      }
    }
    changes.facts.merge(added.facts) { $1 }
    changes.histories.merge(added.histories) { $1 }
    changes.versions.merge(added.versions) { $1 }
    changes.links.merge(added.links) { $1 }
    changes.accounts.merge(added.accounts) { $1 }
    changes.tokens.merge(added.tokens) { $1 }
    changes.grants.merge(added.grants) { $1 }
    changes.notifications += added.notifications
    changes.linkEvents += added.linkEvents
    changes.refusedClaims.merge(added.refusedClaims) { $1 }
    changes.changes += added.changes
    changes.releasedDocuments.formUnion(added.releasedDocuments)
    changes.erasedAccounts.formUnion(added.erasedAccounts)
    changes.audits += added.audits
    changes.jobs.merge(added.jobs) { $1 }
    changes.consumption.merge(added.consumption) { $1 }
    changes.consents.merge(added.consents) { $1 }
    factsOfTargets.merge(later.factsOfTargets) { $0.union($1) }
    chainsOfHints.merge(later.chainsOfHints) { $0.union($1) }
    lostChains.merge(later.lostChains) { $0.union($1) }
    knownNotifications.formUnion(later.knownNotifications)
  }
}

extension LinkEventWrite {
  /// Erases the ids of deleted accounts (R46).
  fileprivate mutating func erase(_ accounts: Set<ScopedAccount>) {
    if let from = event.from, accounts.contains(ScopedAccount(target.scope, from)) {
      event.from = nil
      event.isFromErased = true
    }
    if let to = event.to, accounts.contains(ScopedAccount(target.scope, to)) {
      event.to = nil
      event.isToErased = true
    }
  }
}
