/// Statements for imports of accounts (R89). Their states, as `AccountImportRow.State`: 1 is waiting, 2 done,
/// 3 failed, 5 cancelled.
enum ImportStatements {
  /// The columns that `PostgresRows.importRow` reads.
  private static let columns = """
    imports.name, import_rows.number, import_rows.scope, import_rows.falls_back,
    import_rows.account, import_rows.transaction_id, import_rows.token, import_rows.state,
    import_rows.reason, import_rows.detail, import_rows.due_at, import_rows.lease,
    import_rows.failures, import_rows.refusals, import_rows.cursor, import_rows.changed_at
    """

  // MARK: Reading

  static let byName = PostgresStatement(
    "SELECT id, name, bundle_id, author, began_at FROM imports WHERE name = $1::text",
    name: "import_by_name")

  /// `$1` the id to continue after, `$2` the limit. The last column is the number of the last row.
  static let page = PostgresStatement(
    """
    SELECT id, name, bundle_id, author, began_at,
      coalesce((SELECT max(number) FROM import_rows WHERE import = imports.id), 0)
    FROM imports WHERE id > $1::bigint ORDER BY id LIMIT $2::bigint
    """, name: "import_page")

  static let lastRow = PostgresStatement(
    "SELECT coalesce(max(number), 0) FROM import_rows WHERE import = $1::bigint",
    name: "last_import_row")

  static let counts = PostgresStatement(
    """
    SELECT state, reason, count(*) FROM import_rows WHERE import = $1::bigint GROUP BY state, reason
    """, name: "import_counts")

  /// `$1` the import, `$2` the state, `$3` the number to continue after, `$4` the limit, `$5` scopes.
  static let rowPage = PostgresStatement(
    """
    SELECT \(columns) FROM import_rows JOIN imports ON imports.id = import_rows.import
    WHERE import_rows.import = $1::bigint AND import_rows.state = $2::bigint
      AND import_rows.number > $3::bigint AND import_rows.scope = ANY($5::bigint[])
    ORDER BY import_rows.number LIMIT $4::bigint
    """, name: "import_row_page")

  /// `$1` the scope, `$2` accounts, `$3` how many rows of each.
  static let ofAccounts = PostgresStatement(
    """
    SELECT \(columns)
    FROM unnest($2::text[]) AS wanted (account)
    CROSS JOIN LATERAL (
      SELECT * FROM import_rows AS named
      WHERE named.scope = $1::bigint AND named.account = wanted.account
      ORDER BY named.import, named.number LIMIT $3::bigint) AS import_rows
    JOIN imports ON imports.id = import_rows.import
    """, name: "import_rows_of_accounts")

  /// Waiting rows, counted up to `$1`. The condition on scopes, which all rows satisfy, names the index.
  static let waiting = PostgresStatement(
    """
    SELECT count(*) FROM (
      SELECT 1 FROM import_rows WHERE state = 1 AND scope > 0 LIMIT $1::bigint) AS waiting
    """, name: "waiting_import_rows")

  /// Rows of the import `$1` with the numbers `$2`.
  static let known = PostgresStatement(
    """
    SELECT \(columns)
    FROM unnest($2::bigint[]) AS wanted (number)
    CROSS JOIN LATERAL (
      SELECT * FROM import_rows
      WHERE import_rows.import = $1::bigint AND import_rows.number = wanted.number
      OFFSET 0) AS import_rows
    JOIN imports ON imports.id = import_rows.import
    """, name: "known_import_rows")

  /// Waiting and done rows with the transactions of `$1` scopes and `$2` ids, those that wait first.
  static let twins = PostgresStatement(
    """
    SELECT \(columns)
    FROM unnest($1::bigint[], $2::text[]) AS wanted (scope, transaction_id)
    CROSS JOIN LATERAL (
      SELECT * FROM import_rows AS twin
      WHERE twin.scope = wanted.scope AND twin.transaction_id = wanted.transaction_id
        AND twin.state IN (1, 2)
      ORDER BY twin.state, twin.import, twin.number LIMIT 16) AS import_rows
    JOIN imports ON imports.id = import_rows.import
    """, name: "import_row_twins")

  // MARK: Adding

