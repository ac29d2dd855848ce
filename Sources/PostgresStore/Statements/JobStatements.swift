/// Statements for jobs of the App Store Server API (R79). Their states, as `AppStoreJob.State`: 1 is open,
/// 3 given up.
enum JobStatements {
  /// The columns that `PostgresRows.job` reads.
  static func columns(_ table: String) -> String {
    """
    \(table).id, \(table).scope, \(table).kind, \(table).chain, \(table).state,
    \(table).opening, \(table).reasons, \(table).opened_at, \(table).changed_at,
    \(table).due_at, \(table).lease, \(table).failures, \(table).unexplained,
    \(table).last_failure, \(table).since, \(table).complete_until, \(table).cursor,
    \(table).calls, \(table).payloads, \(table).added, \(table).refused
    """
  }

  // MARK: Reading

  /// `$1` scopes, `$2` kinds, `$3` chains. The first column as in ``LoadStatements``.
  static let load = PostgresStatement(
    """
    SELECT key.place, \(columns("job"))
    FROM unnest($1::bigint[], $2::bigint[], $3::text[])
      WITH ORDINALITY AS key (scope, kind, chain, place)
    CROSS JOIN LATERAL (
      SELECT * FROM app_store_jobs
      WHERE app_store_jobs.scope = key.scope AND app_store_jobs.kind = key.kind
        AND app_store_jobs.chain = key.chain
      OFFSET 0) AS job
    """, name: "load_jobs")

  /// `$1` the id.
  static let byID = PostgresStatement(
    "SELECT \(columns("app_store_jobs")) FROM app_store_jobs WHERE id = $1::bigint",
    name: "job_by_id")

  /// Jobs in the order of their ids, with their places among those that were looked through, and whether
  /// they are selected. `$1` the id to continue after, `$2` how many rows to look through, `$3` scopes and
  /// `$4` a kind, each NULL for all, `$5` the limit.
  static let page = page(where: "app_store_jobs.id > $1::bigint", name: "job_page")

  /// As ``page``, with `$6` the state.
  static let pageByState = page(
    where: "app_store_jobs.state = $6::bigint AND app_store_jobs.id > $1::bigint",
    name: "job_page_by_state")

  private static func page(where condition: String, name: String) -> PostgresStatement {
    PostgresStatement(
      """
      WITH scanned AS MATERIALIZED (
        SELECT app_store_jobs.*, row_number() OVER (ORDER BY app_store_jobs.id) AS place
        FROM app_store_jobs WHERE \(condition)
        ORDER BY app_store_jobs.id LIMIT $2::bigint),
      judged AS (
        SELECT scanned.*,
          ($3::bigint[] IS NULL OR scope = ANY ($3::bigint[]))
            AND ($4::bigint IS NULL OR kind = $4::bigint) AS is_selected
        FROM scanned)
      SELECT \(columns("judged")), judged.place, judged.is_selected
      FROM judged WHERE is_selected OR place = $2::bigint
      ORDER BY place LIMIT $5::bigint
      """, name: name)
  }

  /// Open jobs and those that were given up, counted up to `$1`, and when the first open one of the scopes
  /// `$2` is due. The condition on ids, which all rows satisfy, names the index.
  static let counts = PostgresStatement(
    """
    SELECT
      (SELECT count(*) FROM (
        SELECT 1 FROM app_store_jobs WHERE state = 1 AND id > 0 LIMIT $1::bigint) AS open),
      (SELECT count(*) FROM (
        SELECT 1 FROM app_store_jobs WHERE state = 3 AND id > 0 LIMIT $1::bigint) AS given_up),
      (SELECT min(first.due_at) FROM unnest($2::bigint[]) AS named (scope)
        CROSS JOIN LATERAL (
          SELECT due_at FROM app_store_jobs
          WHERE app_store_jobs.scope = named.scope AND state = 1
          ORDER BY due_at LIMIT 1) AS first)
    """, name: "count_jobs")

  // MARK: Leasing

  /// Whether a job is due. `$1` scopes, `$2` the moment.
  static let isDue = PostgresStatement(
    """
    SELECT EXISTS (
      SELECT 1 FROM unnest($1::bigint[]) AS named (scope)
      CROSS JOIN LATERAL (
        SELECT 1 FROM app_store_jobs
        WHERE app_store_jobs.scope = named.scope AND state = 1 AND due_at <= $2::bigint
        ORDER BY due_at LIMIT 1) AS due)
    """, name: "is_job_due")

