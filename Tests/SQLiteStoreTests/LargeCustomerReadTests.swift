import Dispatch
import EntitlementDomain
import EntitlementStore
import SQLiteStore
import Synchronization
import TestSupport
import Testing
import Workers

/// More large customers than read connections are read, while the pool that decodes them is
/// occupied.
@Suite("Reads of large customers", .timeLimit(.minutes(5)))
struct LargeCustomerReadTests {
  private static let chains = EvaluationPool.factsInPlace + 100
  private static let readers = SQLiteStoreLimits().maximumReaders + 2

  /// Occupies the only thread of a pool until it is released.
  private final class Occupation: Sendable {
    let evaluations = EvaluationPool(width: 1)
    private let gate = DispatchSemaphore(value: 0)

    func begin() async throws {
      Task { [evaluations, gate] in
        try await evaluations.run(facts: EvaluationPool.factsInPlace + 1, of: .server) { _ in
          gate.wait()
        }
      }
      try await eventually { evaluations.statistics.running == 1 }
    }

    func end() { gate.signal() }
  }

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func fill(_ evaluations: EvaluationPool) async throws -> SQLiteStore {
    let store = try SQLiteStore.open(
      at: folder.file("entitle.sqlite"), evaluations: evaluations)
    for (account, count) in [("large", Self.chains), ("small", 2)] {
      let first = account == "large" ? 0 : Self.chains
      _ = try await store.commit(
        Submission(
          facts: (first..<first + count).map { testFact($0) }, accountID: AccountID(account),
          receivedAt: 3))
    }
    return store
  }

  @Test("Large customers are decoded on the pool; other reads do not wait for them")
  func othersGoOn() async throws {
    let occupation = Occupation()
    let store = try await fill(occupation.evaluations)
    try await occupation.begin()
    let large = (0..<Self.readers).map { _ in
      Task { try await store.customer(.account("large"), in: testScope) }
    }
    try await eventually { occupation.evaluations.statistics.queued == Self.readers }
    let small = try await store.customer(.account("small"), in: testScope)
    #expect(small.record.facts.count == 2)
    var lookups = ["large", "small"].map {
      CustomerLookup(.account($0), in: testScope, .primary)
    }
    for index in lookups.indices { lookups[index].mayLeaveOut = true }
    let batch = try await store.customers(lookups).map { try $0.get() }
    #expect(batch.map(\.isLeftOut) == [true, false])
    #expect(batch[1] == small)
    #expect(occupation.evaluations.statistics.queued == Self.readers)
    occupation.end()
    for read in large {
      let customer = try await read.value
      #expect(customer.record.facts.count == Self.chains)
      #expect(!customer.isLeftOut)
    }
    await store.close()
  }

  @Test("A large customer that no caller waits for is not decoded to its end")
  func cancelled() async throws {
    let occupation = Occupation()
    let store = try await fill(occupation.evaluations)
    // Asked by the pool before it begins, and then while facts are decoded.
    let asked = Atomic(0)
    let lookup = CustomerLookup(
      .account("large"), in: testScope, .primary,
      isCancelled: { asked.add(1, ordering: .relaxed).newValue > 2 })
    let result = await store.customers([lookup])[0]
    #expect(throws: StoreError.self) { try result.get() }
    #expect(asked.load(ordering: .relaxed) == 3)
    #expect(occupation.evaluations.statistics.queued == 0)
    let customer = try await store.customer(.account("large"), in: testScope)
    #expect(customer.record.facts.count == Self.chains)
    await store.close()
  }
}
