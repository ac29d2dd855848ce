import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("Updates of rows in their pages", .enabled(if: EphemeralPostgres.isAvailable))
struct RowUpdateTests {
  @Test("Another version of a fact writes no index of facts and accounts")
  func updates() async throws {
    let connection = try await TestDatabases.make()
    let database = try EphemeralPostgres.databaseName(of: connection)
    let store = try await TestDatabases.open(connection)
    // Few enough for all of their versions to have room in one page of each partition.
    let count = 24
    for number in 1...count {
      try await store.submit("\(number)", "\(number)", by: AccountID("account-\(number)"))
    }
    for number in 1...count {
      let refunded = try StoreSample.transaction(
        "\(number)", "\(number)", signedAt: 2_000,
        fields: #","revocationDate":1500,"revocationReason":0"#)
      let receipt = try await store.commit(StoreSample.submission([refunded]))
      #expect(receipt.customers.count == 1)
    }
    await store.close()
    for table in ["facts", "accounts"] {
      // The server counts some time after the commits.
      try await eventually {
        let counts = try TestDatabases.cluster.get().execute(
          """
          SELECT sum(n_tup_upd), sum(n_tup_hot_upd) FROM pg_stat_user_tables
          WHERE relname ~ '^\(table)_[0-7]$'
          """, database: database
        ).split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
        return counts == [count, count]
      }
    }
  }
}
