import EntitlementDomain
import EntitlementService
import Foundation
import MetricsExposition
import RPCClient
import ServiceMetrics
import TestSupport
import Testing
import Wire

/// Several nodes on one database: a write on one is visible on every other, as each consistency
/// mode promises.
@Suite(
  "Three servers on one PostgreSQL", .serialized, .timeLimit(.minutes(5)),
  .enabled(if: EphemeralPostgres.isAvailable, "no PostgreSQL server on this machine"))
struct NodesTests {
  private static let others = [1, 2]

  @Test func `what one wrote the others read at once, AT_LEAST_AS_FRESH and FULLY_CONSISTENT`()
    async throws
  {
    let nodes = try await NodesBench.start(on: try EphemeralPostgres.shared)
    for customer in nodes.customers {
      for step in customer.steps.indices {
        let revision = try await nodes.write(step, of: customer, at: 0)
        for server in Self.others {
          // Read both before and after the announcement can have arrived.
          let fresh = try await nodes.revision(
            of: customer, at: server, .atLeastAsFresh(revision: revision))
          #expect(fresh >= revision, "\(customer.accountID), server \(server)")
          let consistent = try await nodes.revision(of: customer, at: server, .fullyConsistent)
          #expect(consistent == revision, "\(customer.accountID), server \(server)")
        }
      }
    }
    await nodes.close()
  }

  @Test func `every counter of a server on PostgreSQL has its metric`() async throws {
    let nodes = try await NodesBench.start(on: try EphemeralPostgres.shared)
    let values = try await nodes.clients[0].statistics().counters.map {
      StatisticValue($0.name, $0.value)
    }
    let (families, unknown) = StatisticMapping().families(of: values)
    #expect(unknown == [])
    let connections = families.first { $0.name == "entitle_store_connections_limit" }
    #expect(connections?.samples.map(\.labels.first?.value) == ["read", "write"])
    await nodes.close()
  }

  @Test func `answers that the others hold become new by the announcement`() async throws {
    let nodes = try await NodesBench.start(on: try EphemeralPostgres.shared)
    var times: [Duration] = []
    for customer in nodes.customers {
      let first = try await nodes.write(0, of: customer, at: 0)
      for server in Self.others {
        // The second read is usually cached.
        for _ in 0..<2 { _ = try await nodes.becomes(first, of: customer, at: server) }
      }
      let second = try await nodes.write(1, of: customer, at: 0)
      for server in Self.others {
        times.append(try await nodes.becomes(second, of: customer, at: server))
      }
    }
    times.sort()
    print(
      "answers became new after \(times[times.count / 2]), at most \(times[times.count - 1])")
    for server in Self.others {
      let hits = try await nodes.counter("cache.hits", at: server)
      #expect(hits > 0, "server \(server) held nothing")
      // Without announcements, the polls would have found all changes.
      let recovered = try await nodes.counter("follower.recovered", at: server)
      #expect(recovered < nodes.customers.count, "server \(server) got no announcements")
    }
    await nodes.close()
  }

  @Test func `answers that the others hold become new although announcements are lost`()
    async throws
  {
    let nodes = try await NodesBench.start(on: try EphemeralPostgres.shared)
    for customer in nodes.customers.prefix(5) {
      let first = try await nodes.write(0, of: customer, at: 0)
      for server in Self.others { _ = try await nodes.becomes(first, of: customer, at: server) }
      let ended = try nodes.endListeners()
      let second = try await nodes.write(1, of: customer, at: 0)
      for server in Self.others {
        let time = try await nodes.becomes(second, of: customer, at: server)
        print("\(ended) listeners ended; server \(server) is new after \(time)")
        // Well before it is stale.
        #expect(time < NodesBench.staleness / 2)
      }
    }
    await nodes.close()
  }

  @Test func `a commit that nobody announces at all is found by looking`() async throws {
    let nodes = try await NodesBench.start(on: try EphemeralPostgres.shared)
    for customer in nodes.customers.prefix(5) {
      let first = try await nodes.write(0, of: customer, at: 0)
      for server in Self.others { _ = try await nodes.becomes(first, of: customer, at: server) }
      let silent = try nodes.changeSilently(customer)
      for server in 0..<3 {
        let time = try await nodes.becomes(silent, of: customer, at: server)
        print("not announced; server \(server) is new after \(time)")
        // Well before it is stale.
        #expect(time < NodesBench.staleness / 2)
      }
    }
    for server in Self.others {
      #expect(try await nodes.counter("follower.recovered", at: server) > 0)
    }
    await nodes.close()
  }

  @Test func `when one is killed, the others serve and lack nothing`() async throws {
    let nodes = try await NodesBench.start(on: try EphemeralPostgres.shared)
    var revisions: [Int64] = []
    for customer in nodes.customers {
      revisions.append(try await nodes.write(0, of: customer, at: 0))
    }
    nodes.servers[0].signal(SIGKILL)
    #expect(try await nodes.servers[0].exit() == .signal(SIGKILL))
    for (customer, revision) in zip(nodes.customers, revisions) {
      for server in Self.others {
        #expect(
          try await nodes.revision(of: customer, at: server, .fullyConsistent) == revision)
      }
      let next = try await nodes.write(1, of: customer, at: 1)
      #expect(
        try await nodes.revision(of: customer, at: 2, .atLeastAsFresh(revision: next)) >= next)
    }
    await nodes.close()
  }

  @Test func `a replica that has stopped replaying is passed over for what is newer`() async throws
  {
    let primary = try EphemeralPostgres.start()
    let standby = try primary.makeStandby()
    let nodes = try await NodesBench.start(on: primary, standby: standby)
    let customers = nodes.customers
    // The replica is used while it keeps up.
    for customer in customers {
      let revision = try await nodes.write(0, of: customer, at: 0)
      _ = try await nodes.becomes(revision, of: customer, at: 2)
    }
    try await nodes.awaitReplicaReads(of: customers, at: 2)

    try standby.execute("SELECT pg_wal_replay_pause()")
    while try standby.execute("SELECT pg_get_wal_replay_pause_state()") != "paused" {}
    for customer in customers {
      let revision = try await nodes.write(1, of: customer, at: 0)
      let fresh = try await nodes.revision(
        of: customer, at: 2, .atLeastAsFresh(revision: revision))
      #expect(fresh >= revision, "\(customer.accountID)")
      #expect(try await nodes.revision(of: customer, at: 2, .fullyConsistent) == revision)
      _ = try await nodes.becomes(revision, of: customer, at: 2)
    }
    #expect(try await nodes.counter("store.passed_replicas", at: 2) > 0)

    try standby.execute("SELECT pg_wal_replay_resume()")
    try await nodes.awaitReplicaReads(of: customers, at: 2)
    await nodes.close()
  }
}
