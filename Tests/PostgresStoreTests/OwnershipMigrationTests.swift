import EntitlementStore
import StoreConformance
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite(
  "Links and tokens of schema version 3 (R70, R71)", .enabled(if: EphemeralPostgres.isAvailable))
struct OwnershipMigrationTests {
  /// Takes a database back to schema version 3.
  static let undo = """
    \(LeanMigrationTests.undo)
    ALTER TABLE links DROP COLUMN standing;
    ALTER TABLE tokens DROP COLUMN state, DROP COLUMN author, DROP COLUMN note, DROP COLUMN since;
    ALTER TABLE accounts DROP COLUMN chains;
    DELETE FROM schema_migrations WHERE number IN (4, 6);
    """

  @Test("What two accounts presented is contested or ambiguous after the migration (R70, R71)")
  func ownership() async throws {
    let cluster = try TestDatabases.cluster.get()
    let connection = try await TestDatabases.make()
    let database = try EphemeralPostgres.databaseName(of: connection)
    let old = try await TestDatabases.open(connection)
    try await OwnershipArchive.fill(old)
    await old.close()
    try cluster.execute(
      Self.undo + "ALTER TABLE tokens ALTER COLUMN account SET NOT NULL;", database: database)
    _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    let store = try await TestDatabases.open(connection)
    try await OwnershipArchive.check(store)
    await store.close()
  }
}
