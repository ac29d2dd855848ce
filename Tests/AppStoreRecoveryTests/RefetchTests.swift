import AppStoreRecovery
import EntitlementDomain
import EntitlementStore
import RecoverySupport
import SQLiteStore
import StoreSimulator
import TestSupport
import Testing

/// R79, R80.
@Suite("Refetches", .timeLimit(.minutes(5)))
struct RefetchTests {
  /// Anna's purchase and renewal were lost; the refund of her first period is the first thing heard.
  private func hearRefund(_ bench: RecoveryBench) async throws -> String {
    try await bench.addFault(#"{"on":"notifications","kind":"lost","count":2}"#)
    let chain = try await bench.buy(SimulatedApp.proMonthly, by: "anna")
    try await bench.advance(days: 32)
    #expect(try await bench.job(of: chain) == nil)
    try await bench.act("refund", "{\"transactionId\":\"\(chain)\"}")
    let job = try #require(try await bench.job(of: chain))
    #expect(job.state == .open && job.reasons == [.statusMismatch])
    #expect(try await bench.state(of: chain).coreState == .inactive)
    return chain
  }

  @Test func `what is missing is fetched, and the reason is gone`() async throws {
    try await RecoveryBench.run { bench in
      let chain = try await hearRefund(bench)
      bench.passJobTime()
      try await bench.recovering { try await $0.job(of: chain)?.state == .done }
      #expect(try await bench.state(of: chain).groups.first?.standing.status == .active)
      let job = try #require(try await bench.job(of: chain))
      // Statuses, history and refunds, a call each.
      #expect(job.progress.calls == 3)
      #expect(job.progress.refused == 0 && job.progress.added > 0)
      #expect(job.lastFailure == "" && job.lease == nil)
    }
  }

  @Test func `it waits for what is on its way`() async throws {
    try await RecoveryBench.run { bench in
      let chain = try await hearRefund(bench)
      let opened = try #require(try await bench.job(of: chain))
      #expect(opened.dueAt == opened.openedAt.advanced(by: 10_000))
      bench.stopJobTime(at: opened.dueAt.advanced(by: -1))
      // Another job, which is due, is done meanwhile.
      try await bench.recovering { try await $0.reconciliation()?.state == .done }
      #expect(try await bench.job(of: chain)?.state == .open)
    }
  }

  @Test func `a later refetch asks for what is new`() async throws {
    try await RecoveryBench.run { bench in
      let chain = try await hearRefund(bench)
      bench.passJobTime()
      try await bench.recovering { try await $0.job(of: chain)?.state == .done }
      let first = try #require(try await bench.job(of: chain))
      try await bench.addFault(#"{"on":"notifications","kind":"lost","count":1}"#)
      try await bench.advance(days: 31)
      _ = try await bench.store.change(
        AppStoreJobRequest(.open(first.key, since: nil), at: first.changedAt))
      bench.passJobTime()
      try await bench.recovering { try await $0.job(of: chain)?.state == .done }
      let second = try #require(try await bench.job(of: chain))
      #expect(second.opening == first.opening + 1)
      // The statuses' two payloads and the renewal that was lost.
      #expect(second.progress.payloads == 3)
      #expect(second.progress.added > 0)
    }
  }

  @Test func `what fails is tried again until the App Store answers`() async throws {
    try await RecoveryBench.run { bench in
      let chain = try await hearRefund(bench)
      try await bench.addFault(#"{"on":"api","kind":"error","errorCode":5000000}"#)
      bench.passJobTime()
      try await bench.recovering { try await ($0.job(of: chain)?.failures ?? 0) >= 2 }
      let job = try #require(try await bench.job(of: chain))
      #expect(job.state == .open && job.lease == nil)
      #expect(job.lastFailure.hasPrefix("refused: "), "\(job.lastFailure)")
      #expect(job.lastFailure.contains("5000000"), "\(job.lastFailure)")
      try await bench.clearFaults()
      try await bench.recovering { try await $0.job(of: chain)?.state == .done }
      #expect(try await bench.job(of: chain)?.lastFailure == "")
    }
  }

  @Test func `a job that fails too often is given up, and the feed tells it`() async throws {
    try await RecoveryBench.run { bench in
      let chain = try await hearRefund(bench)
      try await bench.addFault(#"{"on":"api","kind":"error","errorCode":5000000}"#)
      bench.passJobTime()
      try await bench.recovering { try await $0.job(of: chain)?.state == .givenUp }
      let job = try #require(try await bench.job(of: chain))
      // The last failure is no waiting one.
      #expect(job.failures == RecoveryLimits().failures - 1)
      let events = try await bench.store.changes(after: 0, limit: 1_000).flatMap(\.events)
      // The app's reconciliation fails too, and may be given up before.
      let event = try #require(
        events.first { $0.kind == .jobGivenUp && $0.originalTransactionID != nil })
      #expect(event.originalTransactionID == OriginalTransactionID(chain))
      #expect(event.detail == job.lastFailure)
    }
  }

  @Test func `a chain that the App Store does not know is given up sooner`() async throws {
    try await RecoveryBench.run { bench in
      let chain = try await hearRefund(bench)
      try await bench.addFault(#"{"on":"api","kind":"wrong-environment"}"#)
      bench.passJobTime()
      try await bench.recovering { try await $0.job(of: chain)?.state == .givenUp }
      let job = try #require(try await bench.job(of: chain))
      #expect(job.unexplained == RecoveryLimits().unexplainedWaits.count && job.failures == 0)
      #expect(job.lastFailure.contains("4040010"), "\(job.lastFailure)")
    }
  }

  @Test func `what the answers do not explain is given up, and told all again when retried`()
    async throws
  {
    try await RecoveryBench.run { bench in
      let chain = try await hearRefund(bench)
      // For the App Store her subscription has ended meanwhile.
      try await bench.act("cancel", #"{"customer":"anna"}"#)
      try await bench.addFault(#"{"on":"notifications","kind":"lost"}"#)
      _ = try await bench.act("clock", "{\"advanceMs\":\(32 * Milliseconds.dayLength)}")
      bench.passJobTime()
      try await bench.recovering { try await $0.job(of: chain)?.state == .givenUp }
      let job = try #require(try await bench.job(of: chain))
      #expect(job.lastFailure == "the App Store's answers do not explain STATUS_MISMATCH")
      #expect(job.cursor == "")
      try await bench.advance(hours: 1)
      _ = try await bench.store.change(
        AppStoreJobRequest(.retry(.key(job.key)), at: job.changedAt))
      try await bench.recovering { try await $0.job(of: chain)?.state == .done }
      // The statuses' two payloads, two periods, a refund.
      #expect(try await bench.job(of: chain)?.progress.payloads == 5)
    }
  }

  @Test func `an attempt with pages advances, and what it left is done by the next one`()
    async throws
  {
    try await RecoveryBench.run { bench in
      for _ in 0..<45 { _ = try await bench.buy(SimulatedApp.tokens, by: "anna") }
      let chain = try await hearRefund(bench)
      try await bench.addFault(
        #"{"on":"api","kind":"error","errorCode":5000001,"path":"/inApps/v2/refund"}"#)
      bench.passJobTime()
      try await bench.recovering { try await ($0.job(of: chain)?.failures ?? 0) >= 2 }
      let job = try #require(try await bench.job(of: chain))
      // 45 purchases and two periods are three pages.
      #expect(job.progress.payloads >= 2 + 47)
      #expect(job.cursor.hasSuffix("\n") && job.cursor.count > 1)
      try await bench.clearFaults()
      try await bench.recovering { try await $0.job(of: chain)?.state == .done }
    }
  }

  @Test func `a key that the App Store does not take is waited for`() async throws {
    try await RecoveryBench.run { bench in
      let chain = try await hearRefund(bench)
      try await bench.addFault(#"{"on":"api","kind":"unauthorized"}"#)
      bench.passJobTime()
      try await bench.recovering { try await $0.job(of: chain)?.lastFailure.isEmpty == false }
      let job = try #require(try await bench.job(of: chain))
      #expect(job.lastFailure.hasPrefix("unauthorized: "), "\(job.lastFailure)")
      #expect(job.failures == 0 && job.unexplained == 0)
      #expect(job.dueAt >= job.changedAt.advanced(by: Milliseconds.hourLength))
    }
  }

  @Test func `a rate limit is waited for, and is no failure`() async throws {
    try await RecoveryBench.run { bench in
      let chain = try await hearRefund(bench)
      try await bench.addFault(#"{"on":"api","kind":"error","errorCode":4290000}"#)
      bench.passJobTime()
      try await bench.recovering { bench in
        guard let job = try await bench.job(of: chain) else { return false }
        return job.lease == nil && !job.lastFailure.isEmpty
      }
      let job = try #require(try await bench.job(of: chain))
      #expect(job.failures == 0 && job.unexplained == 0)
      #expect(job.lastFailure.hasPrefix("rateLimited: "), "\(job.lastFailure)")
      #expect(job.dueAt >= job.changedAt.advanced(by: 5_000))
    }
  }

  @Test func `a job of a killed process is done at once by its successor`() async throws {
    try await RecoveryBench.run { bench in
      let chain = try await hearRefund(bench)
      bench.passJobTime()
      let job = try #require(try await bench.job(of: chain))
      let leased = try await bench.store.leaseJobs(
        AppStoreJobLease(
          scopes: [bench.scope], now: job.dueAt,
          until: job.dueAt.advanced(by: Milliseconds.dayLength), lease: "ended", limit: 10))
      #expect(leased.map(\.key) == [job.key])
      try await bench.recovering { try await $0.job(of: chain)?.state == .done }
      // What a process leaves counts as a failure: it may have ended because of the job.
      #expect(try await bench.job(of: chain)?.failures == 1)
    }
  }

  @Test func `a cancelled job is not done`() async throws {
    try await RecoveryBench.run { bench in
      let chain = try await hearRefund(bench)
      let job = try #require(try await bench.job(of: chain))
      _ = try await bench.store.change(
        AppStoreJobRequest(.cancel(.key(job.key)), at: job.openedAt))
      bench.passJobTime()
      try await bench.recovering { try await $0.reconciliation()?.state == .done }
      #expect(try await bench.job(of: chain)?.state == .cancelled)
      #expect(try await bench.job(of: chain)?.progress == AppStoreJobProgress())
    }
  }
}
