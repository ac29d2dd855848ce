import EntitlementDomain
import EntitlementStore

/// The locks that protect what a ledger reads under some keys.
///
/// Every writer shares the lock of each app and environment that it may touch. A writer that needs
/// more row locks there than the limit takes that lock exclusively, and no row locks.
struct RowLocks {
  /// The ids of apps and environments that are locked exclusively.
  let exclusiveScopes: Set<Int64>
  private var rows: Set<String> = []
  private var accounts: [ScopedAccount] = []
  private var targets: [ScopedTarget] = []
  private var tokens: [ScopedToken] = []
  private var grants: [ScopedGrant] = []
  private let scopes: PostgresScopeIDs

  /// - Parameter limit: of row locks in one app and environment.
  init(_ keys: Set<LedgerKey>, scopes: PostgresScopeIDs, limit: Int) {
    var names: [Int64: Set<String>] = [:]
    // Several keys may have the same lock name.
    for key in keys where keys.count > limit {
      guard let scope = key.scope else { continue }
      names[scopes[scope], default: []].insert(LockName.of(key, scopes))
    }
    self.init(keys, scopes: scopes, exclusiveScopes: Set(names.filter { $1.count > limit }.keys))
  }

  /// Further locks of a transaction that already holds some apps and environments exclusively.
  init(_ keys: Set<LedgerKey>, scopes: PostgresScopeIDs, exclusiveScopes: Set<Int64>) {
    self.scopes = scopes
    self.exclusiveScopes = exclusiveScopes
    for key in keys {
      if let scope = key.scope, exclusiveScopes.contains(scopes[scope]) { continue }
      switch key {
      case .account(let account), .holdings(let account), .consent(let account):
        accounts.append(account)
        // Locked together with the accounts that rows refer to.
        continue
      case .link(let target): targets.append(target)
      case .token(let token): tokens.append(token)
      case .grant(let grant): grants.append(grant)
      case .standingFact, .hints, .facts, .events, .refusedClaim, .unlinkedChains, .notification,
        .job, .consumption:
        break
      }
      rows.insert(LockName.of(key, scopes))
    }
  }

  /// Locks all apps and environments, shared or exclusively. Runs before all other locks.
  ///
  /// - Parameter rowLockTimeout: set for each later lock.
  func scopeLocks(rowLockTimeout: Duration) -> PostgresCommand {
    let ids = scopes.all
    return PostgresCommand(
      LockStatements.lockScopes,
      [
        .int64s(ids), .bools(ids.map { exclusiveScopes.contains($0) }),
        .text("\(rowLockTimeout.settingMilliseconds)"),
      ])
  }

  /// Locks rows and accounts, waiting for each lock.
  ///
  /// - Parameter tableLockTimeout: set for each later lock, such as those of tables.
  func blockingLocks(tableLockTimeout: Duration) -> [PostgresCommand] {
    [
      PostgresCommand(LockStatements.lockRows, [rowNames]),
      PostgresCommand(
        LockStatements.lockAccounts,
        accountNames + [.text("\(tableLockTimeout.settingMilliseconds)")]),
    ] + tryMergedAccounts
  }

  /// Locks rows and accounts without waiting. The first two results state whether all locks
  /// were available.
  var tryLocks: [PostgresCommand] {
    [
      PostgresCommand(LockStatements.tryRows, [rowNames]),
      PostgresCommand(LockStatements.tryAccounts, accountNames),
    ] + tryMergedAccounts
  }

  /// Locks the accounts that the locked accounts were merged into. No command, or one.
  var tryMergedAccounts: [PostgresCommand] {
    if accounts.isEmpty { return [] }
    return [PostgresCommand(LockStatements.tryMerged, Array(accountNames.prefix(2)))]
  }

  private var rowNames: PostgresValue { .texts(Array(rows)) }

  private var accountNames: [PostgresValue] {
    [
      .int64s(accounts.map { scopes[$0.scope] }), .texts(accounts.map(\.id.rawValue)),
      .int64s(targets.map { scopes[$0.scope] }), .byteStrings(targets.map(\.target.stored)),
      .int64s(tokens.map { scopes[$0.scope] }),
      .byteStrings(tokens.map(\.token.packedBytes)),
      .int64s(grants.map { scopes[$0.scope] }), .texts(grants.map(\.id.rawValue)),
    ]
  }
}

extension LedgerKey {
  /// Nil for a notification, which may have no app.
  fileprivate var scope: AppScope? {
    switch self {
    case .standingFact(let fact): fact.scope
    case .link(let target), .events(let target), .facts(let target): target.scope
    case .refusedClaim(let key): key.target.scope
    case .account(let account), .holdings(let account), .consent(let account): account.scope
    case .token(let token): token.scope
    case .hints(let scope, _): scope
    case .unlinkedChains(let hint): hint.scope
    case .grant(let grant): grant.scope
    case .job(let job): job.scope
    case .consumption(let purchase): purchase.scope
    case .notification: nil
    }
  }
}

