import EntitlementDomain
import EntitlementStore
import StoreConformance
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite(
  "Versions out of notifications that schema version 1 stored (R53)",
  .enabled(if: EphemeralPostgres.isAvailable))
struct VersionMigrationTests {
  private let cluster: EphemeralPostgres
  private let connection: String
  private let database: String

  init() async throws {
    cluster = try TestDatabases.cluster.get()
    connection = try await TestDatabases.make()
    database = try EphemeralPostgres.databaseName(of: connection)
  }

  /// Stores notifications, then takes the database back to schema version 1.
  private func fill(_ entries: [NotificationArchive.Entry]) async throws {
    let store = try await TestDatabases.open(connection)
    for entry in entries {
      _ = try await store.commit(
        Submission(
          facts: entry.facts, accountID: "alice", notification: entry.notification, receivedAt: 5))
    }
    await store.close()
    try cluster.execute(
      """
      \(OwnershipMigrationTests.undo)
      DROP TABLE versions;
      ALTER TABLE facts DROP COLUMN history;
      ALTER TABLE links DROP COLUMN is_former_chain;
      ALTER TABLE meta DROP COLUMN versions_added_through;
      ALTER TABLE commit_tokens DROP COLUMN writer_schema;
      DELETE FROM schema_migrations WHERE number = 2;
      """, database: database)
  }

  private func migrate() async throws -> SchemaStatus {
    try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
  }

  @Test("The migration adds the versions of all stored notifications")
  func migration() async throws {
    try await fill(try NotificationArchive.entries(16))
    _ = try await migrate()
    #expect(try await PostgresSchema.status(connection: connection).lacksVersions)
    let count = try await PostgresSchema.addVersions(connection: connection, report: { _ in })
    #expect(count == 16)
    #expect(try await !PostgresSchema.status(connection: connection).lacksVersions)
    let store = try await TestDatabases.open(connection)
    try await NotificationArchive.check(16, in: store)
    await store.close()
    #expect(try await PostgresSchema.addVersions(connection: connection, report: { _ in }) == 0)
  }

  @Test("An interrupted migration goes on where it ended, while a server writes")
  func interruption() async throws {
    let entries = try NotificationArchive.entries(30)
    try await fill(Array(entries.prefix(24)))
    _ = try await migrate()
    let store = try await TestDatabases.open(connection)
    #expect(try await store.addStoredVersions(limit: 10) == 10)
    let feedEnd = try await store.feedEnd()
    await store.close()
    #expect(try await PostgresSchema.status(connection: connection).lacksVersions)

    let server = try await TestDatabases.open(connection)
    for entry in entries.suffix(6) {
      _ = try await server.commit(
        Submission(facts: entry.facts, notification: entry.notification, receivedAt: 6))
    }
    let other = try await TestDatabases.open(connection)
    var done = 10
    while let count = try await other.addStoredVersions(limit: 10) { done += count }
    #expect(done >= 24)
    try await NotificationArchive.check(30, in: server)
    #expect(try await server.feedEnd() > feedEnd)
    await other.close()
    await server.close()
  }

  @Test("A program that knows an older version only cannot write any more, and can read")
  func formerProgram() async throws {
    _ = try await migrate()
    // As schema versions 1 and 2 wrote it: see `WriteStatements.writeToken`.
    for insert in [
      "INSERT INTO commit_tokens (token, base) VALUES ('\\x01', 0)",
      "INSERT INTO commit_tokens (token, base, writer_schema) VALUES ('\\x01', 0, 2)",
    ] {
      let refusal = #expect(throws: (any Error).self) {
        try cluster.execute(insert, database: database)
      }
      #expect("\(String(describing: refusal))".contains("writer_schema"))
    }
    #expect(
      try cluster.execute("SELECT count(*) FROM commit_tokens", database: database) == "0")
  }

  @Test("An empty database has no versions to add")
  func empty() async throws {
    #expect(try await !PostgresSchema.status(connection: connection).lacksVersions)
  }
}
