import EntitlementDomain
import EntitlementStore

/// A row, or a set of rows, by the numbers and texts of the tables: what is locked and loaded.
enum LockName {
  /// What has to be locked so that what a ledger reads under a key stays as it is.
  static func of(_ key: LedgerKey, _ scopes: ScopeNumbers) -> String {
    switch key {
    case .standingFact(let fact):
      switch fact.key.kind {
      case .transaction: name("f", scopes[fact.scope], fact.key.identifier)
      case .renewalInfo: name("c", scopes[fact.scope], fact.key.identifier)
      case .appTransaction: name("t", scopes[fact.scope], fact.key.identifier)
      }
    case .link(let target), .facts(let target): self.target(target.target, scopes[target.scope])
    case .hints(let scope, let chain): target(.chain(chain), scopes[scope])
    // Whoever gives a chain a hint locks what the hint names.
    case .unlinkedChains(let hint):
      switch hint.hint {
      case .token(let token): name("k", scopes[hint.scope], token.rawValue)
      case .appTransaction(let id): target(.appTransaction(id), scopes[hint.scope])
      case .previousChain(let chain): target(.chain(chain), scopes[hint.scope])
      }
    case .token(let token): name("k", scopes[token.scope], token.token.rawValue)
    case .grant(let grant): name("g", scopes[grant.scope], grant.id.rawValue)
    case .notification(let uuid): "n" + uuid.rawValue
    // As the statements of ``LockStatements`` make it.
    case .account(let account), .holdings(let account):
      name("a", scopes[account.scope], account.id.rawValue)
    }
  }

  private static func target(_ target: LinkTarget, _ scope: Int64) -> String {
    switch target {
    case .chain(let id): name("c", scope, id.rawValue)
    case .appTransaction(let id): name("t", scope, id.rawValue)
    }
  }

  private static func name(_ kind: String, _ scope: Int64, _ id: String) -> String {
    "\(kind)\(scope):\(id)"
  }
}
