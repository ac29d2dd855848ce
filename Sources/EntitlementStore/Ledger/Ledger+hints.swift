import EntitlementDomain

// Where a link leads: an account that is known of one chain becomes that of what carries the same
// hint.
extension Ledger {
  /// Asks hints for the account of every unlinked chain that they may lead somewhere now, until
  /// they lead no further.
  mutating func settleLedChains() throws {
    while !chainsToSettle.isEmpty {
      let wave = chainsToSettle
      chainsToSettle = []
      try forEach(wave.reversed()) { ledger, chain in
        try ledger.settle(chain.target, by: nil, hints: chain.hints)
      }
    }
  }

  /// Leads to a chain's account what the chain's link speaks for: nothing where it was imported.
  mutating func leadOn(_ target: ScopedTarget, with hints: ChainHints, isNamed: Bool) throws {
    guard case .chain = target.target, let row = try view.link(of: target), !row.isUnsigned
    else { return }
    try queueChains(ledBy: target)
    try forEach(hints.appTransactions) { ledger, appTransaction in
      try ledger.follow(target, with: appTransaction, isNamed: isNamed)
    }
  }

  /// Links an app transaction id to the account of a chain that carries it, if it has none yet.
  mutating func follow(
    _ chain: ScopedTarget, with appTransaction: AppTransactionID, isNamed: Bool
  ) throws {
    guard let row = try view.link(of: chain), let account = row.account, !row.isUnsigned
    else { return }
    let target = ScopedTarget(chain.scope, .appTransaction(appTransaction))
    if let known = try view.link(of: target), known.account != nil || known.isDetached { return }
    let isNamed = isNamed && concerns[chain]?.refusal == nil
    try setAccount(
      ScopedAccount(chain.scope, account), of: target,
      reason: isNamed ? .named : .appTransaction)
  }

  /// The token that a fact carries becomes known for the claimer's account, unless somebody has it.
  mutating func learnToken(of fact: Fact, by claim: SubmissionClaim) throws {
    guard let token = FactHints(fact).appAccountToken else { return }
    let scoped = ScopedToken(fact.scope, token)
    guard try view.account(of: scoped) == nil else { return }
    let account = ScopedAccount(fact.scope, claim.account(in: fact.scope))
    try keepAccount(account)
    view.setAccount(account.id, of: scoped)
    try queueChains(with: ScopedHint(fact.scope, .token(token)))
  }

  /// The target has an account now: what it leads to is to be settled.
  mutating func queueChains(ledBy target: ScopedTarget) throws {
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
      // That others of its hints may lead somewhere is no news.
      guard hints.contains(hint.hint) else { return }
      found.append(UnsettledChain(target: ScopedTarget(scope, .chain(chain)), hints: hints))
    }
    // What the hint names has an account: they will get it, and lead on.
    try view.reader.willRead(
      found.reduce(into: []) { keys, chain in
        keys.formUnion(chain.hints.keys(in: scope))
        keys.formUnion(chain.hints.keysToLeadOn(chain.target))
      })
    chainsToSettle += found
  }
}

extension ScopedTarget {
  /// What a chain carries that it leads on to.
  var hint: ScopedHint {
    switch target {
    case .chain(let chain): ScopedHint(scope, .previousChain(chain))
    case .appTransaction(let id): ScopedHint(scope, .appTransaction(id))
    }
  }
}
