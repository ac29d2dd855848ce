import EntitlementDomain
import EntitlementStore
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("A server that restarts", .enabled(if: EphemeralPostgres.isAvailable))
struct ServerFaultTests {
  @Test(
    "Every acknowledged submission is stored once; the others failed as retryable",
    .timeLimit(.minutes(3)), arguments: [false, true])
  func restart(isKilled: Bool) async throws {
    let cluster = try EphemeralPostgres.start()
    let connection = try await cluster.makeMigratedDatabase()
    let store = try await TestDatabases.open(connection)
    let isOver = Flag()
    let answered = try await withThrowingTaskGroup(of: [String].self) { group in
      for worker in 0..<16 {
        group.addTask {
          var ids: [String] = []
          var number = 0
          while !isOver.isSet.load(ordering: .sequentiallyConsistent) {
            let id = "\(worker)-\(number)"
            do throws(StoreError) {
              let fact = try sample(id)
              _ = try await store.commit(
                StoreSample.submission([fact], by: AccountID("account-\(worker)")))
              ids.append(id)
              number += 1
            } catch {
              // Retried with the same fact, which may have been stored.
              #expect(error.code == .unavailable, "\(error)")
            }
          }
          return ids
        }
      }
      for _ in 0..<2 {
        let before = store.statistics.commits
        try await eventually { store.statistics.commits > before + 100 }
        if isKilled { try cluster.kill() } else { try cluster.stop(.fast) }
        try cluster.start()
      }
      let before = store.statistics.commits
      try await eventually { store.statistics.commits > before + 100 }
      isOver.isSet.store(true, ordering: .sequentiallyConsistent)
      return try await group.reduce(into: []) { $0 += $1 }
    }
    for worker in 0..<16 {
      let record = try await store.customer(
        .account(AccountID("account-\(worker)")), in: StoreSample.scope
      ).record
      let stored = record.facts.map(\.key.identifier)
      #expect(Set(stored).count == stored.count)
      #expect(Set(stored).isSuperset(of: answered.filter { $0.hasPrefix("\(worker)-") }))
    }
    let latest = try await store.changedCustomers(after: 0).latest
    let feed = try await store.feed(through: latest)
    #expect(feed.count { $0.kinds.contains(.facts) } >= answered.count)
    #expect(zip(feed, feed.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
    print(
      "\(answered.count) answered, \(store.statistics.retries) begun again, "
        + "\(store.statistics.resolvedCommits) outcomes found out")
    await store.close()
  }

  private final class Flag: Sendable {
    let isSet = Atomic(false)
  }

  @Test("A read-only server is unavailable")
  func readOnly() async throws {
    let connection = try await TestDatabases.make()
    let name = try EphemeralPostgres.databaseName(of: connection)
    let first = try await TestDatabases.open(connection)
    try await first.submit("1", "1", by: "alice")
    await first.close()
    try TestDatabases.cluster.get().execute(
      "ALTER DATABASE \(name) SET default_transaction_read_only = on")
    let failure = await #expect(throws: StoreError.self) {
      _ = try await TestDatabases.open(connection)
    }
    #expect(failure?.code == .unavailable)
  }

  @Test("A closed store refuses every call")
  func closed() async throws {
    let store = try await TestDatabases.open(try await TestDatabases.make())
    try await store.submit("1", "1", by: "alice")
    await store.close()
    let failure = await #expect(throws: StoreError.self) { try await store.submit("2", "2") }
    #expect(failure?.code == .closed)
    let refusal = await #expect(throws: StoreError.self) { try await store.feedEnd() }
    #expect(refusal?.code == .closed)
  }
}

/// A transaction whose chain has the same id.
private func sample(_ id: String) throws(StoreError) -> SignedFact {
  do {
    return try StoreSample.transaction(id, id)
  } catch {
    throw StoreError(.internalFault, "a sample cannot be made")
  }
}