  /// Leases due jobs; a lease that has ended without a report is a failure. `$1` scopes, `$2` the moment,
  /// `$3` the lease, `$4` its end, `$5` the limit. Scopes take turns, one job each, in a random order, so
  /// that none waits for the others however low the limit is. Consumption, kind 3, goes first in each, as
  /// it has a deadline.
  ///
  /// Waits for no lock. Row locks exclude other statements of this kind. A write reads a job under the
  /// advisory locks of its key (``LockName``) and replaces it later; as this statement takes the same
  /// locks, no write replaces a lease that it has not read. A job whose locks are not available is left
  /// to the next call.
  static let lease = PostgresStatement(
    """
    UPDATE app_store_jobs SET
      failures = failures + (lease IS NOT NULL)::int,
      last_failure = CASE WHEN lease IS NULL THEN last_failure
        ELSE 'the lease ended without a report' END,
      lease = $3::text, due_at = $4::bigint
    FROM (
      SELECT candidate.id FROM unnest($1::bigint[]) AS named (scope)
      CROSS JOIN LATERAL (
        SELECT due.id, row_number() OVER (ORDER BY due.kind <> 3, due.due_at, due.id) AS turn
        FROM (
          SELECT * FROM (
            SELECT job.id, job.kind, job.chain, job.due_at FROM app_store_jobs AS job
            WHERE job.scope = named.scope AND job.state = 1 AND job.kind = 3
              AND job.due_at <= $2::bigint
            ORDER BY job.due_at, job.id LIMIT $5::bigint
            FOR UPDATE SKIP LOCKED) AS urgent
          UNION ALL
          SELECT * FROM (
            SELECT job.id, job.kind, job.chain, job.due_at FROM app_store_jobs AS job
            WHERE job.scope = named.scope AND job.state = 1 AND job.kind <> 3
              AND job.due_at <= $2::bigint
            ORDER BY job.due_at, job.id LIMIT $5::bigint
            FOR UPDATE SKIP LOCKED) AS other) AS due
        WHERE pg_try_advisory_xact_lock_shared(hashtextextended('s' || named.scope, 0))
          AND pg_try_advisory_xact_lock(hashtextextended(
            CASE due.kind WHEN 1 THEN 'c' WHEN 3 THEN 'f' ELSE 'j' END || named.scope || ':' || due.chain, 0))
        OFFSET 0) AS candidate
      ORDER BY candidate.turn, random() LIMIT $5::bigint) AS leased
    WHERE app_store_jobs.id = leased.id
    RETURNING \(columns("app_store_jobs"))
    """, name: "lease_jobs")

  // MARK: Writing

  /// One array for each column of ``addedColumns``.
  static let add = PostgresStatement(
    """
    INSERT INTO app_store_jobs (\(addedColumns))
    SELECT * FROM unnest(
      $1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[],
      $7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::bigint[], $12::bigint[],
      $13::text[], $14::bigint[], $15::bigint[], $16::text[], $17::bigint[], $18::bigint[],
      $19::bigint[], $20::bigint[])
    """, name: "add_jobs")

  private static let addedColumns = """
    scope, kind, chain, state, opening, reasons, opened_at, changed_at, due_at, lease, failures,
    unexplained, last_failure, since, complete_until, cursor, calls, payloads, added, refused
    """

  /// `$1` ids, then one array for each column.
  static let write = PostgresStatement(
    """
    UPDATE app_store_jobs SET
      state = row.state, opening = row.opening, reasons = row.reasons, opened_at = row.opened_at,
      changed_at = row.changed_at, due_at = row.due_at, lease = row.lease,
      failures = row.failures, unexplained = row.unexplained, last_failure = row.last_failure,
      since = row.since, complete_until = row.complete_until, cursor = row.cursor,
      calls = row.calls, payloads = row.payloads, added = row.added, refused = row.refused
    FROM unnest(
        $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
        $7::bigint[], $8::text[], $9::bigint[], $10::bigint[], $11::text[], $12::bigint[],
        $13::bigint[], $14::text[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[])
      AS row (
        id, state, opening, reasons, opened_at, changed_at, due_at, lease, failures, unexplained,
        last_failure, since, complete_until, cursor, calls, payloads, added, refused)
    WHERE app_store_jobs.id = row.id
    """, name: "write_jobs")

  static let all = [
    load, byID, page, pageByState, counts, isDue, lease, add, write,
  ]
}
