/// The feed: always read from the primary.
enum FeedStatements {
  /// `$1` the number to begin after, `$2` how many. At least one row; without a number where nothing
  /// follows.
  static let page = PostgresStatement(
    """
    SELECT meta.trimmed_through, change.*
    FROM meta LEFT JOIN LATERAL (
      SELECT changes.sequence, changes.scope, changes.account, changes.chain,
        changes.kinds, changes.committed_at, changes.events
      FROM changes
      WHERE changes.sequence > $1::bigint AND changes.sequence < \(FeedNumbers.horizon)
      ORDER BY changes.sequence LIMIT $2::bigint) AS change ON true
    """, name: "feed_page")

  static let end = PostgresStatement(
    """
    SELECT greatest(meta.trimmed_through, coalesce((
      SELECT changes.sequence FROM changes WHERE changes.sequence < \(FeedNumbers.horizon)
      ORDER BY changes.sequence DESC LIMIT 1), 0))
    FROM meta
    """, name: "feed_end")

  /// Every change after a number that is committed, in order. As ``page``, with the horizon.
  static let changedCustomers = PostgresStatement(
    """
    SELECT meta.trimmed_through, \(FeedNumbers.horizon), change.*
    FROM meta LEFT JOIN LATERAL (
      SELECT changes.sequence, changes.scope, changes.account, changes.chain,
        changes.kinds
      FROM changes WHERE changes.sequence > $1::bigint
      ORDER BY changes.sequence LIMIT $2::bigint) AS change ON true
    """, name: "changed_customers")

  /// `$1` the moment before which changes were committed, `$2` how many at most. Changes go from the
  /// beginning of the feed up to the first that is younger.
  static let trim = PostgresStatement(
    """
    WITH oldest AS MATERIALIZED (
      SELECT changes.sequence, changes.committed_at FROM changes
      WHERE changes.sequence < \(FeedNumbers.horizon)
      ORDER BY changes.sequence LIMIT $2::bigint),
    last AS MATERIALIZED (
      SELECT max(sequence) AS sequence FROM oldest
      WHERE sequence < coalesce(
        (SELECT min(sequence) FROM oldest WHERE committed_at >= $1::bigint), \(Int64.max))),
    gone AS (
      DELETE FROM changes WHERE changes.sequence <= (SELECT sequence FROM last)
      RETURNING 1),
    buried AS (
      DELETE FROM accounts
      WHERE accounts.is_deleted AND accounts.revision <= (SELECT sequence FROM last)),
    mark AS (
      UPDATE meta SET trimmed_through = greatest(trimmed_through, last.sequence)
      FROM last WHERE last.sequence IS NOT NULL)
    SELECT count(*) FROM gone
    """, name: "trim_feed")

  static let all = [page, end, changedCustomers, trim]
}