  static let begin = PostgresStatement("BEGIN ISOLATION LEVEL READ COMMITTED", name: "begin_import")
  static let commit = PostgresStatement("COMMIT", name: "commit_import")
  static let rollback = PostgresStatement("ROLLBACK", name: "roll_back_import")

  /// Batches are added one after the other, so that each sees the rows of the others. As the lock of
  /// migrations, with the next key.
  static let lock = PostgresStatement(
    "SELECT pg_advisory_xact_lock(1164866668, 2)", name: "lock_imports")

  /// `$1` name, `$2` bundle id, `$3` author, `$4` moment. Then ``byName`` finds it.
  static let insert = PostgresStatement(
    """
    INSERT INTO imports (name, bundle_id, author, began_at, rows)
    VALUES ($1::text, $2::text, $3::text, $4::bigint, 0) ON CONFLICT (name) DO NOTHING
    """, name: "insert_import")

  /// Of all imports. There are as many as operators began, and did not delete.
  static let storedRows = PostgresStatement(
    "SELECT coalesce(sum(rows), 0)::bigint FROM imports", name: "stored_import_rows")

  /// `$1` the import, `$2` how many more.
  static let addCount = PostgresStatement(
    "UPDATE imports SET rows = rows + $2::bigint WHERE id = $1::bigint", name: "add_import_count")

  /// `$1` the import, then an array for each column.
  static let insertRows = PostgresStatement(
    """
    INSERT INTO import_rows (
      import, number, scope, falls_back, account, transaction_id, token, state, reason, detail,
      due_at, changed_at, failures, refusals, cursor)
    SELECT $1::bigint, added.*, 0, 0, ''
    FROM unnest(
      $2::bigint[], $3::bigint[], $4::boolean[], $5::text[], $6::text[], $7::text[], $8::bigint[],
      $9::bigint[], $10::text[], $11::bigint[], $12::bigint[]) AS added
    """, name: "insert_import_rows")

  // MARK: Leasing and reporting

  /// Whether a row is due. `$1` scopes, `$2` the moment.
  static let isDue = PostgresStatement(
    """
    SELECT EXISTS (
      SELECT 1 FROM unnest($1::bigint[]) AS named (scope)
      CROSS JOIN LATERAL (
        SELECT 1 FROM import_rows
        WHERE import_rows.scope = named.scope AND state = 1 AND due_at <= $2::bigint
        ORDER BY due_at LIMIT 1) AS due)
    """, name: "is_import_row_due")

  /// Leases due rows; a lease that has ended without a report is a failure. `$1` scopes, `$2` the moment,
  /// `$3` the lease, `$4` its end, `$5` the limit. Scopes take turns. Waits for no lock: rows that are
  /// locked are left to the next call.
  static let lease = PostgresStatement(
    """
    UPDATE import_rows SET
      failures = failures + (lease IS NOT NULL)::int,
      detail = CASE WHEN lease IS NULL THEN detail
        ELSE 'the lease ended without a report' END,
      lease = $3::text, due_at = $4::bigint
    FROM (
      SELECT candidate.import, candidate.number FROM unnest($1::bigint[]) AS named (scope)
      CROSS JOIN LATERAL (
        SELECT due.import, due.number,
          row_number() OVER (ORDER BY due.due_at, due.import, due.number) AS turn
        FROM (
          SELECT row.import, row.number, row.due_at FROM import_rows AS row
          WHERE row.scope = named.scope AND row.state = 1 AND row.due_at <= $2::bigint
          ORDER BY row.due_at, row.import, row.number LIMIT $5::bigint
          FOR UPDATE SKIP LOCKED) AS due
        OFFSET 0) AS candidate
      ORDER BY candidate.turn, random() LIMIT $5::bigint) AS leased,
      imports
    WHERE import_rows.import = leased.import AND import_rows.number = leased.number
      AND imports.id = leased.import
    RETURNING \(columns)
    """, name: "lease_import_rows")

