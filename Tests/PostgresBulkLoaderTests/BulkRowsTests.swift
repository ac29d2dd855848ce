import EntitlementDomain
import EntitlementStore
import LoadClient
import Logging
import PostgresStore
import TestSupport
import Testing

@testable import PostgresBulkLoader

@Suite(
  "Rows of bulk loading", .enabled(if: EphemeralPostgres.isAvailable), .timeLimit(.minutes(5)))
struct BulkRowsTests {
  private static let tables = [
    "accounts", "links", "facts", "versions", "transactions", "tokens", "link_events",
    "account_events", "changes",
  ]

  /// SQL of the targets of an account, whose order differs, as one sorted array in place of the columns.
  private static let targets = """
     - ARRAY['first_target', 'second_target', 'more_targets'] || jsonb_build_object('targets', (
      SELECT jsonb_agg(target ORDER BY target)
      FROM unnest(ARRAY[first_target, second_target] || more_targets) AS held (target)))
    """

  /// The rows of a table as JSON, in the order of their text. Numbers of the feed and of signers differ
  /// between databases: only which rows have none is compared.
  private static func rows(_ table: String, in database: String) throws -> [String] {
    try EphemeralPostgres.shared.execute(
      """
      SELECT (SELECT jsonb_object_agg(key, CASE
          WHEN key IN ('revision', 'position', 'event_position', 'sequence', 'header')
            THEN to_jsonb(value <> 'null' AND value <> '0')
          ELSE value END) FROM jsonb_each(to_jsonb(\(table))\(table == "accounts" ? targets : "")))::text
        AS row
      FROM \(table) ORDER BY row
      """, database: database
    ).split(separator: "\n").map(String.init)
  }

  @Test("A database has the same rows, whether customers were loaded in bulk or submitted")
  func sameRows() async throws {
    let customers = try BulkCustomers(count: 400, seed: 11)
    let loaded = try EphemeralPostgres.shared.makeDatabase()
    let written = try EphemeralPostgres.shared.makeDatabase()
    for uri in [loaded, written] {
      _ = try await PostgresSchema.migrate(connection: uri, dryRun: false, report: { _ in })
    }
    try await BulkLoader(
      database: Psql(uri: loaded), customers: customers, workers: 2, progress: SilentProgress()
    ).run()
    let store = try await PostgresStore.open(
      PostgresStoreConfiguration(connection: written), logger: Logger(label: "bulk rows"))
    for index in 0..<customers.count {
      _ = try await store.commit(try customers.submission(at: index))
    }
    await store.close()
    for table in Self.tables {
      let rows = try Self.rows(table, in: try EphemeralPostgres.databaseName(of: loaded))
      let expected = try Self.rows(table, in: try EphemeralPostgres.databaseName(of: written))
      #expect(rows.count == expected.count, "\(table)")
      for (row, other) in zip(rows, expected) where row != other {
        #expect(row == other, "\(table)")
        break
      }
    }
    #expect(
      try Self.rows("facts", in: try EphemeralPostgres.databaseName(of: loaded)).count
        > customers.count)
    #expect(
      try Self.rows("transactions", in: try EphemeralPostgres.databaseName(of: loaded)).count > 0)
  }
}

private struct SilentProgress: BulkProgress {
  func start(_ name: String, of total: Int) {}
  func advance(by count: Int) {}
  func end() {}
  func say(_ text: String) {}
}
