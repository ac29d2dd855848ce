import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite(
  "Customers that others have locked", .enabled(if: EphemeralPostgres.isAvailable),
  .timeLimit(.minutes(5)))
struct LockedCustomersTests {
  private static let stuck = (0..<9).map { AccountID("stuck-\($0)") }

  @Test(
    "Writes of other customers succeed, however many customers are locked and written",
    arguments: [1, 2, 4])
  func othersGoOn(writers: Int) async throws {
    let connection = try await TestDatabases.make()
    // No write fails because of its age.
    let store = try await TestDatabases.openPatient(connection) {
      $0.writingConnections = writers
      $0.rowLockTimeLimit = .seconds(5)
    }
    let holder = try await OpenTransaction(connection, locking: Self.stuck, in: store)
    let clients = Self.stuck.map { account in
      // Each client retries at once, until the lock is released.
      Task {
        var refusals = 0
        while true {
          do throws(StoreError) {
            let fact = try Self.fact("\(account)")
            let receipt = try await store.commit(StoreSample.submission([fact], by: account))
            #expect(receipt.dispositions == [.added])
            return refusals
          } catch {
            #expect(error.message == StoreError.lockedElsewhere.message)
            refusals += 1
          }
        }
      }
    }
    // The first wave shares transactions with the locked writes. Later waves come after the locks
    // are recorded.
    for wave in 0..<3 {
      let time = try await ContinuousClock().measure { try await submitOthers(wave, to: store) }
      // One lock timeout, with a margin for a busy machine. One writer would take 45 seconds for
      // those of all customers.
      #expect(time < .seconds(40), "wave \(wave)")
    }
    await holder.end()
    for (account, client) in zip(Self.stuck, clients) {
      #expect(await client.value > 0)
      let found = try await store.customer(.account(account), in: StoreSample.scope, .primary)
      #expect(found.record.facts.count == 1)
    }
    await store.close()
  }

  private static func fact(_ id: String) throws(StoreError) -> SignedFact {
    do {
      return try StoreSample.transaction(id, id)
    } catch {
      throw StoreError(.internalFault, "a sample cannot be made")
    }
  }

  private func submitOthers(_ wave: Int, to store: PostgresStore) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<24 {
        group.addTask {
          let id = "\(wave)-\(number)"
          try await store.submit(id, id, by: AccountID("other-\(id)"))
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("A lock that is released within the timeout is waited for")
  func shortLock() async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await TestDatabases.open(connection) {
        $0.writingConnections = 1
        $0.rowLockTimeLimit = .seconds(60)
      }
      let holder = try await OpenTransaction(connection, locking: ["alice"], in: store)
      async let receipt = store.submit("1", "1", by: "alice")
      let waiting = """
        SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """
      let pool = try ConnectionFixture.pool(connection)
      try await eventually { try await pool.read(waiting).int64(0, 0) == 1 }
      await holder.end()
      #expect(try await receipt.dispositions == [.added])
      #expect(store.statistics.retries == 0)
      await pool.close()
      await store.close()
    }
  }

  @Test("An exclusively locked app is waited for over several lock timeouts")
  func lockedApp() async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await TestDatabases.open(connection) {
        $0.lockTimeLimit = .milliseconds(50)
        $0.maximumAttempts = 1_000
        $0.writeTimeLimit = .seconds(60)
      }
      try await store.submit("0", "0", by: "alice")
      let holder = try await OpenTransaction(
        connection,
        "SELECT count(pg_advisory_xact_lock(hashtextextended('s' || id, 0)))::text FROM scopes")
      async let receipt = store.submit("1", "1", by: "alice")
      try await eventually { store.statistics.retries >= 2 }
      await holder.end()
      #expect(try await receipt.dispositions == [.added])
      await store.close()
    }
  }

  @Test("A row that was locked by hand fails only the writes of that row")
  func lockedRow() async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await TestDatabases.open(connection) {
        $0.writingConnections = 1
        $0.lockTimeLimit = .milliseconds(300)
        $0.writeTimeLimit = .seconds(60)
      }
      try await store.submit("0", "0", by: "alice")
      let holder = try await OpenTransaction(connection, "SELECT account FROM accounts FOR UPDATE")
      let outcomes = await withTaskGroup(of: (Int, StoreError?).self) { group in
        for number in 1...20 {
          group.addTask {
            let account: AccountID = number == 7 ? "alice" : AccountID("bob-\(number)")
            do throws(StoreError) {
              _ = try await store.commit(
                StoreSample.submission([try Self.fact("\(number)")], by: account))
              return (number, nil)
            } catch {
              return (number, error)
            }
          }
        }
        return await group.reduce(into: [:]) { $0[$1.0] = .some($1.1) }
      }
      #expect(outcomes.filter { $0.value != nil }.keys.sorted() == [7])
      #expect(outcomes[7]??.message == StoreError.lockedElsewhere.message)
      await holder.end()
      try await eventually { (try? await store.submit("7", "7", by: "alice")) != nil }
      await store.close()
    }
  }
}
