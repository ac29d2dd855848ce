import EntitlementDomain

/// Changes, with what finds them again.
struct LedgerLayer {
  var changes = LedgerChanges()
  /// Facts written here that speak of a target, or did before.
  private(set) var factsOfTargets: [ScopedTarget: Set<FactKey>] = [:]
  /// Chains a fact of which, written here, carries or carried a hint that Apple signed.
  private(set) var chainsOfHints: [ScopedHint: Set<OriginalTransactionID>] = [:]
  /// Chains that an account lost here.
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

  /// Takes what was written after this.
  mutating func absorb(_ later: LedgerLayer) {
    let added = later.changes
    // Before the later events: an account that was deleted may be named again.
    if !added.erasedAccounts.isEmpty {
      for index in changes.linkEvents.indices {
        changes.linkEvents[index].erase(added.erasedAccounts)
      }
    }
    changes.facts.merge(added.facts) { $1 }
    changes.links.merge(added.links) { $1 }
    changes.accounts.merge(added.accounts) { $1 }
    changes.tokens.merge(added.tokens) { $1 }
    changes.grants.merge(added.grants) { $1 }
    changes.notifications += added.notifications
    changes.linkEvents += added.linkEvents
    changes.changes += added.changes
    changes.releasedDocuments.formUnion(added.releasedDocuments)
    changes.erasedAccounts.formUnion(added.erasedAccounts)
    factsOfTargets.merge(later.factsOfTargets) { $0.union($1) }
    chainsOfHints.merge(later.chainsOfHints) { $0.union($1) }
    lostChains.merge(later.lostChains) { $0.union($1) }
    knownNotifications.formUnion(later.knownNotifications)
  }
}

extension FactHints {
  package var all: [LinkHint] {
    [
      appAccountToken.map { .token($0) }, appTransactionID.map { .appTransaction($0) },
      previousChain.map { .previousChain($0) },
    ].compactMap(\.self)
  }
}

extension LinkEventWrite {
  /// Forgets accounts that were deleted (R46).
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
