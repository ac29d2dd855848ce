import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("Reads from a standby", .enabled(if: EphemeralPostgres.isAvailable), .serialized)
struct ReplicaTests {
  @Test(
    "A standby answers only reads for which it is new enough", .timeLimit(.minutes(2)))
  func freshness() async throws {
    var options = EphemeralPostgres.Options()
    options.isDurable = false
    let primary = try EphemeralPostgres.start(options)
    let connection = try await primary.makeMigratedDatabase()
    let standby = try primary.makeStandby(options)
    let name = try EphemeralPostgres.databaseName(of: connection)
    let store = try await TestDatabases.open(
      connection, replicas: [standby.connectionString(database: name)])
    let receipt = try await store.submit("1", "1", by: "alice")
    let position = receipt.customers[0].revision
    // The standby catches up.
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

    // The standby stops replaying, so later writes are missing there.
    try standby.execute("SELECT pg_wal_replay_pause()", database: name)
    let later = try await store.submit("2", "1", by: "alice").customers[0].revision
    // The primary answers too when the standby is too slow, which is then not asked for a while.
    try await eventually {
      try await store.customer(
        .account("alice"), in: StoreSample.scope, .includes(position: position)
      ).record.revision == position
    }
    let passed = store.statistics.replicaFallbacks
    let new = try await store.customer(
      .account("alice"), in: StoreSample.scope, .includes(position: later))
    #expect(new.record.revision == later)
    #expect(store.statistics.replicaFallbacks == passed + 1)
    // Only the primary answers reads that require it.
    let reads = store.statistics.replicaReads
    #expect(
      try await store.customer(.account("alice"), in: StoreSample.scope).record.revision == later)
    #expect(store.statistics.replicaReads == reads)

    // The standby is killed, and the primary answers.
    try standby.kill()
    #expect(
      try await store.customer(
        .account("alice"), in: StoreSample.scope, .includes(position: position)
      ).record.revision == later)
    await store.close()
  }

  @Test("A cancelled read does not mark the standby as failed", .timeLimit(.minutes(2)))
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

  @Test("With one standby down and one behind, no answer is too old")
  func two() async throws {
    let (store, standbys, database) = try await Self.start(standbys: 2)
    let first = try await store.submit("1", "1", by: "alice").latest
    try await Self.catchUp(store, to: first)
    try standbys[0].kill()
    try standbys[1].execute("SELECT pg_wal_replay_pause()", database: database)
    let second = try await store.submit("2", "1", by: "alice").latest
    let before = store.statistics
    for _ in 0..<6 {
      // The remaining standby has only the first change, the primary has both.
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
    #expect(store.statistics.replicaFallbacks > before.replicaFallbacks)

    // The standby catches up and answers new reads too, while the other is still down.
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
    let name = try EphemeralPostgres.databaseName(of: connection)
    let standbys = try (0..<count).map { _ in try primary.makeStandby(options) }
    let store = try await TestDatabases.open(
      connection, replicas: standbys.map { $0.connectionString(database: name) })
    // The primary runs as long as its object is retained.
    return (store, standbys + [primary], String(name))
  }

  /// Reads until a standby answers with the change at `position`.
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
