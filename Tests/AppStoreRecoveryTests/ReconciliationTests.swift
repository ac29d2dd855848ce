import AppStoreRecovery
import EntitlementDomain
import EntitlementStore
import RecoverySupport
import SQLiteStore
import StoreSimulator
import TestSupport
import Testing

/// R81.
@Suite("Missed notifications", .timeLimit(.minutes(5)))
struct ReconciliationTests {
  @Test func `all that did not arrive is stored, over many pages`() async throws {
    try await RecoveryBench.run { bench in
      try await bench.addFault(#"{"on":"notifications","kind":"lost"}"#)
      var chains: [String] = []
      for number in 0..<45 {
        chains.append(try await bench.buy(SimulatedApp.proMonthly, by: "customer\(number)"))
      }
      try await bench.advance(hours: 1)
      try await bench.recovering { try await $0.reconciliation()?.state == .done }
      let job = try #require(try await bench.reconciliation())
      #expect(job.progress.payloads == 45 && job.progress.added == 45)
      // Three pages. The first reading is longer than Apple repeats, so nothing is before it.
      #expect(job.progress.calls == 3)
      #expect(job.completeUntil == bench.now)
      for chain in chains {
        #expect(try await bench.state(of: chain).groups.first?.standing.status == .active)
      }
    }
  }

  @Test func `the next reading begins an hour before the end of the last one`() async throws {
    try await RecoveryBench.run { bench in
      try await bench.recovering { try await $0.reconciliation()?.state == .done }
      let first = try #require(try await bench.reconciliation())
      try await bench.addFault(#"{"on":"notifications","kind":"lost"}"#)
      _ = try await bench.buy(SimulatedApp.proMonthly, by: "anna")
      try await bench.advance(hours: 2)
      try await bench.recovering { bench in
        guard let job = try await bench.reconciliation() else { return false }
        return job.state == .done && job.opening > first.opening
      }
      let second = try #require(try await bench.reconciliation())
      #expect(second.since == first.completeUntil?.advanced(by: -Milliseconds.hourLength))
      #expect(second.progress.added == 1)
      // The second pass asks for older failures.
      #expect(second.progress.calls == 2)
    }
  }

  @Test func `older ones that could not be delivered are found`() async throws {
    // In Production the App Store repeats for days.
    try await RecoveryBench.run(environment: .production) { bench in
      bench.setDeaf(true)
      _ = try await bench.buy(SimulatedApp.tokens, by: "anna")
      try await bench.advance(hours: 30)
      let now = bench.now
      _ = try await bench.store.change(
        AppStoreJobRequest(
          .open(
            AppStoreJobKey(bench.scope, .reconciliation),
            since: now.advanced(by: -Milliseconds.hourLength)),
          at: 0))
      try await bench.recovering { try await $0.reconciliation()?.state == .done }
      let job = try #require(try await bench.reconciliation())
      #expect(job.progress.added == 1 && job.progress.calls == 2)
    }
  }

  @Test func `what arrived is known, and what others sign is refused`() async throws {
    try await RecoveryBench.run(population: 12) { bench in
      try await bench.advance(hours: 1)
      _ = try await bench.store.change(
        AppStoreJobRequest(
          .open(
            AppStoreJobKey(bench.scope, .reconciliation),
            since: RecoveryBench.start.advanced(
              by: -20 * Milliseconds.dayLength)),
          at: 0))
      try await bench.recovering { try await $0.reconciliation()?.state == .done }
      let job = try #require(try await bench.reconciliation())
      #expect(job.progress.payloads > 0 && job.progress.added == 0 && job.progress.refused == 0)
    }
  }

  @Test func `an interrupted reading goes on where it was`() async throws {
    try await RecoveryBench.run { bench in
      try await bench.addFault(#"{"on":"notifications","kind":"lost"}"#)
      for number in 0..<45 {
        _ = try await bench.buy(SimulatedApp.tokens, by: "customer\(number)")
      }
      try await bench.advance(hours: 1)
      try await bench.addFault(
        #"{"on":"api","kind":"error","errorCode":5000001,"probability":0.8}"#)
      try await bench.recovering { try await ($0.reconciliation()?.progress.calls ?? 0) >= 1 }
      try await bench.clearFaults()
      try await bench.recovering { try await $0.reconciliation()?.state == .done }
      let job = try #require(try await bench.reconciliation())
      #expect(job.progress.added == 45 && job.progress.calls == 3)
    }
  }
}

@Suite("When missed notifications are asked for")
struct ReconciliationScheduleTests {
  private static let key = AppStoreJobKey(
    AppScope(bundleID: "com.example.scribe", environment: .production), .reconciliation)

  private func job(_ change: (inout AppStoreJob) -> Void) -> AppStoreJob {
    var job = AppStoreJob(key: Self.key, since: 0, openedAt: 1_000, dueAt: 1_000)
    job.state = .done
    job.changedAt = 1_000
    change(&job)
    return job
  }

  private static let now = Milliseconds(1_000_000_000_000)
  private static let hour = Milliseconds.hourLength

  private func since(
    _ job: AppStoreJob?, isFirst: Bool = false, jobsNow: Milliseconds = Self.now
  ) -> Milliseconds? {
    var schedule = ReconciliationSchedule(limits: RecoveryLimits())
    if !isFirst { schedule.scheduled(Self.key) }
    return schedule.since(job, of: Self.key, now: Self.now, jobsNow: jobsNow)
  }

  @Test func `R81: the first reading, the next hour, an absence, and what ended badly`() {
    let everything = Self.now.advanced(by: -180 * 24 * Self.hour)
    #expect(since(nil) == everything)
    // A clock was wrong.
    #expect(since(job { $0.completeUntil = Self.now.advanced(by: Self.hour) }) == nil)
    #expect(since(job { $0.completeUntil = Self.now.advanced(by: Self.hour + 1) }) == everything)
    #expect(since(job { $0.state = .open }) == nil)
    let complete = Self.now.advanced(by: -Self.hour)
    #expect(since(job { $0.completeUntil = complete }) == complete.advanced(by: -Self.hour))
    #expect(since(job { $0.completeUntil = complete.advanced(by: 1) }) == nil)
    let recent = Self.now.advanced(by: -5 * 60_000)
    #expect(since(job { $0.completeUntil = recent }) == nil)
    #expect(
      since(job { $0.completeUntil = recent }, isFirst: true) == recent.advanced(by: -Self.hour))
    #expect(since(job { $0.completeUntil = recent.advanced(by: 1) }, isFirst: true) == nil)
    for state in [AppStoreJob.State.givenUp, .cancelled] {
      let ended = job {
        $0.state = state
        $0.changedAt = Self.now.advanced(by: 1 - Self.hour)
      }
      #expect(since(ended) == nil)
      #expect(since(ended, jobsNow: Self.now.advanced(by: 1)) != nil)
    }
  }

  @Test func `R80: waits double, and an outage of a day is survived`() {
    let limits = RecoveryLimits()
    func seconds(_ failures: Int, jitter: Double = 0.5) -> Double {
      limits.backoff(afterFailures: failures, jitter: jitter) / Duration.seconds(1)
    }
    #expect([1, 2, 3, 10].map { seconds($0) } == [30, 60, 120, 15_360])
    #expect([11, 12, 1_000_000].map { seconds($0) } == [21_600, 21_600, 21_600])
    #expect(seconds(1, jitter: 0) == 22.5 && seconds(1, jitter: 1) == 37.5)
    let total = (1..<limits.failures).map { seconds($0, jitter: 0) }.reduce(0, +)
    #expect(total >= 28 * 3_600)
    #expect((1..<limits.failures).map { seconds($0) }.reduce(0, +) >= 38 * 3_600)
  }
}
