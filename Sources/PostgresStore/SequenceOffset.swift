import EntitlementStore
import Logging

/// Keeps sequence numbers growing where transaction ids went back: in a database that was dumped and
/// restored into another server.
enum SequenceOffset {
  static func raise(_ pool: PostgresPool, limit: Duration, logger: Logger) async throws(StoreError)
  {
    let results = try await pool.write(
      [PostgresCommand(raise), PostgresCommand(deleteOldTokens)], within: limit)
    if let first = results.first, first.count > 0 {
      let offset = try first.number(0, 0)
      logger.notice(
        "the database was restored: its changes are numbered from where they were",
        metadata: ["offset": "\(offset)"])
    }
  }

  /// The row is locked while it is looked at, so that of two that open the database at once one sees
  /// what the other did.
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

  /// Of processes that ended, or lost their connection: nobody will ask for them after so long.
  static let deleteOldTokens = PostgresStatement(
    "DELETE FROM commit_tokens WHERE written_at < now() - interval '1 day'",
    name: "delete_old_tokens")
}
