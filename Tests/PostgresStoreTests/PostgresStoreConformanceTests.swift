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
  // The time limit ends a test whose store never announces anything.
  @Test(
    "Conformance", .timeLimit(.minutes(10)),
    arguments: StoreConformanceSuite.cases + StoreConformanceSuite.sharedCases)
  func conforms(to conformanceCase: ConformanceCase) async throws {
    try await TestDatabases.withDatabase { connection in
      try await conformanceCase.run(
        on: StoreHarness { try await TestDatabases.openPatient(connection) })
    }
  }
}
