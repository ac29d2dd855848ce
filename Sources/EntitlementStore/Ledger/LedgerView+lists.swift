import EntitlementDomain

// Lists combine stored rows with the changes of the transaction.
extension LedgerView {
  /// The hints of the signed standing facts of a chain, newest first.
  func hints(of chain: OriginalTransactionID, in scope: AppScope) throws -> ChainHints {
    var rows = try reader.hints(of: chain, in: scope)
    let changed = changedFacts(of: ScopedTarget(scope, .chain(chain)))
    if changed.isEmpty { return ChainHints(rows) }
    rows.removeAll { changed[$0.fact] != nil }
    for (key, write) in changed
    where write.target == .chain(chain) && write.signed.fact.authority.isSigned {
      let precedence = write.signed.fact.precedence
      rows.append(
        FactHintsRow(
          fact: key, signedDate: precedence.signedDate, digest: precedence.digest,
          hints: write.hints))
    }
    return ChainHints(
      rows.sorted { left, right in
        (left.signedDate, left.digest) > (right.signedDate, right.digest)
      })
  }

  /// All standing facts of a chain or app transaction, completed (R92). A stored one was read with the
  /// supplement that it had, and a changed one adds to it: until the commit, what it takes back stays.
  func facts(of target: ScopedTarget) throws -> [Fact] {
    var stored = try reader.facts(of: target)
    let changed = changedFacts(of: target)
    if hasChangedHistories {
      stored = try stored.map { fact in
        try completed(fact, by: changedHistory(ScopedFact(target.scope, fact.key))?.supplement)
      }
    }
    if changed.isEmpty { return stored }
    stored.removeAll { changed[$0.key] != nil }
    return try stored
      + changed.values.filter { $0.target == target.target }
      .map { try completed($0.signed.fact, by: $0.supplement) }
  }

  private func completed(_ fact: Fact, by supplement: [UInt8]?) throws -> Fact {
    guard let supplement else { return fact }
    return try FactSupplement(
      payload: supplement, completing: fact.authority, of: fact
    ).completing(fact)
  }

  /// Changed facts whose target is or was `target`.
  private func changedFacts(of target: ScopedTarget) -> [FactKey: FactWrite] {
    var facts: [FactKey: FactWrite] = [:]
    for layer in [applied, pending] {
      for key in layer.factsOfTargets[target] ?? [] {
        facts[key] = changedFact(ScopedFact(target.scope, key))
      }
    }
    return facts
  }

  /// The unlinked chains that may carry a hint, in the order of their ids. The list includes all
  /// that carry it.
  func unlinkedChains(with hint: ScopedHint) throws -> [OriginalTransactionID] {
    let stored = Set(try reader.unlinkedChains(with: hint))
    var chains = stored
    for layer in [applied, pending] {
      chains.formUnion(layer.chainsOfHints[hint] ?? [])
      chains.formUnion(layer.lostChains[hint.scope] ?? [])
    }
    return
      try chains
      .filter { chain in
        let target = ScopedTarget(hint.scope, .chain(chain))
        // A stored chain without a change is unlinked, as the reader returned it.
        if stored.contains(chain), changedLink(target) == nil { return true }
        return try link(of: target)?.account == nil
      }
      .sorted()
  }

  func holdings(of account: ScopedAccount) throws -> AccountHoldings {
    let stored = try reader.holdings(of: account)
    var targets = Set(stored.targets)
    var tokens = Set(stored.tokens)
    var merged = Set(stored.merged)
    var grants = Dictionary(stored.grants.map { ($0.id, $0) }) { $1 }
    for layer in [applied, pending] {
      let changes = layer.changes
      for (key, write) in changes.links where key.scope == account.scope {
        targets.update(key.target, isMember: write.row.account == account.id)
      }
      for (key, row) in changes.tokens where key.scope == account.scope {
        tokens.update(key.token, isMember: row?.account == account.id)
      }
      for (key, write) in changes.accounts where key.scope == account.scope {
        merged.update(key.id, isMember: write.row.mergedInto == account.id)
      }
      for (key, grant) in changes.grants where key.scope == account.scope {
        grants[key.id] = grant?.accountID == account.id ? grant : nil
      }
    }
    return AccountHoldings(
      targets: targets.sorted(), tokens: tokens.sorted(),
      grants: grants.values.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) },
      merged: merged.sorted())
  }
}

extension Set {
  /// Inserts or removes an element.
  fileprivate mutating func update(_ element: Element, isMember: Bool) {
    if isMember { insert(element) } else { remove(element) }
  }
}
