package import EntitlementDomain

/// The hints of a fact, by which an unlinked chain finds its account (R42).
///
/// An unsigned fact has no token and no previous chain: it must not link signed facts, and a token
/// must not find it. Its app transaction id only shows which app transaction it came with.
package struct FactHints: Hashable, Sendable {
  package var appTransactionID: AppTransactionID?
  package var appAccountToken: AppAccountToken?
  package var previousChain: OriginalTransactionID?

  /// The hints of an app transaction are empty, as its own id identifies it.
  package init(_ fact: Fact) {
    switch fact {
    case .transaction(let fact):
      appTransactionID = fact.appTransactionID
      appAccountToken = fact.appAccountToken
      previousChain = fact.previousOriginalTransactionID
    case .renewalInfo(let fact):
      appTransactionID = fact.appTransactionID
      appAccountToken = fact.appAccountToken
    case .appTransaction:
      break
    }
    if !fact.authority.isSigned {
      appAccountToken = nil
      previousChain = nil
    }
  }
}

extension FactHints {
  package init(
    appTransactionID: AppTransactionID?, appAccountToken: AppAccountToken?,
    previousChain: OriginalTransactionID?
  ) {
    self.appTransactionID = appTransactionID
    self.appAccountToken = appAccountToken
    self.previousChain = previousChain
  }

  package var all: [LinkHint] {
    [
      appAccountToken.map { .token($0) }, appTransactionID.map { .appTransaction($0) },
      previousChain.map { .previousChain($0) },
    ].compactMap(\.self)
  }
}

/// A value in a fact that may link its chain to an account (R42).
package enum LinkHint: Hashable, Sendable {
  case token(AppAccountToken)
  case appTransaction(AppTransactionID)
  case previousChain(OriginalTransactionID)
}

/// The hints of the signed standing facts of a chain, newest first, each once.
struct ChainHints {
  private(set) var tokens: [AppAccountToken] = []
  private(set) var appTransactions: [AppTransactionID] = []
  private(set) var previousChains: [OriginalTransactionID] = []

  init() {}

  /// - Parameter rows: newest first.
  init(_ rows: [FactHintsRow]) {
    for row in rows {
      // The token that stands for none is no hint (R43).
      Self.add(row.hints.appAccountToken?.ofCustomer, to: &tokens)
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

  /// The rows that contain the account of each hint.
  func keys(in scope: AppScope) -> Set<LedgerKey> {
    var keys: Set<LedgerKey> = []
    for token in tokens { keys.insert(.token(ScopedToken(scope, token))) }
    for id in appTransactions { keys.insert(.link(ScopedTarget(scope, .appTransaction(id)))) }
    for chain in previousChains { keys.insert(.link(ScopedTarget(scope, .chain(chain)))) }
    return keys
  }

  /// The rows that the propagation of the chain's account reads.
  func propagationKeys(_ chain: ScopedTarget) -> Set<LedgerKey> {
    let ids = appTransactions.map { ScopedTarget(chain.scope, .appTransaction($0)) }
    return Set(([chain] + ids).map { .unlinkedChains($0.hint) })
  }
}
