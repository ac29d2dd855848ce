import EntitlementStore

/// Statements of the audit trail (R76–R78).
enum AuditStatements {
  // MARK: Writing

  /// `$1` the chain. Its writers, all in one process, follow each other until the commit. No other
  /// transaction waits. Taken after all other advisory locks, so that no deadlock is possible.
  static let lockChain = PostgresStatement(
    "SELECT pg_advisory_xact_lock(hashtextextended('h' || $1::text, 0))", name: "lock_audit_chain")

  /// `$1` the chain.
  static let head = PostgresStatement(
    "SELECT position, hash FROM audit_heads WHERE chain = $1::text", name: "audit_head")

  /// `$1` scopes, `$2` accounts.
  static let pseudonyms = PostgresStatement(
    """
    SELECT named.scope, named.account, known.pseudonym
    FROM unnest($1::bigint[], $2::text[]) AS named (scope, account)
    CROSS JOIN LATERAL (
      SELECT pseudonym FROM audit_accounts
      WHERE audit_accounts.scope = named.scope AND audit_accounts.account = named.account
      OFFSET 0) AS known
    """, name: "audit_pseudonyms")

  /// One array for each column of ``columns``.
  static let addEntries = PostgresStatement(
    """
    INSERT INTO audit_entries (\(columns))
    SELECT * FROM unnest(
      $1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[],
      $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
      $15::text[], $16::text[], $17::text[], $18::text[], $19::text[])
    """, name: "add_audit_entries")

  /// `$1` the chain, `$2` the position, `$3` the hash.
  static let setHead = PostgresStatement(
    """
    INSERT INTO audit_heads (chain, position, hash) VALUES ($1::text, $2::bigint, $3::text)
    ON CONFLICT (chain) DO UPDATE SET position = excluded.position, hash = excluded.hash
    """, name: "set_audit_head")

  /// `$1` scopes, `$2` accounts.
  static let deletePseudonyms = PostgresStatement(
    """
    DELETE FROM audit_accounts USING unnest($1::bigint[], $2::text[]) AS gone (scope, account)
    WHERE audit_accounts.scope = gone.scope AND audit_accounts.account = gone.account
    """, name: "delete_audit_pseudonyms")

  /// `$1` scopes, `$2` accounts, `$3` pseudonyms.
  static let addPseudonyms = PostgresStatement(
    """
    INSERT INTO audit_accounts (scope, account, pseudonym)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])
    """, name: "add_audit_pseudonyms")

  // MARK: Reading

  static let columns = """
    chain, position, node, at, peer, method, bundle_id, environment, account, former_account,
    author, reason, subject, outcome, previous, hash, on_behalf_of, proof, token_id
    """

  /// `$1` and `$2` the place to continue after, `$3` the limit.
  static let entriesByChain = PostgresStatement(
    """
    SELECT \(columns) FROM audit_entries
    WHERE (chain, position) > ($1::text, $2::bigint) ORDER BY chain, position LIMIT $3::bigint
    """, name: "audit_entries_by_chain")

  /// `$1` to `$3` the place to continue after; `$4` before this moment; then filters, or NULL: `$5`
  /// and `$6` the app and environment, `$7` the method, `$8` the author, `$9` pseudonyms; `$10` the
  /// limit; `$11` another filter: on whose behalf.
  static let entriesByTime = PostgresStatement(
    """
    SELECT \(columns) FROM audit_entries
    WHERE (at, chain, position) > ($1::bigint, $2::text, $3::bigint) AND at < $4::bigint
      AND ($5::text IS NULL OR (bundle_id = $5::text AND environment = $6::text))
      AND ($7::text IS NULL OR method = $7::text) AND ($8::text IS NULL OR author = $8::text)
      AND ($11::text IS NULL OR on_behalf_of = $11::text)
      AND ($9::text[] IS NULL OR account = ANY ($9::text[]) OR former_account = ANY ($9::text[]))
    ORDER BY at, chain, position LIMIT $10::bigint
    """, name: "audit_entries_by_time")

  /// The pseudonyms of an account and of the accounts that were merged into it. `$1` the scope, `$2`
  /// the account.
  static let pseudonymsOfAccount = PostgresStatement(
    """
    WITH owner AS (
      SELECT coalesce(
        (SELECT merged_into FROM accounts WHERE scope = $1::bigint AND account = $2::text),
        $2::text) AS account),
    names AS (
      SELECT account FROM owner
      UNION SELECT accounts.account FROM owner CROSS JOIN LATERAL (
        SELECT account FROM accounts
        WHERE accounts.scope = $1::bigint AND accounts.merged_into = owner.account
        OFFSET 0) AS accounts)
    SELECT known.pseudonym FROM names CROSS JOIN LATERAL (
      SELECT pseudonym FROM audit_accounts
      WHERE audit_accounts.scope = $1::bigint AND audit_accounts.account = names.account
      OFFSET 0) AS known
    """, name: "audit_pseudonyms_of_account")

  /// `$1` the number to continue after, `$2` the limit.
  static let seals = PostgresStatement(
    """
    SELECT number, at, node, previous, hash FROM audit_seals
    WHERE number > $1::bigint ORDER BY number LIMIT $2::bigint
    """, name: "audit_seals")

  /// `$1` and `$2` the first and the last number.
  static let chainsOfSeals = PostgresStatement(
    """
    SELECT number, chain, position, hash, removed_position, removed_hash FROM audit_seal_chains
    WHERE number BETWEEN $1::bigint AND $2::bigint ORDER BY number, chain
    """, name: "audit_chains_of_seals")

