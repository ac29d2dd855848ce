package import EntitlementDomain
package import EntitlementStore
import Logging

/// The schema of a database and its migrations: numbered SQL files, each applied once in its own
/// transaction and never changed afterwards. The table `schema_migrations` lists the applied ones.
package enum PostgresSchema {
  /// The migrations of a database and whether they are applied.
  ///
  /// - Parameter connectTimeout: for the connection, and for each query.
  /// - Throws: ``StoreError/Code/corrupt`` when an applied migration differs from the file of this
  ///   program; ``StoreError/Code/unavailable`` when the database cannot be reached;
  ///   ``StoreError/Code/internalFault`` when the connection string is malformed.
  package static func status(
    connection: String, connectTimeout: Duration = defaultConnectTimeout
  ) async throws(StoreError) -> SchemaStatus {
    try await withPool(connection) { pool throws(StoreError) in
      try await status(pool, limit: connectTimeout)
    }
  }

  /// Applies the missing migrations. Waits for a migration that is already running.
  ///
  /// - Parameters:
  ///   - dryRun: only reports what would be applied.
  ///   - connectTimeout: for the connection.
  ///   - report: called for each step.
  /// - Returns: the status afterwards.
  /// - Throws: as ``status(connection:connectTimeout:)``; ``StoreError/Code/newerSchema`` when the
  ///   database has migrations that this program does not know; ``StoreError/Code/locked`` when a
  ///   running migration did not end in time.
  package static func migrate(
    connection: String, dryRun: Bool, connectTimeout: Duration = defaultConnectTimeout,
    report: @Sendable (MigrationStep) -> Void
  ) async throws(StoreError) -> SchemaStatus {
    try await migrate(
      connection: connection, dryRun: dryRun, connectTimeout: connectTimeout,
      waitingAtMost: .seconds(60),
      report: report)
  }

  /// - Parameters:
  ///   - limit: for the wait for another migration.
  ///   - files: the migrations of the program.
  static func migrate(
    connection: String, dryRun: Bool, connectTimeout: Duration = defaultConnectTimeout,
    waitingAtMost limit: Duration, files: [MigrationFile] = MigrationFile.all,
    report: @Sendable (MigrationStep) -> Void
  ) async throws(StoreError) -> SchemaStatus {
    try await withPool(connection) { pool throws(StoreError) in
      do {
        return try await pool.withSession(within: connectTimeout) { session throws(StoreError) in
          let migrator = Migrator(session: session, files: files)
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
        "the database has schema version \(status.found), this program requires "
          + "\(status.expected): run `entitlectl database migrate`")
    }
  }

  static func checkNotNewer(_ status: SchemaStatus) throws(StoreError) {
    guard status.found > status.expected else { return }
    throw StoreError(
      .newerSchema,
      "the database has schema version \(status.found), which a newer program migrated; this "
        + "program supports versions up to \(status.expected)")
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

  /// - Parameters:
  ///   - rows: of ``applied``; nil when the table does not exist.
  ///   - known: the migrations of the program.
  static func makeStatus(
    _ rows: PostgresRows?, _ known: [MigrationFile] = MigrationFile.all
  ) throws(StoreError) -> SchemaStatus {
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
            number == 1
              ? "the database was made by a build before release 0.1.0, which no release reads: "
                + "use a new database"
              : "migration \(number) of the database differs from the file of this program")
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

  /// Long enough for a restart of the database.
  package static let defaultConnectTimeout: Duration = .seconds(20)

  static func withPool<Value: Sendable>(
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

/// The migrations of a database and whether they are applied.
package struct SchemaStatus: Hashable, Sendable {
  package struct Migration: Hashable, Sendable {
    package var number: Int
    package var name: String
    /// Nil when the migration is not applied yet.
    package var appliedAt: Milliseconds?

    package init(number: Int, name: String, appliedAt: Milliseconds?) {
      self.number = number
      self.name = name
      self.appliedAt = appliedAt
    }
  }

  /// The number of the last applied migration; 0 when none is applied.
  package var found: Int
  /// The number of the last migration that this program contains and requires.
  package var expected: Int
  /// The migrations of this program, and newer ones that the database has.
  package var migrations: [Migration]

  package init(found: Int, expected: Int, migrations: [Migration]) {
    self.found = found
    self.expected = expected
    self.migrations = migrations
  }
}

/// Progress of a migration.
package enum MigrationStep: Hashable, Sendable {
  /// Another migration is running; `holder` describes its session.
  case waiting(holder: String)
  case applying(number: Int, name: String)
  case applied(number: Int, name: String)
  /// Reported by a dry run, which applies nothing.
  case wouldApply(number: Int, name: String)
}
