import EntitlementDomain
import EntitlementStore
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

@Suite("Writes that share transactions")
struct CommitQueueTests {
  @Test("Those that come while others are under way are committed together")
  func together() async throws {
    let work = GatedWork()
    let queue = CommitQueue(limits: limits { $0.writingConnections = 1 }) { await work.run($0) }
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask { try await queue.commit { sampleJob(0, ["a"], $0) } }
      try await eventually { work.batches.count == 1 }
      for number in 1...9 {
        group.addTask { try await queue.commit { sampleJob(number, ["\(number)"], $0) } }
      }
      try await eventually { queue.pendingCount == 10 }
      work.open()
      #expect(Set(try await group.reduce(into: []) { $0.append($1) }) == Set(0...9))
    }
    #expect(work.batches.map(\.count) == [1, 9])
  }

  @Test("Those that want the same locks are never under way in two lanes")
  func affinity() async throws {
    var random = SeededRandom(for: "Writes of few locks in many lanes")
    let wanted = (0..<400).map { _ in
      Set(
        (0...Int.random(in: 0...2, using: &random)).map { _ in
          "\(Int.random(in: 0..<12, using: &random))"
        })
    }
    let held = Mutex<(now: [String: Int], count: Int, meetings: Int)>(([:], 0, 0))
    let limits = limits {
      $0.writingConnections = 4
      $0.minimumWaitingForFurtherLane = 1
      $0.maximumCommitsPerTransaction = 5
    }
    let queue = CommitQueue(limits: limits) { jobs in
      let locks = Set(jobs.flatMap(\.locks))
      held.withLock { held in
        for lock in locks {
          if held.now[lock, default: 0] > 0 { held.meetings += 1 }
          held.now[lock, default: 0] += 1
        }
        held.count += jobs.count
      }
      for _ in 0..<20 { await Task.yield() }
      held.withLock { held in for lock in locks { held.now[lock, default: 0] -= 1 } }
      for job in jobs { job.fail(Self.answer) }
      return .settled
    }
    await withTaskGroup(of: Void.self) { group in
      for (number, locks) in wanted.enumerated() {
        group.addTask {
          let _: Int? = try? await queue.commit { sampleJob(number, locks, $0) }
        }
      }
    }
    let outcome = held.withLock { $0 }
    #expect(outcome.meetings == 0)
    #expect(outcome.count == wanted.count)
    await queue.close()
  }

  @Test("Limits of number, locks and bytes end a transaction; a large write goes alone")
  func limitsOfTransactions() async throws {
    let work = GatedWork()
    let limits = limits {
      $0.writingConnections = 1
      $0.maximumCommitsPerTransaction = 4
      $0.maximumLocksPerTransaction = 10
      $0.maximumBytesPerTransaction = 100
    }
    let queue = CommitQueue(limits: limits) { await work.run($0) }
    let sizes = [1, 1, 1, 1, 1, 90, 20, 500, 1]
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask { try await queue.commit { sampleJob(-1, ["x"], $0) } }
      try await eventually { work.batches.count == 1 }
      for (number, size) in sizes.enumerated() {
        group.addTask {
          try await queue.commit { sampleJob(number, ["\(number)"], bytes: size, $0) }
        }
        try await eventually { queue.pendingCount == number + 2 }
      }
      work.open()
      try await group.waitForAll()
    }
    #expect(
      work.batches.map { $0.map { number(of: $0) } } == [
        [-1], [0, 1, 2, 3], [4, 5], [6], [7], [8],
      ])
  }

  @Test("More than may wait are refused; that the database cannot be reached is told to all")
  func refusalAndFailure() async throws {
    let work = GatedWork(ending: { jobs in
      for job in jobs { job.fail(Self.answer) }
      return .unreachable(Self.answer)
    })
    let limits = limits {
      $0.writingConnections = 1
      $0.maximumWaitingCommits = 3
    }
    let queue = CommitQueue(limits: limits) { await work.run($0) }
    await withTaskGroup(of: StoreError?.self) { group in
      for number in 0..<3 {
        group.addTask {
          do throws(StoreError) {
            let _: Int = try await queue.commit { sampleJob(number, ["\(number)"], $0) }
            return nil
          } catch {
            return error
          }
        }
      }
      try? await eventually { queue.pendingCount == 3 }
      let refusal = await #expect(throws: StoreError.self) {
        let _: Int = try await queue.commit { sampleJob(3, ["3"], $0) }
      }
      #expect(refusal?.code == .unavailable)
      work.open()
      for await failure in group { #expect(failure?.message == Self.answer.message) }
    }
    await queue.close()
    let closed = await #expect(throws: StoreError.self) {
      let _: Int = try await queue.commit { sampleJob(4, ["4"], $0) }
    }
    #expect(closed?.code == .closed)
  }

  @Test(
    "An answer that came too late is told to those who have waited as long, and to no others",
    arguments: [(Duration.seconds(600), false), (.zero, true)])
  func late(limit: Duration, isTold: Bool) async throws {
    let work = GatedWork(ending: { jobs in
      guard jobs.contains(where: { number(of: $0) == 0 }) else { return GatedWork.answer(jobs) }
      for job in jobs { job.fail(Self.answer) }
      return .late(Self.answer)
    })
    let limits = limits {
      $0.writingConnections = 1
      $0.writeTimeLimit = limit
    }
    let queue = CommitQueue(limits: limits) { await work.run($0) }
    let first = Task { () async throws -> Int in try await queue.commit { sampleJob(0, ["0"], $0) }
    }
    try await eventually { work.batches.count == 1 }
    let second = Task { () async throws -> Int in try await queue.commit { sampleJob(1, ["1"], $0) }
    }
    try await eventually { queue.pendingCount == 2 }
    work.open()
    await #expect(throws: StoreError.self) { _ = try await first.value }
    if isTold {
      await #expect(throws: StoreError.self) { _ = try await second.value }
    } else {
      #expect(try await second.value == 1)
    }
    await queue.close()
  }

  @Test("Parts of a batch that was split are committed apart, before others that want the same")
  func split() async throws {
    let work = GatedWork(ending: { jobs in
      if jobs.count > 2 {
        return .split([Array(jobs[..<2]), Array(jobs[2...])], by: Self.answer)
      }
      return GatedWork.answer(jobs)
    })
    let queue = CommitQueue(limits: limits { $0.writingConnections = 1 }) { await work.run($0) }
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask { try await queue.commit { sampleJob(0, ["x"], $0) } }
      try await eventually { work.batches.count == 1 }
      for number in 1...4 {
        group.addTask { try await queue.commit { sampleJob(number, ["x"], $0) } }
        try await eventually { queue.pendingCount == number + 1 }
      }
      work.open()
      #expect(Set(try await group.reduce(into: []) { $0.append($1) }) == Set(0...4))
    }
    #expect(
      work.batches.map { $0.map { number(of: $0) } } == [[0], [1, 2, 3, 4], [1, 2], [3, 4]])
    await queue.close()
  }

  @Test("When two lanes are stuck, a third takes what has waited for long, however few they are")
  func stuckLanes() async throws {
    let work = GatedWork(holding: { jobs in jobs.contains { number(of: $0) < 2 } })
    let limits = limits {
      $0.writingConnections = 3
      $0.maximumWaitForSharing = .milliseconds(1)
    }
    let queue = CommitQueue(limits: limits) { await work.run($0) }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<2 {
        group.addTask { try await queue.commit { sampleJob(number, ["\(number)"], $0) } }
        try await eventually { work.batches.count == number + 1 }
      }
      #expect(try await queue.commit { sampleJob(2, ["2"], $0) } == 2)
      // What wants the same as a lane that is stuck goes on waiting.
      group.addTask { try await queue.commit { sampleJob(3, ["1"], $0) } }
      #expect(try await queue.commit { sampleJob(4, ["4"], $0) } == 4)
      #expect(work.batches.count == 4)
      work.open()
      try await group.waitForAll()
    }
    await queue.close()
  }

  private static let answer = StoreError(.unavailable, "the database is away")

  private func limits(_ change: (inout PostgresStoreLimits) -> Void) -> PostgresStoreLimits {
    var limits = PostgresStoreLimits()
    change(&limits)
    return limits
  }
}
