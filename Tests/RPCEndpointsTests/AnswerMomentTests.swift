import EntitlementDomain
import EntitlementService
import RPCClient
import ServiceSupport
import StoreSimulator
import Testing
import TestSupport
import Wire

@Suite("The moment of an answer")
struct AnswerMomentTests {
  private let later = ServiceBench.now.advanced(by: 3_600_000)

  /// Reads a state, which must have this moment.
  private func state(
    _ bench: ServiceBench, _ account: AccountID, _ consistency: ReadConsistency = .minimizeLatency,
    at moment: Milliseconds? = nil
  ) async throws -> CustomerState? {
    let answer = try await bench.client.customerState(
      GetCustomerStateRequest(
        customer: .account(account), scope: ServiceBench.scope, consistency: consistency,
        at: moment))
    guard case .state(let state) = answer else { return nil }
    return state
  }

  private func hits(_ bench: ServiceBench) async throws -> Int64? {
    try await bench.client.statistics().counters.first { $0.name == "cache.hits" }?.value
  }

  @Test(
    "A cached answer has the moment of the call, and is otherwise the same",
    arguments: [LifeCycle.renewals, .nonConsumable])
  func cached(lifeCycle: LifeCycle) async throws {
    try await ServiceBench.run { bench async throws in
      let account = try await bench.submit(lifeCycle)
      let first = try #require(try await state(bench, account))
      #expect(first.evaluatedAt == ServiceBench.now)
      // Following the submission drops the answer once more. Then a read caches it.
      try await eventually {
        bench.watermark.isCurrent && bench.watermark.position >= first.revision
      }
      try await eventually {
        let before = try await self.hits(bench)
        _ = try await state(bench, account)
        return try await self.hits(bench) != before
      }
      let hits = try #require(try await hits(bench))
      bench.time.set(later)
      // The usual form of a request, and one that the general path answers from the cache.
      for consistency in [ReadConsistency.minimizeLatency, .atLeastAsFresh(revision: 1)] {
        var second = try #require(try await state(bench, account, consistency))
        #expect(second.evaluatedAt == later)
        second.evaluatedAt = first.evaluatedAt
        #expect(second == first)
      }
      #expect(try await self.hits(bench) == hits + 2)
      // The clock went back: the moment does not.
      bench.time.set(ServiceBench.now.advanced(by: -1))
      #expect(try await state(bench, account) == first)
    }
  }

  @Test("All calls that read a state from the cache tell the same moment")
  func everyCall() async throws {
    try await ServiceBench.run { bench async throws in
      let account = try await bench.submit(.renewals)
      let first = try #require(try await state(bench, account))
      bench.time.set(later)
      let batch = try await bench.client.customerStates(
        BatchGetCustomerStateRequest(
          customers: [.account(account), .account("nobody"), .account(account)],
          scope: ServiceBench.scope))
      for result in batch.results {
        guard case .state(let state) = result else {
          Issue.record("a batch answers states")
          continue
        }
        #expect(state.evaluatedAt == later)
      }
      var watched = 0
      let watch = try bench.client.watchCustomerStates(
        WatchCustomerStatesRequest(cursor: WatchCustomerStatesRequest.beginning))
      for try await item in watch {
        guard let state = item.change?.state else { continue }
        #expect(state.evaluatedAt == later)
        #expect(state.nextTransitionAt == first.nextTransitionAt)
        watched += 1
        break
      }
      #expect(watched == 1)
      let revision = first.revision
      #expect(
        try await bench.state(of: .account(account), ifRevisionDiffers: revision)
          == .notModified(revision: revision))
    }
  }

  @Test("A state of another moment, and one beyond the next transition, are computed anew (R30)")
  func computed() async throws {
    try await ServiceBench.run { bench async throws in
      let account = try await bench.submit(.renewals)
      let first = try #require(try await state(bench, account))
      #expect(try await state(bench, account, at: 7)?.evaluatedAt == 7)
      let end = try #require(first.nextTransitionAt)
      bench.time.set(end)
      let after = try #require(try await state(bench, account))
      #expect(after.evaluatedAt == end)
      #expect(after.nextTransitionAt != end)
    }
  }

  @Test("A clock before 1971 or after 2109 is told too", arguments: [0, 1 << 42, 1 << 35 - 1])
  func unusual(moment: Int64) async throws {
    try await ServiceBench.run { bench async throws in
      bench.time.set(Milliseconds(moment))
      #expect(try await state(bench, "nobody")?.evaluatedAt == Milliseconds(moment))
      bench.time.set(Milliseconds(moment + 1))
      #expect(try await state(bench, "nobody")?.evaluatedAt == Milliseconds(moment + 1))
    }
  }
}