/// The name of the lock for a row or a set of rows, made of ids.
enum LockName {
  /// The lock that keeps what a ledger reads under a key unchanged.
  static func of(_ key: LedgerKey, _ scopes: PostgresScopeIDs) -> String {
    switch key {
    case .standingFact(let fact):
      switch fact.key.kind {
      case .transaction: name("f", scopes[fact.scope], fact.key.identifier)
      case .renewalInfo: name("c", scopes[fact.scope], fact.key.identifier)
      case .appTransaction: name("t", scopes[fact.scope], fact.key.identifier)
      }
    case .link(let target), .events(let target), .facts(let target):
      self.target(target.target, scopes[target.scope])
    case .refusedClaim(let key): target(key.target.target, scopes[key.target.scope])
    case .hints(let scope, let chain): target(.chain(chain), scopes[scope])
    // A write that gives a chain a hint locks the target of the hint.
    case .unlinkedChains(let hint):
      switch hint.hint {
      case .token(let token): name("k", scopes[hint.scope], token.rawValue)
      case .appTransaction(let id): target(.appTransaction(id), scopes[hint.scope])
      case .previousChain(let chain): target(.chain(chain), scopes[hint.scope])
      }
    case .token(let token): name("k", scopes[token.scope], token.token.rawValue)
    case .grant(let grant): name("g", scopes[grant.scope], grant.id.rawValue)
    case .notification(let uuid): "n" + uuid.rawValue
    // A refetch shares the lock of its chain, so that its writes share the chain's writer; consumption that
    // of its purchase. The same names as in ``JobStatements/lease``.
    case .job(let job):
      switch job.subject {
      case .refetch(let chain): target(.chain(chain), scopes[job.scope])
      case .reconciliation: name("j", scopes[job.scope], "")
      case .consumption(let id): name("f", scopes[job.scope], id.rawValue)
      }
    case .consumption(let purchase):
      name("f", scopes[purchase.scope], purchase.transactionID.rawValue)
    // The same name as in the SQL of ``LockStatements``.
    case .account(let account), .holdings(let account), .consent(let account):
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

/// Advisory locks of a writing transaction, released at its end.
///
/// A lock key is the hash of a name (``LockName``). Names with equal hashes share a lock, which
/// costs only a wait. A transaction that waits for locks takes those of apps and environments
/// first, then rows, then accounts, each sorted by hash, so that no deadlock is possible. A
/// transaction that needs further locks later only tries them.
enum LockStatements {
  /// `$1` the lock timeout for the rest of the transaction, in milliseconds.
  static let setLockTimeout = PostgresStatement(
    "SELECT set_config('lock_timeout', $1::text, true)", name: "limit_waits")

  /// `$1` ids of apps and environments, `$2` whether each is locked exclusively. Afterwards sets
  /// the lock timeout to `$3`, as ``setLockTimeout``: the aggregate is computed first.
  static let lockScopes = PostgresStatement(
    """
    SELECT count(CASE WHEN is_whole THEN pg_advisory_xact_lock(key)
        ELSE pg_advisory_xact_lock_shared(key) END), set_config('lock_timeout', $3::text, true)
    FROM (
      SELECT hashtextextended('s' || scope, 0) AS key, is_whole
      FROM unnest($1::bigint[], $2::boolean[]) AS named (scope, is_whole)
      ORDER BY key OFFSET 0) AS keys
    """, name: "lock_scopes")

  /// `$1` names of rows.
  static let lockRows = PostgresStatement(
    """
    SELECT count(pg_advisory_xact_lock(key)) FROM (
      SELECT DISTINCT hashtextextended(name, 0) AS key FROM unnest($1::text[]) AS name
      ORDER BY key OFFSET 0) AS keys
    """, name: "lock_rows")

  /// Locks accounts, and the accounts of locked rows. `$1`, `$2` accounts; `$3`, `$4` links; `$5`,
  /// `$6` tokens; `$7`, `$8` grants; each with the scopes first. `$9` as `$3` of ``lockScopes``.
  static let lockAccounts = PostgresStatement(
    """
    SELECT count(pg_advisory_xact_lock(key)), set_config('lock_timeout', $9::text, true) FROM (
      SELECT DISTINCT hashtextextended('a' || scope || ':' || account, 0) AS key
      FROM (\(accounts)) AS accounts
      ORDER BY key OFFSET 0) AS keys
    """, name: "lock_accounts")

  /// `$1` names of rows. True when all locks were available.
  static let tryRows = PostgresStatement(
    """
    SELECT coalesce(bool_and(pg_try_advisory_xact_lock(hashtextextended(name, 0))), true)
    FROM unnest($1::text[]) AS name
    """, name: "try_rows")

  /// Parameters as for ``lockAccounts``, result as for ``tryRows``.
  static let tryAccounts = PostgresStatement(
    """
    SELECT coalesce(bool_and(pg_try_advisory_xact_lock(
        hashtextextended('a' || scope || ':' || account, 0))), true)
    FROM (\(accounts)) AS accounts
    """, name: "try_accounts")

  /// Tries to lock the accounts that locked accounts were merged into. `$1` scopes and `$2`
  /// accounts. Returns the other accounts, and whether each lock was available.
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
    setLockTimeout, lockScopes, lockRows, lockAccounts, tryRows, tryAccounts, tryMerged,
  ]

  private static let accounts = """
    SELECT named.scope, named.account
      FROM unnest($1::bigint[], $2::text[]) AS named (scope, account)
    UNION SELECT named.scope, row.account
      FROM unnest($3::bigint[], $4::bytea[]) AS named (scope, target)
      CROSS JOIN LATERAL (
        SELECT links.account FROM links
        WHERE links.scope = named.scope AND links.target = named.target
          AND links.account IS NOT NULL
        OFFSET 0) AS row
    UNION SELECT named.scope, row.account
      FROM unnest($5::bigint[], $6::bytea[]) AS named (scope, token)
      CROSS JOIN LATERAL (
        SELECT tokens.account FROM tokens
        WHERE tokens.scope = named.scope AND tokens.token = named.token
          AND tokens.account IS NOT NULL
        OFFSET 0) AS row
    UNION SELECT named.scope, row.account
      FROM unnest($7::bigint[], $8::text[]) AS named (scope, grant_id)
      CROSS JOIN LATERAL (
        SELECT grants.account FROM grants
        WHERE grants.scope = named.scope AND grants.grant_id = named.grant_id
        OFFSET 0) AS row
    """
}