  /// Only the holder of a lease. What is NULL stays. `$1` names of imports, `$2` numbers, `$3` leases,
  /// then an array for each column.
  static let report = PostgresStatement(
    """
    UPDATE import_rows SET
      state = told.state, reason = told.reason, detail = coalesce(told.detail, import_rows.detail),
      lease = NULL, due_at = told.due_at,
      failures = coalesce(told.failures, import_rows.failures),
      refusals = coalesce(told.refusals, import_rows.refusals), cursor = told.cursor,
      changed_at = told.changed_at
    FROM unnest(
        $1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[],
        $8::bigint[], $9::bigint[], $10::text[], $11::bigint[])
      AS told (
        name, number, lease, state, reason, detail, due_at, failures, refusals, cursor, changed_at)
      JOIN imports ON imports.name = told.name
    WHERE import_rows.import = imports.id AND import_rows.number = told.number
      AND import_rows.lease = told.lease
    """, name: "report_import_rows")

  /// Only the holder of a lease. `$1` names of imports, `$2` numbers, `$3` leases, `$4` their end.
  static let renew = PostgresStatement(
    """
    UPDATE import_rows SET due_at = $4::bigint
    FROM unnest($1::text[], $2::bigint[], $3::text[]) AS held (name, number, lease)
      JOIN imports ON imports.name = held.name
    WHERE import_rows.import = imports.id AND import_rows.number = held.number
      AND import_rows.lease = held.lease
    """, name: "renew_import_rows")

  // MARK: Changes by operators

  /// Each changes rows of the import `$1`, at most `$2`, at the moment `$3`, in the scopes `$4`, and counts
  /// them. Rows that are reported or leased meanwhile are looked at again when they are locked.
  static let cancel = change(
    "state = 5, lease = NULL, changed_at = $3::bigint", where: "state = 1", name: "cancel")

  /// Without those that are not valid, and conflicts with a row that waits or is cancelled.
  static let retryFailed = change(
    reopening,
    where: """
      state = 3 AND reason > 1
          AND (reason <> 3 OR NOT EXISTS (
            SELECT 1 FROM import_rows AS other
            WHERE other.scope = import_rows.scope
              AND other.transaction_id = import_rows.transaction_id
              AND other.state IN (1, 5) AND other.account <> import_rows.account))
      """, name: "retry_failed")

  static let retryCancelled = change(reopening, where: "state = 5", name: "retry_cancelled")

  private static let reopening = """
    state = 1, reason = 0, detail = '', due_at = $3::bigint, lease = NULL, failures = 0,
    refusals = 0, cursor = '', changed_at = $3::bigint
    """

  private static func change(
    _ columns: String, where condition: String, name: String
  ) -> PostgresStatement {
    PostgresStatement(
      """
      WITH chosen AS MATERIALIZED (
        SELECT number FROM import_rows
        WHERE import = $1::bigint AND scope = ANY($4::bigint[]) AND \(condition)
        ORDER BY number LIMIT $2::bigint FOR UPDATE OF import_rows),
      changed AS (
        UPDATE import_rows SET \(columns)
        FROM chosen
        WHERE import_rows.import = $1::bigint AND import_rows.number = chosen.number
        RETURNING 1)
      SELECT count(*) FROM changed
      """, name: "\(name)_import_rows")
  }

  /// As ``cancel``, without a moment and scopes.
  static let deleteRows = PostgresStatement(
    """
    WITH chosen AS MATERIALIZED (
      SELECT number FROM import_rows WHERE import = $1::bigint ORDER BY number LIMIT $2::bigint
      FOR UPDATE),
    deleted AS (
      DELETE FROM import_rows USING chosen
      WHERE import_rows.import = $1::bigint AND import_rows.number = chosen.number
      RETURNING 1)
    SELECT count(*) FROM deleted
    """, name: "delete_import_rows")

  /// An import without rows.
  static let delete = PostgresStatement(
    """
    DELETE FROM imports WHERE id = $1::bigint
      AND NOT EXISTS (SELECT 1 FROM import_rows WHERE import = $1::bigint)
    """, name: "delete_import")

  /// The rows of accounts that are deleted (R46). `$1` scopes, `$2` accounts.
  static let erase = PostgresStatement(
    """
    DELETE FROM import_rows USING unnest($1::bigint[], $2::text[]) AS gone (scope, account)
    WHERE import_rows.scope = gone.scope AND import_rows.account = gone.account
    """, name: "erase_import_rows")

  static let all = [
    byName, page, lastRow, counts, rowPage, ofAccounts, waiting, known, twins, insert, storedRows,
    addCount, insertRows, isDue, lease, report, renew, cancel, retryFailed, retryCancelled,
    deleteRows, delete, erase,
  ]
}
