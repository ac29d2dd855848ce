import AppStoreOperations
import AppStoreRecovery
import AppStoreServerAPI
import EntitlementDomain
import EntitlementService
import EntitlementStore
import RecoverySupport
import SQLiteStore
import StoreSimulator
import Synchronization
import TestSupport
import Testing
import Verification
import Wire

/// R85.
@Suite("Reads that find nothing", .timeLimit(.minutes(5)))
struct FetchTests {
  private func selector(_ id: String) -> CustomerSelector {
    .originalTransaction(OriginalTransactionID(id))
  }

  /// A timer whose time a test sets.
  private final class SetTime: Sendable {
    private let seconds = Atomic<Int64>(0)

    func pass(_ seconds: Int64) { self.seconds.add(seconds, ordering: .relaxed) }

    var timer: ServiceTimer {
      ServiceTimer(
        nanoseconds: { self.seconds.load(ordering: .relaxed) * 1_000_000_000 },
        sleep: { _ in try await Task.sleep(for: .seconds(60)) })
    }
  }

  @Test func `an unknown customer is fetched whole, and linked to no account (R85)`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.advance(days: 31 * 25)
      #expect(try await bench.revision(of: id) == 0)
      let fetcher = bench.fetcher()
      #expect(try await fetcher.fetch(selector(id), in: bench.scope))
      #expect(try await bench.state(of: id).coreState == .active)
      let record = try await bench.store.customer(selector(id), in: bench.scope).record
      #expect(record.accountID == nil)
      // Two pages of history, and the statuses.
      #expect(bench.requests == 3)
      #expect(record.facts.count > 25)
    }
  }

  @Test func `any id of the customer finds it`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.advance(days: 32)
      let customers = try await bench.act("clock", #"{"advanceMs":0}"#)
      #expect(customers["isComplete"] as? Bool == true)
      let fetcher = bench.fetcher()
      let renewal = try await bench.renewal(of: id)
      #expect(try await fetcher.fetch(.transaction(renewal), in: bench.scope))
      let record = try await bench.store.customer(.transaction(renewal), in: bench.scope).record
      #expect(record.revision != 0)
      let app = try #require(
        record.facts.lazy.compactMap { fact -> AppTransactionID? in
          if case .transaction(let transaction) = fact { transaction.appTransactionID } else { nil }
        }.first)
      #expect(try await fetcher.fetch(.appTransaction(app), in: bench.scope))
      #expect(
        try await bench.store.customer(.appTransaction(app), in: bench.scope).record.revision != 0)
      // An account's own id is none of Apple's.
      #expect(try await fetcher.fetch(.account("anna"), in: bench.scope) == false)
    }
  }

  @Test func `an id of another kind is fetched once, and then refused for a minute (R85)`()
    async throws
  {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.advance(days: 32)
      let renewal = selector(try await bench.renewal(of: id).rawValue)
      let time = SetTime()
      let fetcher = bench.fetcher(timer: time.timer)
      let asked = bench.requests
      for _ in 0..<2 {
        await expectFailure(.invalidRequest) {
          _ = try await fetcher.fetch(renewal, in: bench.scope)
        }
        #expect(bench.requests == asked + 2)
      }
      // The customer is stored, and found by the ids that it has.
      #expect(try await bench.revision(of: id) > 0)
      #expect(value("fetches.negative_hits", of: fetcher) == 1)
      time.pass(60)
      await expectFailure(.invalidRequest) {
        _ = try await fetcher.fetch(renewal, in: bench.scope)
      }
      #expect(bench.requests == asked + 4)
    }
  }

  @Test func `an id that may be in the rest of a history is no id of another kind yet`()
    async throws
  {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.advance(days: 31 * 25)
      let renewal = selector(try await bench.renewal(of: id).rawValue)
      var limits = FetchLimits()
      limits.pages = 1
      let fetcher = bench.fetcher(limits)
      let asked = bench.requests
      for _ in 0..<2 {
        let error = await #expect(throws: ServiceError.self) {
          _ = try await fetcher.fetch(renewal, in: bench.scope)
        }
        #expect(error?.code == .unavailable)
        #expect(bench.requests == asked + 2)
      }
      #expect(try await bench.job(of: id)?.state == .open)
    }
  }

  @Test func `a customer without subscriptions is fetched`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard(SimulatedApp.adFree)
      #expect(try await bench.fetcher().fetch(selector(id), in: bench.scope))
      #expect(try await bench.revision(of: id) > 0)
    }
  }

  @Test("What Apple does not know after the first page is left to a job")
  func lateAbsence() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.addFault(
        #"{"on":"api","kind":"error","errorCode":4040010,"path":"/inApps/v1/subscriptions/"}"#)
      let fetcher = bench.fetcher()
      #expect(try await fetcher.fetch(selector(id), in: bench.scope))
      #expect(try await bench.revision(of: id) > 0)
      #expect(try await bench.job(of: id)?.state == .open)
      #expect(value("fetches.outcomes.fetched", of: fetcher) == 1)
    }
  }

  @Test(
    "What is no id, or none of a customer, is unknown",
    arguments: [4_000_006, 4_040_001, 4_040_005])
  func unknownIDs(code: Int) async throws {
    try await RecoveryBench.run { bench async throws in
      try await bench.addFault("{\"on\":\"api\",\"kind\":\"error\",\"errorCode\":\(code)}")
      let fetcher = bench.fetcher()
      for _ in 0..<2 {
        #expect(try await fetcher.fetch(selector("1"), in: bench.scope) == false)
      }
      #expect(bench.requests == 1)
    }
  }

  @Test func `a hundred callers share one fetch`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      let held = HeldStore(bench.store, at: .reading)
      let fetcher = bench.fetcher(store: held)
      let selector = selector(id)
      let found = try await withThrowingTaskGroup(of: Bool.self) { group in
        // Also when the wait fails, or the group would never end.
        defer { held.release() }
        for _ in 0..<100 {
          group.addTask { try await fetcher.fetch(selector, in: bench.scope) }
        }
        try await eventually { value("fetches.waiting", of: fetcher) == 100 }
        held.release()
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(found == 100)
      #expect(bench.requests == 2)
      #expect(value("fetches.outcomes.fetched", of: fetcher) == 1)
      #expect(value("fetches.waiting", of: fetcher) == 0)
    }
  }

  private func value(_ name: String, of fetcher: CustomerFetcher) -> Int64? {
    fetcher.values.first { $0.name == name }?.value
  }

  @Test func `what Apple does not know is not asked for again within a minute`() async throws {
    try await RecoveryBench.run { bench async throws in
      let time = SetTime()
      let fetcher = bench.fetcher(timer: time.timer)
      for _ in 0..<3 {
        #expect(try await fetcher.fetch(selector("987654321"), in: bench.scope) == false)
      }
      #expect(bench.requests == 1)
      #expect(value("fetches.negative_hits", of: fetcher) == 2)
      time.pass(59)
      #expect(try await fetcher.fetch(selector("987654321"), in: bench.scope) == false)
      #expect(bench.requests == 1)
      time.pass(1)
      #expect(try await fetcher.fetch(selector("987654321"), in: bench.scope) == false)
      #expect(bench.requests == 2)
    }
  }

  @Test func `the oldest absence is forgotten first`() async throws {
    try await RecoveryBench.run { bench async throws in
      var limits = FetchLimits()
      limits.absences = 2
      let fetcher = bench.fetcher(limits)
      for id in ["1", "2", "3", "2", "3"] {
        #expect(try await fetcher.fetch(selector(id), in: bench.scope) == false)
      }
      #expect(bench.requests == 3)
      _ = try await fetcher.fetch(selector("1"), in: bench.scope)
      #expect(bench.requests == 4)
    }
  }

  @Test func `errors are told, and not remembered`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      let fetcher = bench.fetcher()
      try await bench.addFault(#"{"on":"api","kind":"error","errorCode":5000000}"#)
      await expectFailure(.unavailable, code: 5_000_000) {
        _ = try await fetcher.fetch(selector(id), in: bench.scope)
      }
      try await bench.clearFaults()
      try await bench.addFault(#"{"on":"api","kind":"unauthorized"}"#)
      await expectFailure(.keyRefused) {
        _ = try await fetcher.fetch(selector(id), in: bench.scope)
      }
      try await bench.clearFaults()
      #expect(try await fetcher.fetch(selector(id), in: bench.scope))
      #expect(value("fetches.outcomes.failed", of: fetcher) == 2)
    }
  }

  @Test func `a caller that is gone does not end the fetch of the others`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      let held = HeldStore(bench.store, at: .reading)
      defer { held.release() }
      let fetcher = bench.fetcher(store: held)
      let selector = selector(id)
      let gone = Task { try? await fetcher.fetch(selector, in: bench.scope) }
      try await eventually { value("fetches.waiting", of: fetcher) == 1 }
      let other = Task { try? await fetcher.fetch(selector, in: bench.scope) }
      try await eventually { value("fetches.waiting", of: fetcher) == 2 }
      gone.cancel()
      #expect(await gone.value == nil)
      #expect(value("fetches.waiting", of: fetcher) == 1)
      #expect(value("fetches.in_flight", of: fetcher) == 1)
      held.release()
      #expect(await other.value == true)
      #expect(value("fetches.outcomes.fetched", of: fetcher) == 1)
      #expect(bench.requests == 2)
    }
  }

  @Test func `a fetch without callers is still in flight, and may be joined`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      let held = HeldStore(bench.store, at: .reading)
      defer { held.release() }
      let fetcher = bench.fetcher(store: held)
      let selector = selector(id)
      let gone = Task { try? await fetcher.fetch(selector, in: bench.scope) }
      try await eventually { held.held == 1 }
      gone.cancel()
      #expect(await gone.value == nil)
      #expect(value("fetches.waiting", of: fetcher) == 0)
      #expect(value("fetches.in_flight", of: fetcher) == 1)
      let other = Task { try? await fetcher.fetch(selector, in: bench.scope) }
      try await eventually { value("fetches.waiting", of: fetcher) == 1 }
      held.release()
      #expect(await other.value == true)
      #expect(bench.requests == 2)
    }
  }

  @Test func `more than the limits are shed`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      for change: (inout FetchLimits) -> Void in [{ $0.fetches = 0 }, { $0.callers = 0 }] {
        var limits = FetchLimits()
        change(&limits)
        let fetcher = bench.fetcher(limits)
        await expectFailure(.busy) { _ = try await fetcher.fetch(selector(id), in: bench.scope) }
        #expect(value("fetches.outcomes.shed", of: fetcher) == 1)
      }
      #expect(bench.requests == 0)
    }
  }

  @Test("A history that is too long is fetched by a job", arguments: ["pages", "bytes"])
  func longHistory(limit: String) async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.advance(days: 31 * 25)
      var limits = FetchLimits()
      if limit == "pages" { limits.pages = 1 } else { limits.bytes = 1 }
      #expect(try await bench.fetcher(limits).fetch(selector(id), in: bench.scope))
      // What is current is known at once.
      #expect(try await bench.state(of: id).coreState == .active)
      #expect(try await bench.job(of: id)?.state == .open)
      bench.passJobTime()
      try await bench.recovering { try await $0.job(of: id)?.state == .done }
      let record = try await bench.store.customer(selector(id), in: bench.scope).record
      #expect(record.facts.count > 25)
    }
  }

  @Test func `payloads that are refused are no unknown customer`() async throws {
    try await RecoveryBench.run(isTrusting: false) { bench async throws in
      let id = try await bench.buyUnheard()
      let error = await #expect(throws: ServiceError.self) {
        _ = try await bench.fetcher().fetch(selector(id), in: bench.scope)
      }
      #expect(error?.code == .unavailable)
      #expect(error?.message.contains("UNTRUSTED_CHAIN") == true)
    }
  }

  @Test func `an app without a key is refused`() async throws {
    try await RecoveryBench.run { bench async throws in
      let other = AppScope(bundleID: "com.example.other", environment: .sandbox)
      let error = await #expect(throws: ServiceError.self) {
        _ = try await bench.fetcher().fetch(selector("1"), in: other)
      }
      #expect(error?.code == .failedPrecondition)
    }
  }
}
