import EntitlementDomain
import StoreConformance
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("Deletion of accounts in PostgreSQL", .enabled(if: EphemeralPostgres.isAvailable))
struct ErasureTests {
  /// The row of a deleted account, the feed and the audit trail keep its id for a time.
  private static let tables = [
    "links", "facts", "versions", "transactions", "tokens", "link_events", "account_events",
    "grants",
  ]

  @Test("No row has the id of a deleted account, in whatever column it was (R46)")
  func deletedAccounts() async throws {
    let random = SeededRandom(for: "erasure")
    try await TestDatabases.withDatabase { connection in
      let store = try await TestDatabases.open(connection)
      var sample = LinkHistorySample(store, random)
      try await sample.addSettled()
      try await sample.write(150, atOnce: 3)
      let names = try await sample.deleteMoving()
      await store.close()
      let database = try EphemeralPostgres.databaseName(of: connection)
      for table in Self.tables {
        for name in names {
          let rows = try TestDatabases.cluster.get().execute(
            "SELECT count(*) FROM \(table) WHERE \(table)::text LIKE '%\(name.rawValue)%'",
            database: database)
          #expect(Int(rows.filter(\.isNumber)) == 0, "\(name) in \(table)")
        }
      }
    }
  }
}
