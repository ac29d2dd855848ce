/// Locks of a writing transaction. They end with it.
///
/// A lock is the hash of a name (``LockName``); names that share a hash share a lock, which costs a
/// wait and no more. Whoever waits for locks takes those of apps and environments first, then rows',
/// then accounts', each in the order of their hashes, so that no two wait for each other. Whoever
/// needs more later only tries.
enum LockStatements {
  /// `$1` the numbers of apps and environments, `$2` whether all other writers of it are kept out;
  /// otherwise all of them share the lock.
  static let lockScopes = PostgresStatement(
    """
    SELECT count(CASE WHEN is_whole THEN pg_advisory_xact_lock(key)
        ELSE pg_advisory_xact_lock_shared(key) END)
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

  /// Accounts that were named, and those that rows name which are locked: `$1`, `$2` accounts; `$3`,
  /// `$4` links; `$5`, `$6` tokens; `$7`, `$8` grants; each with their scopes first.
  static let lockAccounts = PostgresStatement(
    """
    SELECT count(pg_advisory_xact_lock(key)) FROM (
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

  static let all = [lockScopes, lockRows, lockAccounts, tryRows, tryAccounts, tryMerged]

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
