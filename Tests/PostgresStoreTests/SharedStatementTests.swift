import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite(
  "Reads whose shared statement stands still", .enabled(if: EphemeralPostgres.isAvailable),
  .timeLimit(.minutes(2)))
struct SharedStatementTests {
  private static let accounts = (0..<16).map { AccountID("account-\($0)") }

  @Test("When it takes too long, each account is answered alone")
  func tooSlow() async throws {
    try await withStandingStatement(limit: .seconds(6)) { store, reads, blocker in
      // Its half of the time is up.
      try await eventually { store.statistics.timeouts >= 1 }
      let before = store.statistics.exchanges
      await blocker.end()
      for (account, read) in zip(Self.accounts, reads) {
        #expect(try await read.value.record.accountID == account)
      }
      try await eventually { store.statistics.exchanges - before >= reads.count }
    }
  }

  @Test("Who is cancelled meanwhile is told at once, and the others are answered")
  func cancelled() async throws {
    try await withStandingStatement(limit: .seconds(60)) { store, reads, blocker in
      for read in reads[..<5] { read.cancel() }
      for read in reads[..<5] { try await Self.expectCancelled(read) }
      await blocker.end()
      for (account, read) in zip(Self.accounts, reads).dropFirst(5) {
        #expect(try await read.value.record.accountID == account)
      }
    }
  }

  @Test("Who is cancelled while it waits for a statement leaves the queue at once")
  func withdrawn() async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await Self.open(connection, limit: .seconds(60))
      try await store.submit("0", "0", by: "alice")
      let blocker = try await OpenTransaction(connection, "LOCK TABLE accounts")
      let reads = (0..<40).map { _ in Self.read("alice", of: store) }
      // Two have a statement each.
      try await eventually { store.statistics.waitingReads == 38 }
      for read in reads[..<30] { read.cancel() }
      for read in reads[..<30] { try await Self.expectCancelled(read) }
      // Those two may be among either.
      #expect((8...10).contains(store.statistics.waitingReads))
      // One that is cancelled before it asks.
      let late = Task { () async throws -> StoredCustomer in
        withUnsafeCurrentTask { $0?.cancel() }
        return try await store.customer(.account("alice"), in: StoreSample.scope, .primary)
      }
      try await Self.expectCancelled(late)
      await blocker.end()
      for read in reads[30...] { #expect(try await read.value.record.accountID == "alice") }
      #expect(store.statistics.waitingReads == 0)
      await store.close()
    }
  }

  /// Has sixteen reads share a statement, which waits for a transaction of somebody else.
  private func withStandingStatement(
    limit: Duration,
    _ body: (PostgresStore, [Task<StoredCustomer, any Error>], OpenTransaction) async throws -> Void
  ) async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await Self.open(connection, limit: limit)
      for account in Self.accounts {
        try await store.submit(account.rawValue, account.rawValue, by: account)
      }
      let locks = try ConnectionFixture.pool(connection)
      func waitingForLocks() async throws -> Int64 {
        let rows = try await locks.read(
          """
          SELECT count(*) FROM pg_locks WHERE NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
          """)
        return try rows.int64(0, 0)
      }
      // The statement is prepared then, for which no lock has to be free any more.
      _ = try await Self.read("account-0", of: store).value
      // Two reads find nobody before them; they are on one connection, the first of them at work. When
      // it is answered, the others leave together, and stand behind the second, which waits anew.
      let first = try await OpenTransaction(connection, "LOCK TABLE accounts")
      var early = [Self.read("account-0", of: store)]
      try await eventually { try await waitingForLocks() == 1 }
      early.append(Self.read("account-0", of: store))
      try await eventually { store.statistics.readsInFlight == 2 }
      let reads = Self.accounts.map { Self.read($0, of: store) }
      try await eventually { store.statistics.waitingReads == reads.count }
      async let second = OpenTransaction(connection, "LOCK TABLE accounts")
      try await eventually { try await waitingForLocks() == 2 }
      await first.end()
      let blocker = try await second
      try await eventually { store.statistics.waitingReads == 0 }
      try await eventually { store.statistics.readsInFlight == 2 }
      try await body(store, reads, blocker)
      for read in early { #expect(try await read.value.record.accountID == "account-0") }
      await locks.close()
      await store.close()
    }
  }

  /// With one connection, so that two statements are on their way at once.
  private static func open(_ connection: String, limit: Duration) async throws -> PostgresStore {
    try await TestDatabases.open(connection) {
      $0.readingConnections = 1
      $0.readTimeLimit = limit
      // Longer than any test.
      $0.lockTimeLimit = .seconds(60)
    }
  }

  private static func read(
    _ account: AccountID, of store: PostgresStore
  ) -> Task<StoredCustomer, any Error> {
    Task { try await store.customer(.account(account), in: StoreSample.scope, .primary) }
  }

  private static func expectCancelled(_ read: Task<StoredCustomer, any Error>) async throws {
    let failure = await #expect(throws: StoreError.self) { try await read.value }
    #expect(failure?.code == .unavailable)
    #expect(failure?.message == "the call was cancelled")
  }
}
