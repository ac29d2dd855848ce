import EntitlementStore
import StoreConformance
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite(
  "The PostgreSQL store does what every store does", .enabled(if: EphemeralPostgres.isAvailable),
  .serialized)
struct PostgresStoreConformanceTests {
  // A store that never announces anything would be waited for without end.
  @Test(
    "Conformance", .timeLimit(.minutes(2)),
    arguments: StoreConformanceSuite.cases + StoreConformanceSuite.sharedCases)
  func conforms(to conformanceCase: ConformanceCase) async throws {
    try await TestDatabases.withDatabase { connection in
      try await conformanceCase.run(
        on: StoreHarness { try await TestDatabases.open(connection) })
    }
  }
}
