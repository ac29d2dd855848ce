import EntitlementDomain
import EntitlementStore
import StoreConformance
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("A role that only owns its database", .enabled(if: EphemeralPostgres.isAvailable))
struct PlainRoleTests {
  @Test(
    "serves with the same watermark, although it may not read statistics of other roles",
    .timeLimit(.minutes(2)))
  func serves() async throws {
    var options = EphemeralPostgres.Options()
    options.isDurable = false
    // A transaction of autovacuum would delay the feed.
    options.settings = ["autovacuum": "off"]
    let cluster = try EphemeralPostgres.start(options)
    try cluster.execute("CREATE ROLE plain LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE")
    try cluster.execute("CREATE DATABASE plain OWNER plain")
    let connection = cluster.connectionString(database: "plain")
      .replacing("postgres@", with: "plain@")
    _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    let store = try await TestDatabases.open(connection)
    let first = try await store.submit("1", "1", by: "alice").latest
    #expect(try await store.feed(through: first).map(\.sequence) == [first])

    // As for a superuser, transactions of other roles delay the feed only in the same database.
    let elsewhere = try await OpenTransaction(try cluster.makeDatabase(), OpenTransaction.number)
    let second = try await store.submit("2", "2", by: "bob").latest
    #expect(try await store.changes(after: first, limit: 10).map(\.sequence) == [second])
    await elsewhere.end()
    let here = try await OpenTransaction(
      cluster.connectionString(database: "plain"), OpenTransaction.number)
    let third = try await store.submit("3", "3", by: "carl").latest
    #expect(try await store.changes(after: second, limit: 10).isEmpty)
    #expect(
      try await store.changedCustomers(after: second).subjects
        == [.account(StoreSample.scope, "carl")])
    await here.end()
    #expect(try await store.feed(through: third).map(\.sequence) == [first, second, third])

    try await store.checkHealth()
    let statistics = store.statistics
    #expect(statistics.commits == 3)
    #expect(statistics.readingConnections > 0)
    await store.close()
  }
}
