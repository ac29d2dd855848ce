import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("Up to where the feed is complete", .enabled(if: EphemeralPostgres.isAvailable))
struct FeedHorizonTests {
  @Test("A long transaction in the database delays the feed, but not who changed")
  func longTransaction() async throws {
    let connection = try await TestDatabases.make()
    let store = try await TestDatabases.open(connection)
    let first = try await store.submit("1", "1", by: "alice").customers[0].revision
    _ = try await store.feed(through: first)
    let position = try await store.feedEnd()
    let other = try await OpenTransaction(connection)
    let later = try await store.submit("2", "2", by: "bob").customers[0].revision
    // It cannot be known yet that the other will write nothing of a lower number.
    #expect(try await store.changes(after: first, limit: 10).isEmpty)
    #expect(try await store.feedEnd() == position)
    let told = try await store.changedCustomers(after: position)
    #expect(told.subjects == [.account(StoreSample.scope, "bob")])
    #expect(told.position == position)
    #expect(told.latest == later)
    await other.end()
    #expect(try await store.feed(through: later).map(\.sequence) == [first, later])
    #expect(try await store.changedCustomers(after: position).position == later)
    await store.close()
  }

  @Test("A long transaction in another database of the server does not delay the feed")
  func otherDatabase() async throws {
    let store = try await TestDatabases.open(try await TestDatabases.make())
    let other = try await OpenTransaction(try await TestDatabases.make())
    let revision = try await store.submit("1", "1", by: "alice").customers[0].revision
    // Other tests write in the database of this one never.
    #expect(try await store.changes(after: 0, limit: 10).map(\.sequence) == [revision])
    #expect(try await store.feedEnd() == revision)
    await other.end()
    await store.close()
  }

  @Test("Numbers go on growing in a database that was restored into a younger server")
  func restored() async throws {
    let connection = try await TestDatabases.make()
    let name = try #require(connection.split(separator: "?").first?.split(separator: "/").last)
    let store = try await TestDatabases.open(connection)
    let revision = try await store.submit("1", "1", by: "alice").customers[0].revision
    await store.close()
    // As if the server that it came from had counted a million transactions more.
    let shift = Int64(1_000_000) << 16
    try TestDatabases.cluster.get().execute(
      """
      UPDATE changes SET sequence = sequence + \(shift);
      UPDATE accounts SET revision = revision + \(shift);
      UPDATE links SET revision = revision + \(shift) WHERE revision > 0
      """, database: String(name))
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

/// A transaction that has an id and does nothing, until it is ended.
private final class OpenTransaction: Sendable {
  private let pool: PostgresPool
  private let finish: AsyncStream<Void>.Continuation
  private let holder: Task<Void, Never>

  init(_ connection: String) async throws {
    let pool = try PostgresPool.forMigration(connection)
    let (stream, finish) = AsyncStream.makeStream(of: Void.self)
    let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
    self.pool = pool
    self.finish = finish
    holder = Task {
      try? await pool.withSession(within: .seconds(10)) { session throws(PostgresFailure) in
        _ = try await session.exchange(
          [
            PostgresCommand(PostgresStatement("BEGIN", name: "open_begin")),
            PostgresCommand(
              PostgresStatement("SELECT pg_current_xact_id()::text", name: "open_id")),
          ], within: .seconds(10))
        hasBegun.finish()
        for await _ in stream {}
      }
      hasBegun.finish()
    }
    for await _ in begun {}
  }

  func end() async {
    finish.finish()
    await holder.value
    await pool.close()
  }
}
