import Cryptography
import EntitlementStore

/// Applies migrations on one session. An advisory lock admits one migrator per database at a time.
struct Migrator {
  let session: PostgresSession
  let files: [MigrationFile]

  /// Time limit of short statements.
  private static let readLimit: Duration = .seconds(20)
  /// A migration may rewrite a table.
  static let migrationLimit: Duration = .seconds(6 * 3_600)
  private static let pause: Duration = .milliseconds(200)

  func migrate(
    dryRun: Bool, waitingAtMost limit: Duration, report: @Sendable (MigrationStep) -> Void
  ) async throws(StoreError) -> SchemaStatus {
    if dryRun {
      let status = try await self.status()
      try PostgresSchema.checkNotNewer(status)
      for step in status.migrations where step.appliedAt == nil {
        report(.wouldApply(number: step.number, name: step.name))
      }
      return status
    }
    try await lock(within: limit, report: report)
    let status = try await self.status()
    try PostgresSchema.checkNotNewer(status)
    if status.migrations.isEmpty || status.found == 0 {
      _ = try await run([PostgresCommand(Self.createTable)])
    }
    for migration in files
    where status.migrations.contains(where: {
      $0.number == migration.number && $0.appliedAt == nil
    }) {
      report(.applying(number: migration.number, name: migration.name))
      try await apply(migration)
      report(.applied(number: migration.number, name: migration.name))
    }
    let result = try await self.status()
    _ = try await run([PostgresCommand(Self.unlock)])
    return result
  }

  private func status() async throws(StoreError) -> SchemaStatus {
    let isThere = try await run([PostgresCommand(PostgresSchema.hasTable)])
    guard let first = isThere.first, try first.flag(0, 0) else {
      return try PostgresSchema.makeStatus(nil, files)
    }
    return try PostgresSchema.makeStatus(
      try await run([PostgresCommand(PostgresSchema.applied)]).first, files)
  }

  /// The file is run by `EXECUTE`, because the extended protocol allows one command per statement.
  private func apply(_ migration: MigrationFile) async throws(StoreError) {
    let sql = String(decoding: migration.sql, as: UTF8.self)
    _ = try await run(
      [
        PostgresCommand(Self.begin), PostgresCommand(Self.setScript, [.text(sql)]),
        PostgresCommand(Self.runScript),
        PostgresCommand(
          Self.record,
          [
            .int64(Int64(migration.number)), .text(migration.name),
            .bytes(try migration.digest()),
          ]),
        PostgresCommand(Self.commit),
      ], within: Self.migrationLimit)
  }

  // MARK: The lock

  private func lock(
    within limit: Duration, report: @Sendable (MigrationStep) -> Void
  ) async throws(StoreError) {
    let deadline = ContinuousClock.now + limit
    var lastHolder: String?
    while true {
      let results = try await run([PostgresCommand(Self.tryLock)])
      if let first = results.first, try first.flag(0, 0) { return }
      let holder = try await self.holder()
      if ContinuousClock.now >= deadline {
        throw StoreError(.locked, "another migration is running: \(holder)")
      }
      if holder != lastHolder { report(.waiting(holder: holder)) }
      lastHolder = holder
      do {
        try await Task.sleep(for: Self.pause)
      } catch {
        throw StoreError(.unavailable, "the call was cancelled")
      }
    }
  }

  private func holder() async throws(StoreError) -> String {
    let results = try await run([PostgresCommand(Self.findHolder)])
    guard let rows = results.first, rows.count > 0 else { return "a session that has just ended" }
    let name = try rows.optionalString(0, 1) ?? ""
    let address = try rows.optionalString(0, 2) ?? "a local socket"
    let since = try rows.optionalString(0, 3) ?? ""
    return
      "server process \(try rows.number(0, 0)), \"\(name)\" from \(address), since \(since)"
  }

  private func run(
    _ commands: [PostgresCommand], within limit: Duration = readLimit
  ) async throws(StoreError) -> [PostgresRows] {
    do throws(PostgresFailure) {
      return try await session.exchange(commands, within: limit)
    } catch {
      guard case .server = error.kind else { throw StoreError(translating: error) }
      // Messages of the server about the schema help the operator and contain no data.
      let failure = StoreError(translating: error)
      throw StoreError(failure.code, "\(failure.message): \(error.message)")
    }
  }

  // MARK: Statements

  /// Whatever the database's default is: a step that waited for a writer must see what it wrote.
  private static let begin = PostgresStatement(
    "BEGIN ISOLATION LEVEL READ COMMITTED", name: "begin_step")
  private static let commit = PostgresStatement("COMMIT", name: "commit_step")
  private static let setScript = PostgresStatement(
    "SELECT set_config('entitle.script', $1::text, true)", name: "set_script")
  private static let runScript = PostgresStatement(
    "DO $$ BEGIN EXECUTE current_setting('entitle.script'); END $$", name: "run_script")
  private static let createTable = PostgresStatement(
    """
    CREATE TABLE IF NOT EXISTS schema_migrations (
      number integer PRIMARY KEY,
      name text NOT NULL,
      sha256 bytea NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now()
    )
    """, name: "create_schema_migrations")
  private static let record = PostgresStatement(
    """
    INSERT INTO schema_migrations (number, name, sha256)
    VALUES ($1::bigint, $2::text, $3::bytea)
    """, name: "record_migration")

  // "Entl" and 1. Row locks use the variant with one 64-bit key, so they never collide.
  private static let tryLock = PostgresStatement(
    "SELECT pg_try_advisory_lock(1164866668, 1)", name: "try_migration_lock")
  private static let unlock = PostgresStatement(
    "SELECT pg_advisory_unlock(1164866668, 1)", name: "unlock_migration")
  private static let findHolder = PostgresStatement(
    """
    SELECT activity.pid, activity.application_name, host(activity.client_addr),
      to_char(activity.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')
    FROM pg_locks JOIN pg_stat_activity AS activity ON activity.pid = pg_locks.pid
    WHERE pg_locks.locktype = 'advisory' AND pg_locks.granted
      AND pg_locks.classid = 1164866668 AND pg_locks.objid = 1 AND pg_locks.objsubid = 2
      AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    """, name: "find_migration_holder")
}

/// One migration: SQL that is applied once and never changed afterwards.
struct MigrationFile: Sendable {
  let number: Int
  let name: String
  let sql: [UInt8]

  /// In order.
  static let all = [
    MigrationFile(number: 1, name: "schema", sql: PackageResources.schema_sql)
  ]

  /// The SHA-256 of the SQL.
  ///
  /// - Throws: ``StoreError/Code/internalFault`` when hashing fails.
  func digest() throws(StoreError) -> [UInt8] {
    do throws(CryptographyError) {
      return try SHA256.digest(of: sql).bytes
    } catch {
      throw StoreError(.internalFault, "hashing a migration failed")
    }
  }
}
