package import EntitlementStore
import Logging

/// The schema of a database, and how it came to be: numbered SQL files, each applied once, in a
/// transaction of its own, and for ever unchanged. The table `schema_migrations` tells which.
package enum PostgresSchema {
  /// Which steps a database has.
  ///
  /// - Parameter connectTimeout: for the connection, and for each query.
  /// - Throws: ``StoreError/Code/corrupt`` when a step that was applied is not that of this program;
  ///   ``StoreError/Code/unavailable`` when the database cannot be reached;
  ///   ``StoreError/Code/internalFault`` when the connection string is malformed.
  package static func status(
    connection: String, connectTimeout: Duration = defaultConnectTimeout
  ) async throws(StoreError) -> SchemaStatus {
    try await withPool(connection) { pool throws(StoreError) in
      try await status(pool, limit: connectTimeout)
    }
  }

  /// Applies what is missing. One that is at work already is waited for.
  ///
  /// - Parameters:
  ///   - dryRun: says what would be done, and does nothing.
  ///   - connectTimeout: for the connection.
  ///   - report: called for each step.
  /// - Returns: the status afterwards.
  /// - Throws: as ``status(connection:connectTimeout:)``; ``StoreError/Code/newerSchema`` when the database has steps
  ///   that this program does not know; ``StoreError/Code/locked`` when the other did not end in
  ///   time.
  package static func migrate(
    connection: String, dryRun: Bool, connectTimeout: Duration = defaultConnectTimeout,
    report: @Sendable (MigrationStep) -> Void
  ) async throws(StoreError) -> SchemaStatus {
    try await migrate(
      connection: connection, dryRun: dryRun, connectTimeout: connectTimeout,
      waitingAtMost: .seconds(60),
      report: report)
  }

  /// - Parameter limit: for the wait for another migration.
  static func migrate(
    connection: String, dryRun: Bool, connectTimeout: Duration = defaultConnectTimeout,
    waitingAtMost limit: Duration, report: @Sendable (MigrationStep) -> Void
  ) async throws(StoreError) -> SchemaStatus {
    try await withPool(connection) { pool throws(StoreError) in
      do {
        return try await pool.withSession(within: connectTimeout) { session throws(StoreError) in
          let migrator = Migrator(session: session)
          return try await migrator.migrate(
            dryRun: dryRun, waitingAtMost: limit, report: report)
        }
      } catch {
        throw StoreError(of: error)
      }
    }
  }

  /// - Throws: ``StoreError/Code/olderSchema``; ``StoreError/Code/newerSchema``;
  ///   ``StoreError/Code/corrupt``; errors of the database.
  static func requireCurrent(_ pool: PostgresPool, limit: Duration) async throws(StoreError) {
    let status = try await status(pool, limit: limit)
    try checkNotNewer(status)
    if status.found < status.expected {
      throw StoreError(
        .olderSchema,
        "the database has schema version \(status.found), this program needs \(status.expected): "
          + "run `entitlectl database migrate`")
    }
  }

  static func checkNotNewer(_ status: SchemaStatus) throws(StoreError) {
    guard status.found > status.expected else { return }
    throw StoreError(
      .newerSchema,
      "the database has schema version \(status.found); this program knows versions up to "
        + "\(status.expected), and `entitlectl database migrate` of a newer one has been run")
  }

  // MARK: Status

  private static func status(_ pool: PostgresPool, limit: Duration) async throws(StoreError)
    -> SchemaStatus
  {
    let isThere = try await pool.query(hasTable, [], within: limit)
    guard try isThere.flag(0, 0) else { return try makeStatus(nil) }
    return try makeStatus(try await pool.query(applied, [], within: limit))
  }

  static let hasTable = PostgresStatement(
    "SELECT to_regclass('schema_migrations') IS NOT NULL", name: "has_schema_migrations")
  static let applied = PostgresStatement(
    """
    SELECT number, name, sha256, (extract(epoch FROM applied_at) * 1000)::bigint
    FROM schema_migrations ORDER BY number
    """, name: "applied_migrations")

  /// - Parameter rows: of ``applied``; nil when there is no such table.
  static func makeStatus(_ rows: PostgresRows?) throws(StoreError) -> SchemaStatus {
    let known = Migration.all
    var status = SchemaStatus(found: 0, expected: known.last?.number ?? 0, migrations: [])
    if let rows {
      for row in 0..<rows.count {
        let number = Int(try rows.number(row, 0))
        let digest = try rows.data(row, 2)
        if let migration = known.first(where: { $0.number == number }),
          try migration.digest() != digest
        {
          throw StoreError(
            .corrupt,
            "step \(number) of the schema was applied from another file than this program's")
        }
        status.found = max(status.found, number)
        status.migrations.append(
          SchemaStatus.Migration(
            number: number, name: try rows.string(row, 1), appliedAt: try rows.moment(row, 3)))
      }
    }
    for migration in known
    where !status.migrations.contains(where: { $0.number == migration.number }) {
      status.migrations.append(
        SchemaStatus.Migration(number: migration.number, name: migration.name, appliedAt: nil))
    }
    status.migrations.sort { $0.number < $1.number }
    return status
  }

  // MARK: Connections

  /// Long enough for a database that is being restarted.
  package static let defaultConnectTimeout: Duration = .seconds(20)

  private static func withPool<Value: Sendable>(
    _ connection: String, _ body: (PostgresPool) async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    let pool = try PostgresPool.forMigration(connection)
    do throws(StoreError) {
      let value = try await body(pool)
      await pool.close()
      return value
    } catch {
      await pool.close()
      throw error
    }
  }
}
