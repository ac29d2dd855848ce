import EntitlementDomain
import EntitlementStore
import StoreConformance
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("The watermark of the feed", .enabled(if: EphemeralPostgres.isAvailable))
struct FeedWatermarkTests {
  @Test("A long transaction delays the feed, but not the list of changed customers")
  func longTransaction() async throws {
    let connection = try await TestDatabases.make()
    let store = try await TestDatabases.open(connection)
    let first = try await store.submit("1", "1", by: "alice").customers[0].revision
    _ = try await store.feed(through: first)
    let position = try await store.feedEnd()
    let other = try await OpenTransaction(connection, OpenTransaction.number)
    let later = try await store.submit("2", "2", by: "bob").customers[0].revision
    // The other transaction could still write a change with a lower number.
    #expect(try await store.changes(after: first, limit: 10).isEmpty)
    #expect(try await store.feedEnd() == position)
    let told = try await store.changedCustomers(after: position)
    #expect(told.subjects == [.account(StoreSample.scope, "bob")])
    #expect(told.position == position)
    #expect(told.latest == later)
    // Changes are returned only once, however long the other transaction runs.
    let again = try await store.changedCustomers(since: told.cursor)
    #expect(again.subjects.isEmpty)
    #expect(again.cursor.latest == later)
    await other.end()
    #expect(try await store.feed(through: later).map(\.sequence) == [first, later])
    let settled = try await store.changedCustomers(since: again.cursor)
    #expect(settled.subjects.isEmpty)
    #expect(settled.cursor.position == later)
    await store.close()
  }

  @Test(
    "Prepared transactions of this database delay the feed, and appear in it after their commit",
    .timeLimit(.minutes(2)))
  func prepared() async throws {
    var options = EphemeralPostgres.Options()
    options.isDurable = false
    // A transaction of autovacuum would delay the feed too.
    options.settings = ["max_prepared_transactions": "4", "autovacuum": "off"]
    let cluster = try EphemeralPostgres.start(options)
    let connection = try await cluster.makeMigratedDatabase()
    let name = try EphemeralPostgres.databaseName(of: connection)
    let store = try await TestDatabases.open(connection)
    try cluster.execute(
      "BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'elsewhere'", database: "postgres")
    let first = try await store.submit("1", "1", by: "alice").customers[0].revision
    #expect(try await store.feedEnd() == first)
    var told = try await store.changedCustomers(since: try await store.followerCursor())
    #expect(told.cursor.position == first)

    try cluster.execute(
      """
      BEGIN;
      INSERT INTO changes (sequence, committed_at, scope, kinds, account)
        SELECT ((pg_current_xact_id()::text::bigint + sequence_offset) << 16) + 1, 5000, scopes.id,
          1, 'late'
        FROM meta, scopes;
      PREPARE TRANSACTION 'here'
      """, database: name)
    for (number, account) in ["bob", "carol"].enumerated() {
      let later = try await store.submit(
        "\(number + 2)", "\(number + 2)", by: AccountID(account)
      ).customers[0].revision
      told = try await store.changedCustomers(since: told.cursor)
      #expect(told.subjects == [.account(StoreSample.scope, AccountID(account))])
      #expect(told.cursor.position == first)
      #expect(told.cursor.latest == later)
    }
    #expect(try await store.feedEnd() == first)
    // A follower that starts meanwhile sees the late change too, and no other.
    let start = try await store.followerCursor()
    #expect(start.position == first)
    #expect(start.latest == told.cursor.latest)
    try cluster.execute("COMMIT PREPARED 'here'", database: name)
    for cursor in [told.cursor, start] {
      let last = try await store.changedCustomers(since: cursor)
      #expect(last.subjects == [.account(StoreSample.scope, "late")])
      #expect(last.cursor.position == told.cursor.latest)
    }
    try cluster.execute("ROLLBACK PREPARED 'elsewhere'", database: "postgres")
    await store.close()
  }

  @Test("A long transaction in another database of the server does not delay the feed")
  func otherDatabase() async throws {
    let store = try await TestDatabases.open(try await TestDatabases.make())
    let other = try await OpenTransaction(
      try await TestDatabases.make(), OpenTransaction.number)
    let revision = try await store.submit("1", "1", by: "alice").customers[0].revision
    // No other test writes to this database.
    #expect(try await store.changes(after: 0, limit: 10).map(\.sequence) == [revision])
    #expect(try await store.feedEnd() == revision)
    await other.end()
    await store.close()
  }

  @Test("Sequence numbers keep growing in a database that was restored into a newer server")
  func restored() async throws {
    let connection = try await TestDatabases.make()
    let name = try EphemeralPostgres.databaseName(of: connection)
    let store = try await TestDatabases.open(connection)
    let revision = try await store.submit("1", "1", by: "alice").customers[0].revision
    await store.close()
    // As if the former server had assigned a million more transaction ids.
    let shift = Int64(1_000_000) << 16
    try TestDatabases.cluster.get().execute(
      """
      UPDATE changes SET sequence = sequence + \(shift);
      UPDATE accounts SET revision = revision + \(shift);
      UPDATE links SET revision = revision + \(shift) WHERE revision > 0
      """, database: name)
    let nodes = [
      try await TestDatabases.open(connection), try await TestDatabases.open(connection),
    ]
    for (number, node) in nodes.enumerated() {
      let page = try await node.changes(after: 0, limit: 10)
      #expect(page.first?.sequence == revision + shift)
      let next = try await node.submit("\(number + 2)", "\(number + 2)", by: "alice")
      #expect(next.customers[0].revision > page.last?.sequence ?? .max)
      #expect(
        try await node.feed(through: next.customers[0].revision).count == number + 2)
    }
    for node in nodes { await node.close() }
  }
}
