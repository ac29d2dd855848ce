import EntitlementDomain

// Lists join what is stored with what was changed since.
extension LedgerView {
  /// Of the standing facts of a chain that Apple signed, newest first.
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

  /// Every standing fact of a chain, or that of an app transaction.
  func facts(of target: ScopedTarget) throws -> [Fact] {
    let stored = try reader.facts(of: target)
    let changed = changedFacts(of: target)
    if changed.isEmpty { return stored }
    return stored.filter { changed[$0.key] == nil }
      + changed.values.filter { $0.target == target.target }.map(\.signed.fact)
  }

  /// Facts that were written and speak of a target, or did before.
  private func changedFacts(of target: ScopedTarget) -> [FactKey: FactWrite] {
    var facts: [FactKey: FactWrite] = [:]
    for layer in [settled, pending] {
      for key in layer.factsOfTargets[target] ?? [] {
        facts[key] = changedFact(ScopedFact(target.scope, key))
      }
    }
    return facts
  }

  /// The chains without an account that may carry a hint, in the order of their ids; all of those
  /// that do are among them.
  func unlinkedChains(with hint: ScopedHint) throws -> [OriginalTransactionID] {
    let stored = Set(try reader.unlinkedChains(with: hint))
    var chains = stored
    for layer in [settled, pending] {
      chains.formUnion(layer.chainsOfHints[hint] ?? [])
      chains.formUnion(layer.lostChains[hint.scope] ?? [])
    }
    return
      try chains
      .filter { chain in
        let target = ScopedTarget(hint.scope, .chain(chain))
        // What the reader gave needs no second look, unless it was changed since.
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
    for layer in [settled, pending] {
      let changes = layer.changes
      for (key, write) in changes.links where key.scope == account.scope {
        targets.note(key.target, isHeld: write.row.account == account.id)
      }
      for (key, holder) in changes.tokens where key.scope == account.scope {
        tokens.note(key.token, isHeld: holder == account.id)
      }
      for (key, write) in changes.accounts where key.scope == account.scope {
        merged.note(key.id, isHeld: write.row.mergedInto == account.id)
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
  /// What was changed last says whether it is among them.
  fileprivate mutating func note(_ element: Element, isHeld: Bool) {
    if isHeld { insert(element) } else { remove(element) }
  }
}
