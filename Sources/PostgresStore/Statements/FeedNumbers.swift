/// SQL that makes sequence numbers of transactions, and tells up to where the feed is complete.
///
/// A change has the number `(id of its transaction + offset) << 16`, and its ordinal within the
/// transaction below that. Writers of one customer exclude each other before they get an id, so for
/// each customer the order of ids is that of commits.
enum FeedNumbers {
  /// Changes of one transaction: what the low bits can tell apart.
  static let maximumChangesOfTransaction = (1 << 16) - 1

  /// One less than the first number of this transaction. It gives the transaction its id: every lock
  /// has to be held already.
  static let base = """
    (SELECT (pg_current_xact_id()::text::bigint + sequence_offset) << 16 FROM meta)
    """

  /// Every change below this number is committed and seen by the statement, or never will be. Waits
  /// for all that write in this database, prepared transactions included; those of the server's other
  /// databases do not matter. While one of them ends or is prepared, neither list may have it: then it
  /// is waited for, and for a moment the horizon lies before where it was.
  static let horizon = """
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

  /// As ``horizon``, on a standby: it knows which transactions run, but not whose they are.
  static let standbyHorizon = """
    (SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + sequence_offset) << 16
      FROM meta)
    """

  /// The server's timeline: another one after each promotion of a standby and each restoration to a
  /// moment. NULL on a standby, which follows whatever timeline its primary has.
  static let history = """
    (CASE WHEN pg_is_in_recovery() THEN NULL
      ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END)
    """
}
