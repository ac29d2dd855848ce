import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("Reads from a standby", .enabled(if: EphemeralPostgres.isAvailable), .serialized)
struct ReplicaTests {
  @Test(
    "A standby answers what is new enough, and never what is too old", .timeLimit(.minutes(2)))
  func freshness() async throws {
    var options = EphemeralPostgres.Options()
    options.isDurable = false
    let primary = try EphemeralPostgres.start(options)
    let connection = try await primary.makeMigratedDatabase()
    let standby = try primary.makeStandby(options)
    let name = try #require(connection.split(separator: "?").first?.split(separator: "/").last)
    let store = try await TestDatabases.open(
      connection, replicas: [standby.connectionString(database: String(name))])
    let receipt = try await store.submit("1", "1", by: "alice")
    let position = receipt.customers[0].revision
    // It comes to it.
    try await eventually {
      let found = try await store.customer(
        .account("alice"), in: StoreSample.scope, .includes(position: position))
      #expect(found.record.facts.count == 1)
      #expect(found.record.revision == position)
      return store.statistics.replicaReads > 0
    }
    for selector: CustomerSelector in [
      .account("alice"), .originalTransaction("1"), .transaction("1"),
    ] {
      #expect(
        try await store.customer(selector, in: StoreSample.scope, .includes(position: position))
          == store.customer(selector, in: StoreSample.scope))
    }

    // It stands still: what is written from now on is not there.
    try standby.execute("SELECT pg_wal_replay_pause()", database: String(name))
    let later = try await store.submit("2", "1", by: "alice").customers[0].revision
    let passed = store.statistics.passedReplicas
    let old = try await store.customer(
      .account("alice"), in: StoreSample.scope, .includes(position: position))
    #expect(old.record.revision == position)
    let new = try await store.customer(
      .account("alice"), in: StoreSample.scope, .includes(position: later))
    #expect(new.record.revision == later)
    #expect(store.statistics.passedReplicas == passed + 1)
    // The primary is asked where it has to be.
    let reads = store.statistics.replicaReads
    #expect(
      try await store.customer(.account("alice"), in: StoreSample.scope).record.revision == later)
    #expect(store.statistics.replicaReads == reads)

    // It is gone: the primary answers.
    try standby.kill()
    #expect(
      try await store.customer(
        .account("alice"), in: StoreSample.scope, .includes(position: position)
      ).record.revision == later)
    await store.close()
  }

  @Test("A caller that gives up says nothing of the standby", .timeLimit(.minutes(2)))
  func cancelled() async throws {
    let (store, standbys, _) = try await Self.start(standbys: 1)
    let position = try await store.submit("1", "1", by: "alice").latest
    try await Self.catchUp(store, to: position)
    let reads = store.statistics.replicaReads
    let given = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await store.customer(
        .account("alice"), in: StoreSample.scope, .includes(position: position))
    }
    await #expect(throws: StoreError.self) { _ = try await given.value }
    _ = try await store.customer(
      .account("alice"), in: StoreSample.scope, .includes(position: position))
    #expect(store.statistics.replicaReads == reads + 1)
    await store.close()
    withExtendedLifetime(standbys) {}
  }

  @Test("Of two standbys, one is gone and one lags: nobody is answered what is too old")
  func two() async throws {
    let (store, standbys, database) = try await Self.start(standbys: 2)
    let first = try await store.submit("1", "1", by: "alice").latest
    try await Self.catchUp(store, to: first)
    try standbys[0].kill()
    try standbys[1].execute("SELECT pg_wal_replay_pause()", database: database)
    let second = try await store.submit("2", "1", by: "alice").latest
    let before = store.statistics
    for _ in 0..<6 {
      // Whoever is asked first: the one that is left has the first, the primary both.
      let old = try await store.customer(
        .account("alice"), in: StoreSample.scope, .includes(position: first)
      ).record.revision
      #expect([first, second].contains(old))
      #expect(
        try await store.customer(
          .account("alice"), in: StoreSample.scope, .includes(position: second)
        ).record.revision == second)
    }
    #expect(store.statistics.replicaReads > before.replicaReads)
    #expect(store.statistics.passedReplicas > before.passedReplicas)

    // It goes on: it answers what is new too, while the other is still away.
    try standbys[1].execute("SELECT pg_wal_replay_resume()", database: database)
    try await Self.catchUp(store, to: second)
    await store.close()
  }

  // MARK: Steps

  private static func start(
    standbys count: Int
  ) async throws -> (PostgresStore, [EphemeralPostgres], database: String) {
    var options = EphemeralPostgres.Options()
    options.isDurable = false
    let primary = try EphemeralPostgres.start(options)
    let connection = try await primary.makeMigratedDatabase()
    let name = try #require(connection.split(separator: "?").first?.split(separator: "/").last)
    let standbys = try (0..<count).map { _ in try primary.makeStandby(options) }
    let store = try await TestDatabases.open(
      connection, replicas: standbys.map { $0.connectionString(database: String(name)) })
    // The primary ends with the last of those who refer to it.
    return (store, standbys + [primary], String(name))
  }

  /// Reads until a standby answers what includes a change.
  private static func catchUp(_ store: PostgresStore, to position: Int64) async throws {
    let before = store.statistics.replicaReads
    try await eventually {
      let found = try await store.customer(
        .account("alice"), in: StoreSample.scope, .includes(position: position))
      #expect(found.record.revision >= position)
      return store.statistics.replicaReads > before
    }
  }
}
