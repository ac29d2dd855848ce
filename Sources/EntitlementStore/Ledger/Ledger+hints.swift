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
  /// unsigned link is not propagated, and a contested one teaches nothing (R70).
  mutating func propagateLink(
    of target: ScopedTarget, with hints: ChainHints, isNamed: Bool
  ) throws {
    guard case .chain = target.target, let row = try view.link(of: target), row.teaches
    else { return }
    try queueChains(hintedBy: target)
    try forEach(hints.appTransactions) { ledger, appTransaction in
      try ledger.linkAppTransaction(appTransaction, of: target, isNamed: isNamed)
    }
  }

  /// Links an unlinked app transaction to the account of a chain that carries its id. A claim that was
  /// refused shows the id for a second account: the owner of the chain gets it, and it is ambiguous.
  mutating func linkAppTransaction(
    _ appTransaction: AppTransactionID, of chain: ScopedTarget, isNamed: Bool
  ) throws {
    guard context.catalog.usesLearnedHints(in: chain.scope),
      let row = try view.link(of: chain), let account = row.account, !row.isUnsigned
    else { return }
    let isRefused = affected[chain]?.refusal != nil
    if !row.teaches, !isRefused { return }
    let target = ScopedTarget(chain.scope, .appTransaction(appTransaction))
    if let known = try view.link(of: target), known.account != nil || known.isDetached { return }
    let isNamed = isNamed && row.standing == .named && !isRefused
    try setAccount(
      ScopedAccount(chain.scope, account), of: target,
      reason: isNamed ? .named : .appTransaction, standing: isNamed ? .named : .hinted)
    if isRefused, !context.takesNothing { try contest(target, of: chain) }
  }

  // MARK: Teaching

  /// Teaches the hints of a fact that a submission presents for its account (R70).
  mutating func present(_ fact: Fact, by claim: SubmissionClaim) throws {
    // The account was decided for the target of the standing version, which may be another chain
    // now (R7).
    guard fact.authority.isSigned, case .chain = fact.target,
      let standing = try view.standingFact(ScopedFact(fact.scope, fact.key)),
      standing.target == fact.target
    else { return }
    let chain = ScopedTarget(fact.scope, fact.target)
    // Of another account's purchase, an import shows nothing (R90).
    if context.takesNothing, affected[chain]?.refusal != nil { return }
    let hints = FactHints(fact)
    try present(
      tokens: [hints.appAccountToken].compactMap(\.self),
      appTransactions: [hints.appTransactionID].compactMap(\.self),
      of: chain,
      for: ScopedAccount(fact.scope, claim.account(in: fact.scope)))
  }

  /// Teaches hints of a chain that is presented for an account, or finds them ambiguous: another
  /// account was named with them before (R70, R71). A chain teaches only the account that has it,
  /// and only while nobody contests it; every presentation can make a hint ambiguous. A theft is
  /// worse than a purchase that waits.
  ///
  /// - Parameter learns: whether the hints may be learned; false for a request, which names the
  ///   owner of one chain only.
  mutating func present(
    tokens: [AppAccountToken], appTransactions: [AppTransactionID], of chain: ScopedTarget,
    for account: ScopedAccount, learns: Bool = true
  ) throws {
    let row = try view.link(of: chain) ?? LinkRow()
    let teaches = learns && row.teaches && row.account == account.id
    try forEach(tokens) { ledger, token in
      let token = ScopedToken(chain.scope, token)
      switch try ledger.view.token(token) {
      case nil:
        guard teaches, ledger.context.catalog.learnsTokens(in: chain.scope) else { return }
        try ledger.ensureAccount(account)
        ledger.view.setToken(TokenRow(account: account.id, since: ledger.context.at), of: token)
        try ledger.queueChains(with: token.hint)
      case let known? where known.state == .learned && known.account != account.id:
        ledger.makeAmbiguous(token, known, of: chain)
      case _?: break
      }
    }
    try forEach(appTransactions) { ledger, id in
      let target = ScopedTarget(chain.scope, .appTransaction(id))
      // It may have lost its account since the chain got one, as by a deletion.
      if teaches { try ledger.linkAppTransaction(id, of: chain, isNamed: true) }
      guard let known = try ledger.view.link(of: target), let owner = known.account else { return }
      // An import takes no app transaction either, and contests none (R90).
      if ledger.context.takesNothing, owner != account.id { return }
      switch known.standing {
      case .hinted where teaches && owner == account.id:
        try ledger.view.updateLink(of: target, at: ledger.context.at) { $0.standing = .named }
      case .hinted where teaches:
        try ledger.setAccount(account, of: target, reason: .yielded, standing: .named)
      case .named where owner != account.id, .hinted where owner != account.id:
        try ledger.contest(target, of: chain)
      case .named, .hinted, .contested, .decided, .disputed: break
      }
    }
  }

  private mutating func makeAmbiguous(
    _ token: ScopedToken, _ known: TokenRow, of chain: ScopedTarget
  ) {
    view.setToken(
      TokenRow(account: known.account, state: .ambiguous, since: context.at), of: token)
    noteNoLongerFound(known.account, in: token.scope)
    noteAmbiguity(.tokenAmbiguous, token.token.rawValue, of: chain)
  }

  /// Marks a target that was presented for two accounts. It keeps its account.
  ///
  /// - Parameter chain: by which an app transaction was presented.
  mutating func contest(_ target: ScopedTarget, of chain: ScopedTarget? = nil) throws {
    guard let row = try view.link(of: target), !row.standing.isContested else { return }
    try view.updateLink(of: target, at: context.at) { $0.standing = .contested }
    guard case .appTransaction(let id) = target.target else { return }
    noteNoLongerFound(row.account, in: target.scope)
    noteAmbiguity(.appTransactionAmbiguous, id.rawValue, of: chain ?? target)
  }

  /// A target that claims have moved as often as they may (R93).
  mutating func noteDispute(of target: ScopedTarget, _ account: AccountID?) {
    var appTransaction: AppTransactionID?
    if case .appTransaction(let id) = target.target { appTransaction = id }
    if appTransaction != nil { noteNoLongerFound(account, in: target.scope) }
    noteAmbiguity(.purchaseDisputed, appTransaction?.rawValue, of: target)
  }

  private mutating func noteAmbiguity(
    _ kind: FeedEventKind, _ detail: String?, of target: ScopedTarget
  ) {
    var event = FeedEvent(kind: kind, notificationUUID: "", detail: detail)
    if case .chain(let chain) = target.target { event.originalTransactionID = chain }
    ambiguities.append((target.scope, event))
  }

  /// Answers that found an account by a hint are out of date.
  mutating func noteNoLongerFound(_ account: AccountID?, in scope: AppScope) {
    if let account { affected.add(.unlinked, to: ScopedAccount(scope, account)) }
  }

  /// Binds the token that the app derives from the id of an account, once a write names the id
  /// (R74). A token that a request bound stays as it is.
  mutating func bindDerivedToken(of name: ScopedAccount) throws {
    guard let token = context.catalog.derivedToken(of: name.id, in: name.scope),
      let account = try knownOwner(name)
    else { return }
    let known = try view.token(token)
    if known?.state == .bound { return }
    try bind(token, known, to: TokenRow(account: account.id, state: .bound, since: context.at))
  }

  /// - Parameter known: the row before the change.
  mutating func bind(_ token: ScopedToken, _ known: TokenRow?, to row: TokenRow) throws {
    if let former = known?.account, former != row.account {
      noteNoLongerFound(former, in: token.scope)
    }
    view.setToken(row, of: token)
    try queueChains(with: token.hint)
  }

  /// Queues the unlinked chains with a hint at a target that has an account now.
  mutating func queueChains(hintedBy target: ScopedTarget) throws {
    try queueChains(with: target.hint)
  }

  mutating func queueChains(with hint: ScopedHint) throws {
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

extension LinkRow {
  /// Whether the account of the link leads other purchases to it (R70).
  var teaches: Bool { !isUnsigned && !standing.isContested }
}

extension ScopedToken {
  var hint: ScopedHint { ScopedHint(scope, .token(token)) }
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
