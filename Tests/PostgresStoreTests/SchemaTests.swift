import EntitlementDomain
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
    #expect(steps.all == [.wouldApply(number: 1, name: "schema")])
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
      steps.all == [.applying(number: 1, name: "schema"), .applied(number: 1, name: "schema")])
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

  @Test("A database of a build before the first release is refused, with what to do")
  func unreleased() async throws {
    _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    try cluster.execute(
      """
      UPDATE schema_migrations SET sha256 = 'other';
      INSERT INTO schema_migrations (number, name, sha256) VALUES (13, 'lean', '')
      """, database: database)
    let refusal = await #expect(throws: StoreError.self) {
      try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    }
    let failure = await #expect(throws: StoreError.self) {
      _ = try await TestDatabases.open(connection)
    }
    for error in [refusal, failure] {
      #expect(error?.code == .corrupt)
      #expect(error?.message.contains("before release 0.1.0") == true)
      #expect(error?.message.contains("use a new database") == true)
    }
  }

  @Test("The tables of the audit trail refuse changes (R78)")
  func auditTrail() async throws {
    _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    try cluster.execute(
      """
      INSERT INTO audit_entries
        SELECT 'c', 1, 'n', 1, '', 'm', '', '', '', '', '', '', '', '', '', 'h', '', '', '';
      INSERT INTO audit_seals VALUES (1, 1, 'n', '', 'h');
      INSERT INTO audit_seal_chains VALUES (1, 'c', 1, 'h', 0, '');
      """, database: database)
    for table in ["audit_entries", "audit_seals", "audit_seal_chains"] {
      for statement in [
        "UPDATE \(table) SET hash = 'other'", "DELETE FROM \(table)", "TRUNCATE \(table)",
      ] {
        let refusal = #expect(throws: (any Error).self, "\(statement)") {
          try cluster.execute(statement, database: database)
        }
        #expect("\(String(describing: refusal))".contains("append-only"), "\(statement)")
      }
    }
  }

  // MARK: A second version

  /// The migrations of a made-up program, whose second one refuses writers of version 1.
  private static func files(_ second: String) -> [MigrationFile] {
    MigrationFile.all + [MigrationFile(number: 2, name: "made_up", sql: Array(second.utf8))]
  }

  private static let second = files(
    """
    ALTER TABLE commit_tokens DROP CONSTRAINT commit_tokens_writer_schema_check;
    ALTER TABLE commit_tokens ADD CONSTRAINT commit_tokens_writer_schema_check
      CHECK (writer_schema >= 2) NOT VALID;
    ALTER TABLE accounts ADD COLUMN made_up integer NOT NULL DEFAULT 7;
    """)

  private func migrate(
    _ files: [MigrationFile], dryRun: Bool = false, _ steps: Steps = Steps()
  ) async throws -> SchemaStatus {
    try await PostgresSchema.migrate(
      connection: connection, dryRun: dryRun, waitingAtMost: .seconds(60), files: files,
      report: { steps.add($0) })
  }

  @Test(
    "A second version is applied to a database with data; former programs read and cannot write")
  func secondVersion() async throws {
    _ = try await migrate(MigrationFile.all)
    let store = try await TestDatabases.open(connection)
    let signed = try StoreSample.transaction("1", "1")
    _ = try await store.commit(Submission(facts: [signed], accountID: "alice", receivedAt: 5))

    let steps = Steps()
    let dry = try await migrate(Self.second, dryRun: true, steps)
    #expect(dry.found == 1 && dry.expected == 2)
    #expect(steps.all == [.wouldApply(number: 2, name: "made_up")])
    let applying = Steps()
    let status = try await migrate(Self.second, applying)
    #expect(status.found == 2 && status.expected == 2)
    #expect(status.migrations.map(\.name) == ["schema", "made_up"])
    #expect(
      applying.all == [.applying(number: 2, name: "made_up"), .applied(number: 2, name: "made_up")])
    #expect(
      try cluster.execute("SELECT made_up FROM accounts", database: database) == "7")

    // A server of the former program that still runs.
    let known = try await store.customer(.account("alice"), in: StoreSample.scope)
    #expect(known.record.facts == [signed.fact])
    let failure = await #expect(throws: StoreError.self) {
      _ = try await store.commit(
        Submission(
          facts: [try StoreSample.transaction("2", "2")], accountID: "alice", receivedAt: 6))
    }
    #expect(failure?.code == .internalFault)
    await store.close()
    let refusal = await #expect(throws: StoreError.self) {
      _ = try await TestDatabases.open(connection)
    }
    #expect(refusal?.code == .newerSchema)
  }

  @Test("A second version that fails leaves the first as it was")
  func failedSecondVersion() async throws {
    _ = try await migrate(MigrationFile.all)
    let broken = Self.files(
      "ALTER TABLE accounts ADD COLUMN made_up integer; CREATE TABLE facts ();")
    let failure = await #expect(throws: StoreError.self) { _ = try await migrate(broken) }
    #expect(failure?.message.contains("SQLSTATE 42P07") == true)
    #expect(try await PostgresSchema.status(connection: connection).found == 1)
    #expect(
      try cluster.execute(
        "SELECT count(*) FROM pg_attribute WHERE attname = 'made_up'", database: database) == "0")
    try await TestDatabases.open(connection).close()
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
