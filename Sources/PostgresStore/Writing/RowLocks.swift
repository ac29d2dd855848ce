import EntitlementDomain
import EntitlementStore

/// What has to be locked before a ledger may read under some keys.
///
/// Every writer shares the lock of each app and environment that it can come to. One that would lock
/// more rows of it than a server has room for has that lock alone instead, and no others there.
struct RowLocks {
  /// By their numbers, those that are locked whole.
  let wholeScopes: Set<Int64>
  private var rows: Set<String> = []
  private var accounts: [ScopedAccount] = []
  private var targets: [ScopedTarget] = []
  private var tokens: [ScopedToken] = []
  private var grants: [ScopedGrant] = []
  private let scopes: ScopeNumbers

  /// - Parameter limit: of the rows of an app and environment that are locked one by one.
  init(_ keys: Set<LedgerKey>, scopes: ScopeNumbers, limit: Int) {
    var names: [Int64: Set<String>] = [:]
    for key in keys {
      guard let scope = key.scope else { continue }
      names[scopes[scope], default: []].insert(LockName.of(key, scopes))
    }
    self.init(keys, scopes: scopes, wholeScopes: Set(names.filter { $1.count > limit }.keys))
  }

  /// Further ones of a writer that has locked some apps and environments whole.
  init(_ keys: Set<LedgerKey>, scopes: ScopeNumbers, wholeScopes: Set<Int64>) {
    self.scopes = scopes
    self.wholeScopes = wholeScopes
    for key in keys {
      if let scope = key.scope, wholeScopes.contains(scopes[scope]) { continue }
      switch key {
      case .account(let account), .holdings(let account):
        accounts.append(account)
        // Together with those that rows name.
        continue
      case .link(let target): targets.append(target)
      case .token(let token): tokens.append(token)
      case .grant(let grant): grants.append(grant)
      case .standingFact, .hints, .facts, .unlinkedChains, .notification: break
      }
      rows.insert(LockName.of(key, scopes))
    }
  }

  /// Before all others: waits for every app and environment, shared or whole.
  var scopesWaiting: PostgresCommand {
    let numbers = scopes.all
    return PostgresCommand(
      LockStatements.lockScopes,
      [.int64s(numbers), .bools(numbers.map { wholeScopes.contains($0) })])
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

extension LedgerKey {
  /// Nil for a notification, which may name none.
  fileprivate var scope: AppScope? {
    switch self {
    case .standingFact(let fact): fact.scope
    case .link(let target), .facts(let target): target.scope
    case .account(let account), .holdings(let account): account.scope
    case .token(let token): token.scope
    case .hints(let scope, _): scope
    case .unlinkedChains(let hint): hint.scope
    case .grant(let grant): grant.scope
    case .notification: nil
    }
  }
}