  // MARK: Sealing

  /// The moment of the database. Retention does not depend on the clocks of nodes.
  private static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

  /// Whether there is something to seal or to remove. `$1` days; NULL for no removal.
  static let isDue = PostgresStatement(
    """
    SELECT (
        SELECT chain FROM audit_heads WHERE position <> sealed_position AND chain > ''
        ORDER BY chain LIMIT 1) IS NOT NULL
      OR (
        SELECT at FROM audit_entries
        WHERE at < (extract(epoch FROM now()) * 1000)::bigint - $1::bigint * 86400000
        ORDER BY at, chain, position LIMIT 1) IS NOT NULL
    """, name: "is_audit_due")

  /// Takes or renews the lease for two rounds; no row when another process has it. Its row lock
  /// orders the transactions that seal. `$1` the process.
  static let lease = PostgresStatement(
    """
    INSERT INTO audit_lease (holder, expires_at)
    VALUES ($1::text, clock_timestamp() + interval '130 seconds')
    ON CONFLICT (is_only) DO UPDATE
    SET holder = excluded.holder, expires_at = excluded.expires_at
    WHERE audit_lease.holder = excluded.holder OR audit_lease.expires_at < clock_timestamp()
    RETURNING \(now)
    """, name: "lease_audit")

  static let lastSeal = PostgresStatement(
    """
    SELECT number, hash FROM audit_seals WHERE number > 0 ORDER BY number DESC LIMIT 1
    """, name: "last_audit_seal")

  /// Skips chains that are being written: the next seal has them. `$1` the limit.
  static let unsealed = PostgresStatement(
    """
    SELECT chain, position, hash, removed_position, removed_hash FROM audit_heads
    WHERE position <> sealed_position AND chain > '' ORDER BY chain LIMIT $1::bigint
    FOR UPDATE SKIP LOCKED
    """, name: "unsealed_audit_chains")

  /// `$1` the moment, `$2` the limit of entries that are looked at.
  static let oldestEntries = PostgresStatement(
    """
    SELECT DISTINCT chain FROM (
      SELECT chain FROM audit_entries WHERE at < $1::bigint
      ORDER BY at, chain, position LIMIT $2::bigint) AS oldest
    """, name: "oldest_audit_entries")

  /// Locks heads of chains, and the last position that may be removed from each: before the first
  /// entry that is not old. `$1` chains, `$2` the moment, `$3` the limit of entries of a chain.
  static let removable = PostgresStatement(
    """
    SELECT old.chain, head.position, head.hash, bound.position, entry.hash
    FROM unnest($1::text[]) AS old (chain)
    CROSS JOIN LATERAL (
      SELECT position, hash FROM audit_heads WHERE audit_heads.chain = old.chain
      FOR UPDATE OFFSET 0) AS head
    CROSS JOIN LATERAL (
      SELECT least(
        (SELECT min(position) FROM audit_entries WHERE audit_entries.chain = old.chain)
          + $3::bigint - 1,
        coalesce(
          (SELECT min(position) - 1 FROM audit_entries
            WHERE audit_entries.chain = old.chain AND at >= $2::bigint),
          (SELECT max(position) FROM audit_entries WHERE audit_entries.chain = old.chain)))
        AS position OFFSET 0) AS bound
    CROSS JOIN LATERAL (
      SELECT hash FROM audit_entries
      WHERE audit_entries.chain = old.chain AND audit_entries.position = bound.position
      OFFSET 0) AS entry
    """, name: "removable_audit_entries")

  static let allowRemoval = PostgresStatement(
    "SELECT set_config('entitle.audit_removal', 'on', true)", name: "allow_audit_removal")

  /// `$1` chains, `$2` their last positions to remove.
  static let removeEntries = PostgresStatement(
    """
    DELETE FROM audit_entries USING unnest($1::text[], $2::bigint[]) AS gone (chain, position)
    WHERE audit_entries.chain = gone.chain AND audit_entries.position <= gone.position
    """, name: "remove_audit_entries")

  /// `$1` the number, `$2` the moment, `$3` the node, `$4` the former hash, `$5` the hash.
  static let addSeal = PostgresStatement(
    """
    INSERT INTO audit_seals (number, at, node, previous, hash)
    VALUES ($1::bigint, $2::bigint, $3::text, $4::text, $5::text)
    """, name: "add_audit_seal")

  /// `$1` the number of the seal; then one array for each column.
  static let addSealChains = PostgresStatement(
    """
    INSERT INTO audit_seal_chains (
      number, chain, position, hash, removed_position, removed_hash)
    SELECT $1::bigint, * FROM unnest(
      $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::text[])
    """, name: "add_audit_seal_chains")

  /// `$1` chains, `$2` sealed positions, `$3` and `$4` removed positions and hashes.
  static let setSealed = PostgresStatement(
    """
    UPDATE audit_heads SET sealed_position = row.sealed, removed_position = row.removed,
      removed_hash = row.removed_hash
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[])
      AS row (chain, sealed, removed, removed_hash)
    WHERE audit_heads.chain = row.chain
    """, name: "set_audit_sealed")

  static let all = [
    head, pseudonyms, addEntries, setHead, deletePseudonyms, addPseudonyms, entriesByChain,
    entriesByTime, pseudonymsOfAccount, seals, chainsOfSeals, isDue, lease, lastSeal, unsealed,
    oldestEntries, removable, removeEntries, addSeal, addSealChains, setSealed,
  ]
}
