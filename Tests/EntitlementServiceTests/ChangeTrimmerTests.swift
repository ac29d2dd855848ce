import EntitlementDomain
import EntitlementService
import EntitlementStore
import Logging
import SQLiteStore
import Testing

@Suite("Trimming the change feed", .timeLimit(.minutes(1)))
struct ChangeTrimmerTests {
  private func grant(_ bench: ServiceBench) async throws -> Int64 {
    try await bench.grants.add(
      GrantRequest(
        scope: ServiceBench.scope, accountID: "anna", entitlementID: "pro", reason: "r",
        onBehalfOf: "a")
    ).customer.revision
  }

  @Test("Changes older than the retention are deleted at each run; the others stay")
  func retention() async throws {
    try await ServiceBench.run { bench async throws in
      let timer = MovableTimer()
      let trimmer = ChangeTrimmer(
        store: bench.store, retention: .seconds(86_400), clock: bench.clock.clock,
        timer: timer.timer, logger: bench.log.logger)
      _ = try await grant(bench)
      let later = ServiceBench.now.advanced(by: Milliseconds.dayLength + 1)
      bench.clock.set(later)
      let kept = try await grant(bench)
      let task = Task { await trimmer.run() }
      await timer.sleepersBegun(1)
      #expect(try await bench.store.changes(after: 0, limit: 10).map(\.sequence) == [kept])
      #expect(trimmer.values.map(\.value) == [1])

      bench.clock.set(later.advanced(by: Milliseconds.dayLength + 1))
      timer.advance(by: .milliseconds(Milliseconds.dayLength + 1))
      await timer.sleepersBegun(1)
      #expect(try await bench.store.changes(after: 0, limit: 10).isEmpty)
      #expect(trimmer.values.map(\.value) == [2])
      task.cancel()
      await task.value
    }
  }

  @Test("A change of a clock that was ahead does not block trimming for ever")
  func clockAhead() async throws {
    try await ServiceBench.run { bench async throws in
      let timer = MovableTimer()
      let trimmer = ChangeTrimmer(
        store: bench.store, retention: .seconds(86_400), clock: bench.clock.clock,
        timer: timer.timer, logger: bench.log.logger)
      bench.clock.set(ServiceBench.now.advanced(by: 4_000 * Milliseconds.dayLength))
      _ = try await grant(bench)
      bench.clock.set(ServiceBench.now)
      _ = try await grant(bench)
      let task = Task { await trimmer.run() }
      await timer.sleepersBegun(1)
      #expect(try await bench.store.changes(after: 0, limit: 10).count == 2)
      bench.clock.set(ServiceBench.now.advanced(by: Milliseconds.dayLength + 1))
      timer.advance(by: .milliseconds(Milliseconds.dayLength + 1))
      await timer.sleepersBegun(1)
      #expect(try await bench.store.changes(after: 0, limit: 10).isEmpty)
      task.cancel()
      await task.value
    }
  }

  @Test("A clock that is 31 days ahead deletes nothing, and is an error in the log once a day")
  func clockJumped() async throws {
    try await ServiceBench.run { bench async throws in
      let timer = MovableTimer()
      let trimmer = ChangeTrimmer(
        store: bench.store, retention: .seconds(30 * 86_400), clock: bench.clock.clock,
        timer: timer.timer, logger: bench.log.logger)
      for _ in 1...20 { _ = try await grant(bench) }
      let ahead = ServiceBench.now.advanced(by: 31 * Milliseconds.dayLength)
      bench.clock.set(ahead)
      let task = Task { await trimmer.run() }
      await timer.sleepersBegun(1)
      func errors() -> Int { bench.log.lines(at: .error).count }
      #expect(try await bench.store.changes(after: 0, limit: 100).count == 20)
      #expect(errors() == 1)
      for run in 1...29 {
        bench.clock.set(ahead.advanced(by: Int64(run) * Milliseconds.dayLength / 2))
        timer.advance(by: .milliseconds(Milliseconds.dayLength / 2))
        await timer.sleepersBegun(1)
      }
      #expect(try await bench.store.changes(after: 0, limit: 100).count == 20)
      #expect(errors() == 15)
      // It was corrected.
      bench.clock.set(ServiceBench.now.advanced(by: 15 * Milliseconds.dayLength))
      timer.advance(by: .milliseconds(Milliseconds.dayLength / 2))
      await timer.sleepersBegun(1)
      #expect(try await bench.store.changes(after: 0, limit: 100).count == 20)
      #expect(bench.log.lines(at: .notice).count == 1)
      task.cancel()
      await task.value
    }
  }

  @Test("Without a retention nothing is deleted")
  func forEver() async throws {
    try await ServiceBench.run { bench async throws in
      let timer = MovableTimer()
      let trimmer = ChangeTrimmer(
        store: bench.store, retention: nil, clock: bench.clock.clock, timer: timer.timer,
        logger: bench.log.logger)
      _ = try await grant(bench)
      bench.clock.set(ServiceBench.now.advanced(by: 4_000 * Milliseconds.dayLength))
      let task = Task { await trimmer.run() }
      await timer.sleepersBegun(1)
      #expect(try await bench.store.changes(after: 0, limit: 10).count == 1)
      task.cancel()
      await task.value
    }
  }
}
