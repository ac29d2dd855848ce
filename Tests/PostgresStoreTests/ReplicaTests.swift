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
}
