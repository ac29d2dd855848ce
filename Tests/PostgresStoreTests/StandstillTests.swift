import EntitlementDomain
import EntitlementStore
import StoreConformance
import TestSupport
import Testing

@testable import PostgresStore

// A server whose processes are stopped: it neither answers nor closes connections, as behind a
// network that drops all packets. Skipped where no PostgreSQL server is installed.
@Suite("A server that stands still", .enabled(if: EphemeralPostgres.isAvailable), .serialized)
struct StandstillTests {
  @Test("Writes are answered by their deadlines, and nothing is lost", .timeLimit(.minutes(3)))
  func writes() async throws {
    let cluster = try EphemeralPostgres.start(Self.options)
    let connection = try await cluster.makeMigratedDatabase()
    let store = try await TestDatabases.open(connection) {
      $0.writingConnections = 1
      $0.writeTimeLimit = .seconds(15)
      $0.exchangeTimeLimit = .seconds(5)
      $0.lockTimeLimit = .seconds(60)
      // Until then the writer looks for the fate of the commit.
      $0.resolutionTimeLimit = .seconds(100)
    }
    try await store.submit("1", "1", by: "alice")
    // The first write has sent its commit, and the others wait for the writer.
    let blocker = try await OpenTransaction(connection, "LOCK TABLE changes IN EXCLUSIVE MODE")
    let start = ContinuousClock.now
    async let inFlight = Self.failure { try await store.submit("2", "2", by: "alice") }
    try await eventually { try !cluster.execute(Self.waiting).isEmpty }
    async let waiting = Self.failure { try await store.submit("3", "3", by: "bob") }
    async let impatient = Self.failure {
      try await CallContext.$current.withValue(
        CallContext(deadline: .now + .seconds(5))
      ) {
        _ = try await store.submit("4", "4", by: "carl")
      }
    }
    try await eventually { store.waitingWrites == 3 }
    try cluster.pause()
    #expect(await impatient?.message.contains("nothing was stored") == true)
    #expect(await inFlight?.message.contains("submitting the same again is safe") == true)
    #expect(await waiting?.message.contains("nothing was stored") == true)
    let time = start.duration(to: .now)
    print("all callers were answered after \(time)")
    #expect(time < .seconds(60))

    try cluster.resume()
    await blocker.end()
    // The writer finds the fate of the first write, and goes on.
    for (number, account) in [("2", AccountID("alice")), ("3", "bob"), ("4", "carl")] {
      try await eventually { (try? await store.submit(number, number, by: account)) != nil }
    }
    let latest = try await store.submit("5", "5", by: "dora").latest
    #expect(
      try await store.customer(.account("alice"), in: StoreSample.scope).record.facts.count == 2)
    let feed = try await store.feed(through: latest)
    #expect(feed.count == 5)
    // A follower is told of every change, so that no node keeps an answer without it.
    #expect(
      Set(try await store.changedCustomers(after: 0).subjects)
        == Set(["alice", "bob", "carl", "dora"].map { .account(StoreSample.scope, AccountID($0)) }))
    await store.close()
  }

  @Test(
    "Health is told by a connection of its own, within the limit of a probe",
    .timeLimit(.minutes(3)))
  func health() async throws {
    let cluster = try EphemeralPostgres.start(Self.options)
    let store = try await TestDatabases.open(try await cluster.makeMigratedDatabase()) {
      $0.readTimeLimit = .seconds(100)
    }
    try await store.checkHealth()
    try cluster.pause()
    // Reads occupy all connections, and more wait.
    let reads = (0..<20).map { _ in Task { try await store.feedEnd() } }
    let start = ContinuousClock.now
    for _ in 0..<2 {
      let failure = await Self.failure { try await store.checkHealth() }
      #expect(failure?.code == .unavailable)
    }
    let time = start.duration(to: .now)
    print("two probes took \(time)")
    #expect(time < .seconds(60))
    try cluster.resume()
    try await eventually { (try? await store.checkHealth()) != nil }
    for read in reads { _ = try await read.value }
    await store.close()
  }

  @Test("The write of a call is bounded from the beginning of the call")
  func callContext() {
    let now = ContinuousClock.now
    let began = now - .seconds(15)
    let limit = Duration.seconds(20)
    func deadline(_ call: CallContext?) -> ContinuousClock.Instant {
      CallContext.$current.withValue(call) { CallContext.writeDeadline(within: limit) }
    }
    #expect(deadline(nil) >= now + limit)
    #expect(deadline(CallContext(began: began, deadline: nil)) == now + .seconds(5))
    #expect(
      deadline(CallContext(began: began, deadline: now + .seconds(2))) == now + .seconds(2))
    #expect(
      deadline(CallContext(began: began, deadline: now + .seconds(60))) == now + .seconds(5))
  }

  private static func failure(_ body: () async throws -> Void) async -> StoreError? {
    do {
      try await body()
      return nil
    } catch {
      return error as? StoreError
    }
  }

  /// The sessions that wait for the lock of the feed.
  private static let waiting = """
    SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INTO changes%'
    """

  private static let options = {
    var options = EphemeralPostgres.Options()
    options.isDurable = false
    return options
  }()
}
