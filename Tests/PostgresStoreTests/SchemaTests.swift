import EntitlementStore
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("Migrations", .enabled(if: EphemeralPostgres.isAvailable))
struct SchemaTests {
  private final class Steps: Sendable {
    private let list = Mutex<[MigrationStep]>([])
    var all: [MigrationStep] { list.withLock { $0 } }
    func add(_ step: MigrationStep) { list.withLock { $0.append(step) } }
  }

  private let cluster: EphemeralPostgres
  private let connection: String
  private let database: String

  init() throws {
    cluster = try TestDatabases.cluster.get()
    connection = try cluster.makeDatabase()
    database = try EphemeralPostgres.databaseName(of: connection)
  }

  @Test("An empty database has no version; a dry run only reports what would be applied")
  func dryRun() async throws {
    let before = try await PostgresSchema.status(connection: connection)
    #expect(before.found == 0)
    #expect(before.expected == MigrationFile.all.count)
    #expect(before.migrations.allSatisfy { $0.appliedAt == nil })
    let steps = Steps()
    let status = try await PostgresSchema.migrate(connection: connection, dryRun: true) {
      steps.add($0)
    }
    #expect(status == before)
    #expect(
      steps.all == [
        .wouldApply(number: 1, name: "schema"), .wouldApply(number: 2, name: "versions"),
        .wouldApply(number: 3, name: "durability"), .wouldApply(number: 4, name: "ownership"),
        .wouldApply(number: 5, name: "audit"), .wouldApply(number: 6, name: "chains"),
        .wouldApply(number: 7, name: "callers"), .wouldApply(number: 8, name: "arrivals"),
        .wouldApply(number: 9, name: "jobs"), .wouldApply(number: 10, name: "consumption"),
        .wouldApply(number: 11, name: "imports"), .wouldApply(number: 12, name: "payloads"),
        .wouldApply(number: 13, name: "lean"),
      ])
    #expect(
      try cluster.execute(
        "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'",
        database: database) == "0")
  }

  @Test("All migrations are applied once; then a store opens")
  func migrate() async throws {
    let steps = Steps()
    let status = try await PostgresSchema.migrate(connection: connection, dryRun: false) {
      steps.add($0)
    }
    #expect(status.found == status.expected)
    #expect(status.migrations.allSatisfy { $0.appliedAt != nil })
    #expect(
      steps.all == [
        .applying(number: 1, name: "schema"), .applied(number: 1, name: "schema"),
        .applying(number: 2, name: "versions"), .applied(number: 2, name: "versions"),
        .applying(number: 3, name: "durability"), .applied(number: 3, name: "durability"),
        .applying(number: 4, name: "ownership"), .applied(number: 4, name: "ownership"),
        .applying(number: 5, name: "audit"), .applied(number: 5, name: "audit"),
        .applying(number: 6, name: "chains"), .applied(number: 6, name: "chains"),
        .applying(number: 7, name: "callers"), .applied(number: 7, name: "callers"),
        .applying(number: 8, name: "arrivals"), .applied(number: 8, name: "arrivals"),
        .applying(number: 9, name: "jobs"), .applied(number: 9, name: "jobs"),
        .applying(number: 10, name: "consumption"), .applied(number: 10, name: "consumption"),
        .applying(number: 11, name: "imports"), .applied(number: 11, name: "imports"),
        .applying(number: 12, name: "payloads"), .applied(number: 12, name: "payloads"),
        .applying(number: 13, name: "lean"), .applied(number: 13, name: "lean"),
      ])
    #expect(try await PostgresSchema.status(connection: connection) == status)
    let again = Steps()
    #expect(
      try await PostgresSchema.migrate(connection: connection, dryRun: false) { again.add($0) }
        == status)
    #expect(again.all == [])
    try await TestDatabases.open(connection).close()
  }

  @Test("Concurrent migrators exclude each other: each migration is applied once")
  func together() async throws {
    let steps = Steps()
    try await withThrowingTaskGroup(of: SchemaStatus.self) { group in
      for _ in 0..<4 {
        group.addTask { [connection] in
          try await PostgresSchema.migrate(connection: connection, dryRun: false) {
            steps.add($0)
          }
        }
      }
      for try await status in group { #expect(status.found == status.expected) }
    }
    #expect(steps.all.count { $0 == .applied(number: 1, name: "schema") } == 1)
  }

  @Test("A second migrator waits up to its limit, and then names the session of the first")
  func waits() async throws {
    let pool = try PostgresPool.forMigration(connection)
    _ = try await pool.withSession(within: .seconds(10)) { session in
      _ = try await session.exchange(
        [
          PostgresCommand(
            PostgresStatement("SELECT pg_advisory_lock(1164866668, 1)", name: "hold"))
        ], within: .seconds(10))
      let steps = Steps()
      let failure = await #expect(throws: StoreError.self) {
        try await PostgresSchema.migrate(
          connection: connection, dryRun: false, waitingAtMost: .seconds(3)
        ) { steps.add($0) }
      }
      #expect(failure?.code == .locked)
      #expect(failure?.message.contains("\"entitled\"") == true)
      #expect(steps.all.count == 1)
    }
    await pool.close()
  }

  @Test("A store refuses a database without a schema, and names the command that helps")
  func olderSchema() async throws {
    let failure = await #expect(throws: StoreError.self) {
      _ = try await TestDatabases.open(connection)
    }
    #expect(failure?.code == .olderSchema)
    #expect(failure?.message.contains("entitlectl database migrate") == true)
  }

  @Test("A database of a newer program is refused by store and migration")
  func newerSchema() async throws {
    _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    try cluster.execute(
      "INSERT INTO schema_migrations (number, name, sha256) VALUES (99, 'later', '')",
      database: database)
    let failure = await #expect(throws: StoreError.self) {
      _ = try await TestDatabases.open(connection)
    }
    #expect(failure?.code == .newerSchema)
    let refusal = await #expect(throws: StoreError.self) {
      try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    }
    #expect(refusal?.code == .newerSchema)
    let status = try await PostgresSchema.status(connection: connection)
    #expect(status.found == 99)
    #expect(status.migrations.map(\.number) == MigrationFile.all.map(\.number) + [99])
  }

  @Test("A migration that was applied from another file is refused")
  func changedFile() async throws {
    _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    try cluster.execute(
      "UPDATE schema_migrations SET sha256 = 'other'", database: database)
    for _ in 0..<2 {
      let failure = await #expect(throws: StoreError.self) {
        try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
      }
      #expect(failure?.code == .corrupt)
    }
  }

  @Test("A failed migration leaves no changes, and releases the lock")
  func failedStep() async throws {
    try cluster.execute("CREATE TABLE grants (id integer)", database: database)
    for _ in 0..<2 {
      let failure = await #expect(throws: StoreError.self) {
        try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
      }
      #expect(failure?.code == .internalFault)
    }
    #expect(try await PostgresSchema.status(connection: connection).found == 0)
    #expect(
      try cluster.execute("SELECT to_regclass('accounts') IS NULL", database: database) == "t")
    try cluster.execute("DROP TABLE grants", database: database)
    let status = try await PostgresSchema.migrate(
      connection: connection, dryRun: false, report: { _ in })
    #expect(status.found == status.expected)
  }

  /// Takes a database back to schema version 8.
  private static let undoJobs = """
    \(LeanMigrationTests.undo)
    DROP TABLE payload_conversions;
    DROP TABLE payload_dictionaries;
    DROP TABLE import_rows;
    DROP TABLE imports;
    DROP TABLE consumption_requests;
    DROP TABLE consumption_consents;
    DROP TABLE app_store_jobs;
    DELETE FROM schema_migrations WHERE number >= 9;
    """

  @Test("Migration 8 uses the parts of its index that were built before without a lock")
  func indexBuiltBefore() async throws {
    _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    try cluster.execute(
      """
      \(Self.undoJobs)
      DROP INDEX notifications_by_arrival;
      DELETE FROM schema_migrations WHERE number = 8
      """, database: database)
    // As deploy/docs/operations.md says.
    for part in 0..<8 {
      try cluster.execute(
        """
        CREATE INDEX CONCURRENTLY notifications_arrival_\(part)
          ON notifications_\(part) (received_at, uuid)
        """, database: database)
    }
    let status = try await PostgresSchema.migrate(
      connection: connection, dryRun: false, report: { _ in })
    #expect(status.found == status.expected)
    let parts = try cluster.execute(
      """
      SELECT string_agg(inhrelid::regclass::text, ' ' ORDER BY inhrelid::regclass::text)
      FROM pg_inherits WHERE inhparent = 'notifications_by_arrival'::regclass
      """, database: database)
    #expect(parts == (0..<8).map { "notifications_arrival_\($0)" }.joined(separator: " "))
  }

  @Test("Migration 8 refuses a part of its index whose build was interrupted")
  func indexNotBuilt() async throws {
    _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    try cluster.execute(
      """
      \(Self.undoJobs)
      DROP INDEX notifications_by_arrival;
      DELETE FROM schema_migrations WHERE number = 8;
      CREATE INDEX part ON notifications_3 (received_at, uuid);
      UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'part'::regclass
      """, database: database)
    await #expect(throws: StoreError.self) {
      _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    }
    #expect(try await PostgresSchema.status(connection: connection).found == 7)
    try cluster.execute("DROP INDEX part", database: database)
    let status = try await PostgresSchema.migrate(
      connection: connection, dryRun: false, report: { _ in })
    #expect(status.found == status.expected)
  }

  @Test("A database that does not flush with every commit is refused")
  func asynchronousCommit() async throws {
    _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    try cluster.execute("ALTER DATABASE \(database) SET synchronous_commit = off")
    let failure = await #expect(throws: StoreError.self) {
      _ = try await TestDatabases.open(connection)
    }
    #expect(failure?.code == .internalFault)
    #expect(failure?.message.contains("synchronous_commit") == true)
  }

  @Test("A configuration is shown without its password")
  func description() {
    let configuration = PostgresStoreConfiguration(
      connection: "postgresql://entitle:hunter2@db1,db2/entitle?sslmode=verify-full")
    #expect(configuration.description == "postgresql://entitle@db1,db2/entitle")
    #expect(
      !PostgresStoreConfiguration(connection: "postgresql://:::hunter2").description.contains(
        "hunter2"))
  }
}
