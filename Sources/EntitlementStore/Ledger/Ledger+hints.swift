import EntitlementDomain

// Propagation of links: the account of one chain becomes the account of unlinked chains that carry
// the same hint.
extension Ledger {
  /// Decides on the queued unlinked chains, and on the chains that these queue in turn, until the
  /// queue is empty.
  mutating func settleQueuedChains() throws {
    while !chainsToSettle.isEmpty {
      let wave = chainsToSettle
      chainsToSettle = []
      try forEach(wave.reversed()) { ledger, chain in
        try ledger.settle(chain.target, by: nil, hints: chain.hints)
      }
    }
  }

  /// Propagates the account of a chain to unlinked chains and app transactions by its hints. An
  /// unsigned link is not propagated.
  mutating func propagateLink(
    of target: ScopedTarget, with hints: ChainHints, isNamed: Bool
  ) throws {
    guard case .chain = target.target, let row = try view.link(of: target), !row.isUnsigned
    else { return }
    try queueChains(hintedBy: target)
    try forEach(hints.appTransactions) { ledger, appTransaction in
      try ledger.linkAppTransaction(appTransaction, of: target, isNamed: isNamed)
    }
  }

  /// Links an unlinked app transaction to the account of a chain that carries its id.
  mutating func linkAppTransaction(
    _ appTransaction: AppTransactionID, of chain: ScopedTarget, isNamed: Bool
  ) throws {
    guard let row = try view.link(of: chain), let account = row.account, !row.isUnsigned
    else { return }
    let target = ScopedTarget(chain.scope, .appTransaction(appTransaction))
    if let known = try view.link(of: target), known.account != nil || known.isDetached { return }
    let isNamed = isNamed && affected[chain]?.refusal == nil
    try setAccount(
      ScopedAccount(chain.scope, account), of: target,
      reason: isNamed ? .named : .appTransaction)
  }

  /// Registers the token of a fact for the claiming account, unless the token has an account.
  mutating func registerToken(of fact: Fact, by claim: SubmissionClaim) throws {
    guard let token = FactHints(fact).appAccountToken else { return }
    let scoped = ScopedToken(fact.scope, token)
    guard try view.account(of: scoped) == nil else { return }
    let account = ScopedAccount(fact.scope, claim.account(in: fact.scope))
    try ensureAccount(account)
    view.setAccount(account.id, of: scoped)
    try queueChains(with: ScopedHint(fact.scope, .token(token)))
  }

  /// Queues the unlinked chains with a hint at a target that has an account now.
  mutating func queueChains(hintedBy target: ScopedTarget) throws {
    try queueChains(with: target.hint)
  }

  private mutating func queueChains(with hint: ScopedHint) throws {
    let scope = hint.scope
    let chains = try view.unlinkedChains(with: hint)
    if chains.isEmpty { return }
    try view.reader.willRead(
      Set(chains.flatMap { [.hints(scope, $0), .link(ScopedTarget(scope, .chain($0)))] }))
    var found: [UnsettledChain] = []
    try forEach(chains) { ledger, chain in
      let hints = try ledger.view.hints(of: chain, in: scope)
      // The reader may return chains that do not carry the hint.
      guard hints.contains(hint.hint) else { return }
      found.append(UnsettledChain(target: ScopedTarget(scope, .chain(chain)), hints: hints))
    }
    // The chains will be linked and propagate the account, so their rows are read ahead.
    try view.reader.willRead(
      found.reduce(into: []) { keys, chain in
        keys.formUnion(chain.hints.keys(in: scope))
        keys.formUnion(chain.hints.propagationKeys(chain.target))
      })
    chainsToSettle += found
  }
}

extension ScopedTarget {
  /// The hint by which chains refer to this target.
  var hint: ScopedHint {
    switch target {
    case .chain(let chain): ScopedHint(scope, .previousChain(chain))
    case .appTransaction(let id): ScopedHint(scope, .appTransaction(id))
    }
  }
}
