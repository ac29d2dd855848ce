import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

// Connections lost during a commit: an acknowledged write is stored exactly once, and a write that
// was not stored is repeated. Skipped where no PostgreSQL server is installed.
@Suite("A commit whose connection is lost", .enabled(if: EphemeralPostgres.isAvailable))
struct CommitFateTests {
  @Test("is answered when it took place and waited for a standby", .timeLimit(.minutes(2)))
  func committedIsAnswered() async throws {
    let cluster = try EphemeralPostgres.start(Self.options)
    let store = try await TestDatabases.open(try await cluster.makeMigratedDatabase())
    try await store.submit("1", "1", by: "alice")
    // From now on a commit is flushed, and waits for a standby that never connects.
    try cluster.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    try cluster.execute("SELECT pg_reload_conf()")
    try await eventually {
      try cluster.execute("SHOW synchronous_standby_names") == "nobody"
    }
    async let receipt = store.submit("2", "2", by: "alice")
    let waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    try await eventually { try !cluster.execute(waiting).isEmpty }
    try cluster.execute("ALTER SYSTEM RESET synchronous_standby_names")
    try cluster.execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    try cluster.execute("SELECT pg_reload_conf()")

    let answered = try await receipt
    #expect(answered.dispositions == [.added])
    #expect(store.statistics.resolvedCommits == 1)
    let record = try await store.customer(.account("alice"), in: StoreSample.scope).record
    #expect(record.facts.count == 2)
    #expect(answered.customers.map(\.revision) == [record.revision])
    await store.close()
  }

  @Test(
    "is repeated when it did not take place because its backend was terminated",
    .timeLimit(.minutes(2)))
  func lostIsRepeated() async throws {
    let cluster = try EphemeralPostgres.start(Self.options)
    let connection = try await cluster.makeMigratedDatabase()
    let store = try await TestDatabases.openPatient(connection)
    try await store.submit("1", "1", by: "alice")
    let blocker = try await OpenTransaction(connection, Self.feedLock)
    async let receipt = store.submit("2", "2", by: "alice")
    try await eventually { try !cluster.execute(Self.waiting).isEmpty }
    try cluster.execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN (\(Self.waiting))")
    await blocker.end()

    let answered = try await receipt
    #expect(answered.dispositions == [.added])
    #expect(store.statistics.resolvedCommits == 1)
    let record = try await store.customer(.account("alice"), in: StoreSample.scope).record
    #expect(record.facts.count == 2)
    #expect(answered.customers.map(\.revision) == [record.revision])
    #expect(try await store.feed(through: record.revision).count == 2)
    await store.close()
  }

  @Test("is waited for when it may still take place", .timeLimit(.minutes(2)))
  func runningIsWaitedFor() async throws {
    let cluster = try EphemeralPostgres.start(Self.options)
    let connection = try await cluster.makeMigratedDatabase()
    let store = try await TestDatabases.openPatient(connection) {
      // Also that of the first write, which connects and prepares.
      $0.exchangeTimeLimit = .seconds(5)
    }
    try await store.submit("1", "1", by: "alice")
    let blocker = try await OpenTransaction(connection, Self.feedLock)
    async let receipt = store.submit("2", "2", by: "alice")
    // The store closes the connection. The server does not notice and still waits, with COMMIT
    // among the received commands. The statement that resolves the outcome waits for it.
    let looking = """
      SELECT pid FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO commit_tokens%'
      """
    try await eventually { try !cluster.execute(looking).isEmpty }
    await blocker.end()

    let answered = try await receipt
    #expect(answered.dispositions == [.added])
    #expect(store.statistics.resolvedCommits == 1)
    let record = try await store.customer(.account("alice"), in: StoreSample.scope).record
    #expect(record.facts.count == 2)
    #expect(answered.customers.map(\.revision) == [record.revision])
    #expect(try await store.feed(through: record.revision).count == 2)
    await store.close()
  }

  @Test("is reported as unknown when the database is unreachable", .timeLimit(.minutes(2)))
  func unknownIsTold() async throws {
    let cluster = try EphemeralPostgres.start(Self.options)
    let connection = try await cluster.makeMigratedDatabase()
    let store = try await TestDatabases.open(connection) {
      $0.exchangeTimeLimit = .seconds(2)
      $0.resolutionTimeLimit = .seconds(3)
    }
    try await store.submit("1", "1", by: "alice")
    let blocker = try await OpenTransaction(connection, Self.feedLock)
    let receipt = Task { try await store.submit("2", "2", by: "alice") }
    try await eventually { try !cluster.execute(Self.waiting).isEmpty }
    try cluster.kill()
    let failure = await #expect(throws: StoreError.self) { _ = try await receipt.value }
    #expect(failure?.code == .unavailable)
    #expect(failure?.message.contains("submitting the same again is safe") == true)
    await blocker.end()
    await store.close()
  }

  @Test(
    "is resolved within the time limit, even while the statement waits for a lock",
    .timeLimit(.minutes(2)))
  func searchIsBounded() async throws {
    let cluster = try EphemeralPostgres.start(Self.options)
    let connection = try await cluster.makeMigratedDatabase()
    let store = try await TestDatabases.openPatient(connection) {
      $0.resolutionTimeLimit = .milliseconds(500)
    }
    try await store.submit("1", "1", by: "alice")
    let blocker = try await OpenTransaction(connection, Self.feedLock)
    let receipt = Task { try await store.submit("2", "2", by: "alice") }
    try await eventually { try !cluster.execute(Self.waiting).isEmpty }
    // Granted after the writer, which has inserted its token, has ended.
    async let tokens = OpenTransaction(
      connection, "LOCK TABLE commit_tokens IN ACCESS EXCLUSIVE MODE")
    try await eventually {
      try !cluster.execute(
        "SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted"
      ).isEmpty
    }
    let start = ContinuousClock.now
    try cluster.execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN (\(Self.waiting))")
    let failure = await #expect(throws: StoreError.self) { _ = try await receipt.value }
    #expect(failure?.message.contains("submitting the same again is safe") == true)
    // The lock timeout of the server is a minute.
    #expect(start.duration(to: .now) < .seconds(30))
    try await tokens.end()
    await blocker.end()
    await store.close()
  }

  /// Blocks all writes to the feed.
  private static let feedLock = "LOCK TABLE changes IN EXCLUSIVE MODE"

  /// The sessions that it blocks.
  private static let waiting = """
    SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INTO changes%'
    """

  private static let options = {
    var options = EphemeralPostgres.Options()
    options.isDurable = false
    return options
  }()
}
