import EntitlementStore

/// Statements of the change feed, which is always read from the primary.
enum FeedStatements {
  /// `$1` the sequence number to continue after, `$2` the limit. Returns at least one row; its
  /// number is NULL when nothing follows.
  static let page = PostgresStatement(
    """
    SELECT meta.trimmed_through, change.*
    FROM meta LEFT JOIN LATERAL (
      SELECT changes.sequence, changes.scope, changes.account, changes.chain,
        changes.kinds, changes.committed_at, changes.events
      FROM changes
      WHERE changes.sequence > $1::bigint AND changes.sequence < \(FeedNumbers.watermark)
      ORDER BY changes.sequence LIMIT $2::bigint) AS change ON true
    """, name: "feed_page")

  static let end = PostgresStatement(
    "SELECT \(endOfFeed) FROM meta", name: "feed_end")

  /// The last change below the watermark, or the last trimmed one.
  private static let endOfFeed = """
    greatest(meta.trimmed_through, coalesce((
      SELECT changes.sequence FROM changes WHERE changes.sequence < \(FeedNumbers.watermark)
      ORDER BY changes.sequence DESC LIMIT 1), 0))
    """

  /// `$1` a sequence number. Returns the number up to which the feed was trimmed, and the commit
  /// moment of the change; NULL when there is no such change.
  static let moment = PostgresStatement(
    """
    SELECT meta.trimmed_through,
      (SELECT changes.committed_at FROM changes WHERE changes.sequence = $1::bigint)
    FROM meta
    """, name: "feed_moment")

  /// The start of a follower: the end of the feed, the latest change of all, and the snapshot of
  /// both.
  static let followerCursor = PostgresStatement(
    """
    SELECT \(endOfFeed),
      (SELECT changes.sequence FROM changes WHERE changes.sequence > meta.trimmed_through
        ORDER BY changes.sequence DESC LIMIT 1),
      pg_current_snapshot()::text, \(FeedNumbers.history)
    FROM meta
    """, name: "follower_cursor")

  /// Changes that are visible now and were not visible in an earlier snapshot: all changes beyond
  /// the latest number of that snapshot, and changes below it by transactions that were in flight
  /// then. Each change is therefore read once, however long another transaction delays the feed.
  ///
  /// `$1` the latest number, `$2` the snapshot, `$3` the limit of changes beyond the latest number.
  /// Returns at least one row; its number is NULL when nothing is new.
  static let changedCustomers = PostgresStatement(
    """
    SELECT meta.trimmed_through, \(endOfFeed), pg_current_snapshot()::text,
      \(FeedNumbers.history), change.*
    FROM meta LEFT JOIN LATERAL (
      (SELECT \(customerColumns) FROM changes WHERE changes.sequence > $1::bigint
        ORDER BY changes.sequence LIMIT $3::bigint)
      UNION ALL
      SELECT \(customerColumns)
      FROM pg_snapshot_xip($2::text::pg_snapshot) AS running (id)
        CROSS JOIN LATERAL (
          SELECT (running.id::text::bigint + meta.sequence_offset) << 16 AS base OFFSET 0) AS own
        JOIN changes ON changes.sequence > own.base
          AND changes.sequence <= least(own.base + \(FeedNumbers.maximumChangesOfTransaction),
            $1::bigint)) AS change ON true
    """, name: "changed_customers")

  private static let customerColumns = """
    changes.sequence, changes.scope, changes.account, changes.chain, changes.kinds
    """

  /// `$1` changes committed before this moment are trimmed, `$2` the limit, `$3` now. Deletes from
  /// the beginning of the feed up to the first younger change. A change with a commit moment in the
  /// future is deleted together with the next old one. The row of a deleted account ends
  /// with its last change, the deletion.
  static let trim = PostgresStatement(
    """
    WITH oldest AS MATERIALIZED (
      SELECT changes.sequence, changes.committed_at FROM changes
      WHERE changes.sequence < \(FeedNumbers.watermark)
      ORDER BY changes.sequence LIMIT $2::bigint),
    next AS MATERIALIZED (
      SELECT changes.committed_at FROM changes
      WHERE changes.sequence > (SELECT max(sequence) FROM oldest)
        AND changes.sequence < \(FeedNumbers.watermark) AND changes.committed_at <= $3::bigint
      ORDER BY changes.sequence LIMIT 1),
    kept AS MATERIALIZED (
      SELECT min(sequence) AS sequence FROM oldest
      WHERE committed_at >= $1::bigint AND committed_at <= $3::bigint),
    last AS MATERIALIZED (
      SELECT max(oldest.sequence) AS sequence FROM oldest, kept
      WHERE oldest.sequence < coalesce(kept.sequence, \(Int64.max))
        AND (oldest.committed_at < $1::bigint AND oldest.committed_at <= $3::bigint
          OR kept.sequence IS NULL AND (SELECT committed_at FROM next) < $1::bigint)),
    gone AS (
      DELETE FROM changes WHERE changes.sequence <= (SELECT sequence FROM last)
      RETURNING changes.scope, changes.account, changes.kinds),
    buried AS (
      DELETE FROM accounts USING (
        SELECT DISTINCT scope, account FROM gone
        WHERE kinds & \(ChangeKinds.deleted.rawValue) <> 0 OFFSET 0) AS deletion
      WHERE accounts.scope = deletion.scope AND accounts.account = deletion.account
        AND accounts.is_deleted AND accounts.revision <= (SELECT sequence FROM last)),
    mark AS (
      UPDATE meta SET trimmed_through = greatest(trimmed_through, last.sequence)
      FROM last WHERE last.sequence IS NOT NULL)
    SELECT count(*) FROM gone
    """, name: "trim_feed")

  static let clock = PostgresStatement(
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint", name: "clock")
  static let all = [clock, page, end, moment, followerCursor, changedCustomers, trim]
}
