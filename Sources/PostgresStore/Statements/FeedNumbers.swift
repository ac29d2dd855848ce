import EntitlementStore
import Logging

/// SQL for sequence numbers and for the watermark of the change feed.
///
/// The sequence number of a change is `(transaction id + offset) << 16` plus the ordinal of the
/// change within the transaction. Writers of one customer exclude each other before they get a
/// transaction id, so for each customer the order of ids is the order of commits.
enum FeedNumbers {
  /// Limit of changes of one transaction: the ordinal has 16 bits.
  static let maximumChangesOfTransaction = (1 << 16) - 1

  /// One less than the first sequence number of this transaction. Assigns the transaction id, so
  /// all locks must be held before.
  static let base = """
    (SELECT (pg_current_xact_id()::text::bigint + sequence_offset) << 16 FROM meta)
    """

  /// Every change below this number is committed and visible to the statement, or was rolled back.
  /// The watermark waits for all writing transactions of this database, prepared ones included;
  /// those of other databases of the server are ignored. While a transaction of another database
  /// ends or is prepared, it may be missing from both lists. The watermark then waits for it too,
  /// and can temporarily move back.
  static let watermark = """
    (SELECT (coalesce(
        (SELECT min(running.id::text::bigint)
          FROM pg_snapshot_xip(pg_current_snapshot()) AS running (id)
          WHERE NOT EXISTS (
            SELECT 1 FROM pg_stat_get_activity(NULL) AS backend
            WHERE backend.backend_xid = running.id::xid
              AND backend.datid <> (
                SELECT datid FROM pg_stat_get_activity(pg_backend_pid())))
            AND NOT EXISTS (
              SELECT 1 FROM pg_prepared_xact() AS prepared
              WHERE prepared.transaction = running.id::xid
                AND prepared.dbid <> (
                  SELECT datid FROM pg_stat_get_activity(pg_backend_pid())))),
        pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
      + sequence_offset) << 16 FROM meta)
    """

  /// As ``watermark``, on a standby, which knows the running transactions but not their databases.
  static let standbyWatermark = """
    (SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + sequence_offset) << 16
      FROM meta)
    """

  /// The id of the database's history (``DatabaseHistory``). NULL on a standby, and on a server whose
  /// timeline is not the one that the id was written on.
  static let history = """
    (CASE WHEN pg_is_in_recovery() THEN NULL
      WHEN meta.history_timeline = \(timeline)
      THEN meta.history_timeline || '/' || meta.history_id::text END)
    """
  /// The server's timeline, which changes with each promotion of a standby and each point-in-time
  /// recovery. An error on a standby.
  static let timeline = "left(pg_walfile_name(pg_current_wal_lsn()), 8)"
}

/// Tells the histories of a database apart, so that a node notices when it meets another one.
///
/// Each promotion begins a timeline, but its number is not unique: two servers that are promoted
/// from one base, each without knowledge of the other, both get the next one. They may have received
/// different parts of the base, and different commits since. So the database has a random id, and the
/// timeline that it was written on. **A cursor only names an id whose timeline is that of the server.**
/// A node that meets another timeline writes a new id there before it takes a cursor. The id suffices:
///
/// - A server with the same id and its timeline has all commits up to the one that wrote the id, and
///   went on from there on the same timeline. Nothing that a cursor with this id names is lost.
/// - A server that was promoted later, from a base with or without this id, has a timeline above that
///   of its base. So the stored timeline is not its own, and it gets an id of its own. Nothing else
///   has to be committed there before: what a node read there before it wrote the id was read under
///   a cursor of an earlier history, which expires.
/// - A former primary that returns on its own timeline has its own id. A node that followed another
///   history meanwhile notices; a node that did not continues, and misses nothing.
///
/// A copy of the files that is put back and started without a recovery target keeps timeline and id.
/// Nodes must be restarted then, as the documentation of restores says.
enum DatabaseHistory {
  /// Writes a new id if the stored one is of another timeline.
  ///
  /// - Returns: whether it did.
  @discardableResult
  static func begin(_ pool: PostgresPool, limit: Duration) async throws(StoreError) -> Bool {
    let results = try await pool.write(
      [
        PostgresCommand(BeginStatements.begin), PostgresCommand(BeginStatements.commitLocally),
        PostgresCommand(beginHistory), PostgresCommand(BeginStatements.commit),
      ], within: limit)
    return results.count > 2 && results[2].count > 0
  }

  /// Nodes that meet the timeline together wait for the row, and only the first one writes.
  static let beginHistory = PostgresStatement(
    """
    UPDATE meta SET history_timeline = \(FeedNumbers.timeline), history_id = gen_random_uuid()
    WHERE history_timeline IS DISTINCT FROM \(FeedNumbers.timeline)
    RETURNING 1
    """, name: "begin_history")

  private enum BeginStatements {
    static let begin = PostgresStatement("BEGIN", name: "begin_history_step")
    /// Does not wait for synchronous standbys, which may be missing just after a failover. If the id
    /// is lost with the server, its successor has another timeline and gets an id of its own.
    static let commitLocally = PostgresStatement(
      "SELECT set_config('synchronous_commit', 'local', true)", name: "commit_locally")
    static let commit = PostgresStatement("COMMIT", name: "commit_history")
  }
}

/// Keeps sequence numbers growing after transaction ids went back, as in a database that was dumped
/// and restored into another server.
enum SequenceOffset {
  static func raise(_ pool: PostgresPool, limit: Duration, logger: Logger) async throws(StoreError)
  {
    let results = try await pool.write(
      [PostgresCommand(raise), PostgresCommand(deleteOldTokens)], within: limit)
    if let first = results.first, first.count > 0 {
      let offset = try first.number(0, 0)
      logger.notice(
        "the database was restored; sequence numbers continue after its last change",
        metadata: ["offset": .stringConvertible(offset)])
    }
  }

  /// The update locks the row, so that of two nodes that open the database at once the second sees
  /// the result of the first.
  static let raise = PostgresStatement(
    """
    WITH latest AS (
      SELECT greatest(
        (SELECT trimmed_through FROM meta),
        coalesce((SELECT max(sequence) FROM changes), 0)) >> 16
        AS number)
    UPDATE meta SET sequence_offset =
      latest.number - pg_snapshot_xmax(pg_current_snapshot())::text::bigint + 1
    FROM latest
    WHERE latest.number
      >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + meta.sequence_offset
    RETURNING meta.sequence_offset
    """, name: "raise_sequence_offset")

  /// Deletes the tokens of processes that ended or lost their connection. After a day no node needs
  /// them.
  static let deleteOldTokens = PostgresStatement(
    "DELETE FROM commit_tokens WHERE written_at < now() - interval '1 day'",
    name: "delete_old_tokens")
}
