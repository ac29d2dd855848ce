import EntitlementDomain
import EntitlementStore

/// What has to be locked before a ledger may read under some keys.
///
/// Every writer shares the lock of each app and environment that it can come to. One that would lock
/// more rows of it than a server has room for has that lock alone instead, and no others there.
struct RowLocks {
  /// The numbers of apps and environments that are locked whole.
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
    // Several keys may have one name.
    for key in keys where keys.count > limit {
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
        // Locked together with the accounts that rows name.
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
  ///
  /// - Parameter rowLockWait: for each lock after these.
  func scopesWaiting(rowLockWait: Duration) -> PostgresCommand {
    let numbers = scopes.all
    return PostgresCommand(
      LockStatements.lockScopes,
      [
        .int64s(numbers), .bools(numbers.map { wholeScopes.contains($0) }),
        .text("\(rowLockWait.wholeMilliseconds)"),
      ])
  }

  /// Waits for all of them.
  ///
  /// - Parameter laterWait: for each lock after these, such as those of tables.
  func waiting(laterWait: Duration) -> [PostgresCommand] {
    [
      PostgresCommand(LockStatements.lockRows, [rowNames]),
      PostgresCommand(
        LockStatements.lockAccounts, accountNames + [.text("\(laterWait.wholeMilliseconds)")]),
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
    // A write that gives a chain a hint locks what the hint names.
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

/// Locks of a writing transaction. They end with it.
///
/// A lock is the hash of a name (``LockName``); names that share a hash share a lock, which costs a
/// wait and no more. A transaction that waits for locks takes the locks of apps and environments first,
/// then of rows, then of accounts, each in the order of their hashes, so that no two transactions wait for
/// each other. A transaction that needs more locks later only tries them.
enum LockStatements {
  /// How long the transaction waits for each lock from now on: `$1` in milliseconds.
  static let limitWaits = PostgresStatement(
    "SELECT set_config('lock_timeout', $1::text, true)", name: "limit_waits")

  /// `$1` the numbers of apps and environments, `$2` whether all other writers of it are kept out;
  /// otherwise all of them share the lock. Once they are locked, does as ``limitWaits`` with `$3`: the
  /// aggregate is computed first.
  static let lockScopes = PostgresStatement(
    """
    SELECT count(CASE WHEN is_whole THEN pg_advisory_xact_lock(key)
        ELSE pg_advisory_xact_lock_shared(key) END), set_config('lock_timeout', $3::text, true)
    FROM (
      SELECT hashtextextended('s' || scope, 0) AS key, is_whole
      FROM unnest($1::bigint[], $2::boolean[]) AS named (scope, is_whole)
      ORDER BY key OFFSET 0) AS keys
    """, name: "lock_scopes")

  /// `$1`: names of rows.
  static let lockRows = PostgresStatement(
    """
    SELECT count(pg_advisory_xact_lock(key)) FROM (
      SELECT DISTINCT hashtextextended(name, 0) AS key FROM unnest($1::text[]) AS name
      ORDER BY key OFFSET 0) AS keys
    """, name: "lock_rows")

  /// Accounts that were named, and accounts that locked rows name: `$1`, `$2` accounts; `$3`,
  /// `$4` links; `$5`, `$6` tokens; `$7`, `$8` grants; each with their scopes first. `$9` as `$3` of
  /// ``lockScopes``.
  static let lockAccounts = PostgresStatement(
    """
    SELECT count(pg_advisory_xact_lock(key)), set_config('lock_timeout', $9::text, true) FROM (
      SELECT DISTINCT hashtextextended('a' || scope || ':' || account, 0) AS key
      FROM (\(accounts)) AS accounts
      ORDER BY key OFFSET 0) AS keys
    """, name: "lock_accounts")

  /// `$1`: names of rows. True when all of them were free.
  static let tryRows = PostgresStatement(
    """
    SELECT coalesce(bool_and(pg_try_advisory_xact_lock(hashtextextended(name, 0))), true)
    FROM unnest($1::text[]) AS name
    """, name: "try_rows")

  /// As ``lockAccounts`` and ``tryRows``.
  static let tryAccounts = PostgresStatement(
    """
    SELECT coalesce(bool_and(pg_try_advisory_xact_lock(
        hashtextextended('a' || scope || ':' || account, 0))), true)
    FROM (\(accounts)) AS accounts
    """, name: "try_accounts")

  /// Tries to lock what accounts were merged into: `$1` scopes and `$2` accounts, which are locked.
  /// The other accounts, and whether each was free.
  static let tryMerged = PostgresStatement(
    """
    SELECT merged.scope, merged.into_account, pg_try_advisory_xact_lock(
      hashtextextended('a' || merged.scope || ':' || merged.into_account, 0))
    FROM (
      SELECT DISTINCT accounts.scope, accounts.merged_into AS into_account
      FROM unnest($1::bigint[], $2::text[]) AS named (scope, account)
      CROSS JOIN LATERAL (
        SELECT accounts.scope, accounts.merged_into FROM accounts
        WHERE accounts.scope = named.scope AND accounts.account = named.account
          AND accounts.merged_into IS NOT NULL
        OFFSET 0) AS accounts
      OFFSET 0) AS merged
    """, name: "try_merged")

  static let all = [
    limitWaits, lockScopes, lockRows, lockAccounts, tryRows, tryAccounts, tryMerged,
  ]

  private static let accounts = """
    SELECT named.scope, named.account
      FROM unnest($1::bigint[], $2::text[]) AS named (scope, account)
    UNION SELECT named.scope, row.account
      FROM unnest($3::bigint[], $4::text[]) AS named (scope, target)
      CROSS JOIN LATERAL (
        SELECT links.account FROM links
        WHERE links.scope = named.scope AND links.target = named.target
          AND links.account IS NOT NULL
        OFFSET 0) AS row
    UNION SELECT named.scope, row.account
      FROM unnest($5::bigint[], $6::text[]) AS named (scope, token)
      CROSS JOIN LATERAL (
        SELECT tokens.account FROM tokens
        WHERE tokens.scope = named.scope AND tokens.token = named.token
        OFFSET 0) AS row
    UNION SELECT named.scope, row.account
      FROM unnest($7::bigint[], $8::text[]) AS named (scope, grant_id)
      CROSS JOIN LATERAL (
        SELECT grants.account FROM grants
        WHERE grants.scope = named.scope AND grants.grant_id = named.grant_id
        OFFSET 0) AS row
    """
}
