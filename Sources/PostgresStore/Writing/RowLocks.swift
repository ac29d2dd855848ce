import EntitlementDomain
import EntitlementStore

/// What has to be locked before a ledger may read under some keys.
struct RowLocks {
  private var rows: Set<String> = []
  private var accounts: [ScopedAccount] = []
  private var targets: [ScopedTarget] = []
  private var tokens: [ScopedToken] = []
  private var grants: [ScopedGrant] = []
  private let scopes: ScopeNumbers

  init(_ keys: Set<LedgerKey>, scopes: ScopeNumbers) {
    self.scopes = scopes
    for key in keys {
      if let name = LockName.row(key, scopes) { rows.insert(name) }
      switch key {
      case .account(let account), .holdings(let account): accounts.append(account)
      // Their accounts come with them.
      case .link(let target): targets.append(target)
      case .token(let token): tokens.append(token)
      case .grant(let grant): grants.append(grant)
      case .standingFact, .hints, .facts, .unlinkedChains, .notification: break
      }
    }
  }

  /// Waits for all of them.
  var waiting: [PostgresCommand] {
    [
      PostgresCommand(LockStatements.lockRows, [rowNames]),
      PostgresCommand(LockStatements.lockAccounts, accountNames),
    ] + merged
  }

  /// Tries: both answer whether all were free.
  var trying: [PostgresCommand] {
    [
      PostgresCommand(LockStatements.tryRows, [rowNames]),
      PostgresCommand(LockStatements.tryAccounts, accountNames),
    ] + merged
  }

  /// What the accounts were merged into, after they are locked themselves; none or one command.
  var merged: [PostgresCommand] {
    if accounts.isEmpty { return [] }
    return [PostgresCommand(LockStatements.tryMerged, Array(accountNames.prefix(2)))]
  }

  private var rowNames: PostgresValue { .texts(Array(rows)) }

  private var accountNames: [PostgresValue] {
    [
      .int64s(accounts.map { scopes[$0.scope] }), .texts(accounts.map(\.id.rawValue)),
      .int64s(targets.map { scopes[$0.scope] }), .texts(targets.map(\.target.stored)),
      .int64s(tokens.map { scopes[$0.scope] }), .texts(tokens.map(\.token.rawValue)),
      .int64s(grants.map { scopes[$0.scope] }), .texts(grants.map(\.id.rawValue)),
    ]
  }
}
