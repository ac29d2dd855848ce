import EntitlementStore
import Logging

/// Whether a server can keep what is answered.
enum ServerCheck {
  /// - Throws: ``StoreError/Code/internalFault`` when it cannot; errors of the database.
  static func check(_ pool: PostgresPool, limit: Duration, logger: Logger) async throws(StoreError)
  {
    let rows = try await pool.query(settings, [], within: limit)
    let version = try rows.number(0, 0)
    guard version >= 14_00_00 else {
      throw StoreError(.internalFault, "PostgreSQL 14 or later is needed")
    }
    guard try rows.string(0, 1) == "UTF8" else {
      throw StoreError(.internalFault, "the database does not have the encoding UTF8")
    }
    guard try rows.string(0, 2) != "off" else {
      throw StoreError(
        .internalFault,
        "synchronous_commit is off for this database or user: commits would be answered before "
          + "they are on the disk")
    }
    if try rows.string(0, 3) == "off" {
      logger.warning(
        "fsync is off in PostgreSQL: commits may be lost when its machine or system stops")
    }
  }

  private static let settings = PostgresStatement(
    """
    SELECT current_setting('server_version_num')::bigint, current_setting('server_encoding'),
      current_setting('synchronous_commit'), current_setting('fsync')
    """, name: "server_settings")
}
