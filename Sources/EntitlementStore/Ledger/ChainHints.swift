import EntitlementDomain

/// What the standing facts of a chain that Apple signed carry, newest first, each once.
struct ChainHints {
  private(set) var tokens: [AppAccountToken] = []
  private(set) var appTransactions: [AppTransactionID] = []
  private(set) var previousChains: [OriginalTransactionID] = []

  init() {}

  /// - Parameter rows: newest first.
  init(_ rows: [FactHintsRow]) {
    for row in rows {
      Self.add(row.hints.appAccountToken, to: &tokens)
      Self.add(row.hints.appTransactionID, to: &appTransactions)
      Self.add(row.hints.previousChain, to: &previousChains)
    }
  }

  private static func add<Kind>(_ hint: Identifier<Kind>?, to list: inout [Identifier<Kind>]) {
    if let hint, !list.contains(hint) { list.append(hint) }
  }

  func contains(_ hint: LinkHint) -> Bool {
    switch hint {
    case .token(let token): tokens.contains(token)
    case .appTransaction(let id): appTransactions.contains(id)
    case .previousChain(let chain): previousChains.contains(chain)
    }
  }

  /// What tells whose each hint is.
  func keys(in scope: AppScope) -> Set<LedgerKey> {
    var keys: Set<LedgerKey> = []
    for token in tokens { keys.insert(.token(ScopedToken(scope, token))) }
    for id in appTransactions { keys.insert(.link(ScopedTarget(scope, .appTransaction(id)))) }
    for chain in previousChains { keys.insert(.link(ScopedTarget(scope, .chain(chain)))) }
    return keys
  }

  /// What leading on from the chain reads when it gets an account.
  func keysToLeadOn(_ chain: ScopedTarget) -> Set<LedgerKey> {
    let ids = appTransactions.map { ScopedTarget(chain.scope, .appTransaction($0)) }
    return Set(([chain] + ids).map { .unlinkedChains($0.hint) })
  }
}
