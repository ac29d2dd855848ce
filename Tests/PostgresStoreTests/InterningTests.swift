import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("Numbers of apps and of headers", .enabled(if: EphemeralPostgres.isAvailable))
struct InterningTests {
  @Test(
    "are asked for again when the connection is lost under the question", .timeLimit(.minutes(2)),
    arguments: ["headers", "scopes"])
  func lostConnection(table: String) async throws {
    let connection = try await TestDatabases.make()
    let name = try #require(connection.split(separator: "?").first?.split(separator: "/").last)
    let cluster = try TestDatabases.cluster.get()
    let store = try await TestDatabases.open(connection)
    let blocker = try await OpenTransaction(connection, "LOCK TABLE \(table) IN EXCLUSIVE MODE")
    async let receipt = store.submit("1", "1", by: "alice")
    let waiting = """
      SELECT pid FROM pg_stat_activity
      WHERE datname = '\(name)' AND wait_event_type = 'Lock' AND query LIKE '%INTO \(table)%'
      """
    try await eventually { try !cluster.execute(waiting).isEmpty }
    try cluster.execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN (\(waiting))")
    await blocker.end()
    #expect(try await receipt.dispositions == [.added])
    #expect(try await store.submit("2", "2", by: "alice").dispositions == [.added])
    #expect(try cluster.execute("SELECT count(*) FROM \(table)", database: String(name)) == "1")
    await store.close()
  }
}
