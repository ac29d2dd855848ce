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
      #expect(try await fetcher.fetch(.transaction(TransactionID(id)), in: bench.scope))
      let record = try await bench.store.customer(selector(id), in: bench.scope).record
      let app = record.facts.lazy.compactMap { fact -> AppTransactionID? in
        if case .transaction(let transaction) = fact { transaction.appTransactionID } else { nil }
      }.first
      if let app {
        #expect(try await fetcher.fetch(.appTransaction(app), in: bench.scope))
      }
      // An account's own id is none of Apple's.
      #expect(try await fetcher.fetch(.account("anna"), in: bench.scope) == false)
    }
  }

  @Test func `a hundred callers share one fetch`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.addFault(#"{"on":"api","kind":"slow","delayMs":500,"count":1}"#)
      let fetcher = bench.fetcher()
      let selector = selector(id)
      let found = try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<100 {
          group.addTask { try await fetcher.fetch(selector, in: bench.scope) }
        }
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
      try await bench.addFault(#"{"on":"api","kind":"slow","delayMs":500,"count":1}"#)
      let fetcher = bench.fetcher()
      let selector = selector(id)
      let gone = Task { _ = try? await fetcher.fetch(selector, in: bench.scope) }
      while value("fetches.in_flight", of: fetcher) != 1 { await Task.yield() }
      gone.cancel()
      await gone.value
      #expect(value("fetches.waiting", of: fetcher) == 0)
      try await eventually { try await bench.revision(of: id) > 0 }
      #expect(value("fetches.outcomes.fetched", of: fetcher) ?? 0 <= 1)
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

  @Test func `a history that is too long is fetched by a job`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.advance(days: 31 * 25)
      var limits = FetchLimits()
      limits.pages = 1
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
