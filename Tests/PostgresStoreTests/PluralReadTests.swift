import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

@Suite("Many customers at once")
struct PluralReadTests {
  // Skipped where no PostgreSQL server is installed.
  @Test(
    "They are one exchange, whoever they are",
    .enabled(if: EphemeralPostgres.isAvailable))
  func oneExchange() async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await TestDatabases.open(connection)
      try await store.submit("0", "0", by: "alice")
      let selectors: [CustomerSelector] =
        (0..<255).map { .account(AccountID("account-\($0)")) } + [.account("alice")]
      // The scope's number is looked up once.
      _ = try await store.customer(.account("alice"), in: StoreSample.scope)
      // Figures follow at the end of a turn of the pool's loop.
      try await eventually { store.primary.statistics.readsInFlight == 0 }
      let before = store.primary.statistics.exchanges
      let customers = try await store.customers(selectors, in: StoreSample.scope, .primary)
      try await eventually { store.primary.statistics.readsInFlight == 0 }
      #expect(store.primary.statistics.exchanges == before + 1)
      #expect(customers.map { $0.record.facts.count } == Array(repeating: 0, count: 255) + [1])
      await store.close()
    }
  }
}
