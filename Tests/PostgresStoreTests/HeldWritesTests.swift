import EntitlementDomain
import EntitlementStore
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

@Suite("Writes that meet locks of others")
struct HeldWritesTests {
  @Test(
    "However many they are, they leave lanes to others",
    arguments: [(lanes: 2, lanesOfHeld: 1), (3, 1), (4, 2), (6, 4)])
  func lanesForOthers(lanes: Int, lanesOfHeld: Int) async throws {
    let isLocked = Mutex(true)
    @Sendable func isStuck(_ jobs: [CommitJob]) -> Bool { jobs.contains { number(of: $0) < 10 } }
    // The first time they say that they met a lock; then they wait for it.
    let work = GatedWork(
      holding: { jobs in isStuck(jobs) && jobs.contains { $0.lockWait != nil } },
      ending: { jobs in
        if isStuck(jobs), isLocked.withLock({ $0 }) { return .locked(Self.failure) }
        return GatedWork.answer(jobs)
      })
    let queue = CommitQueue(limits: limits { $0.writingConnections = lanes }) {
      await work.run($0)
    }
    let answered = Answered()
    try await withThrowingTaskGroup(of: Void.self) { group in
      // Also where others are not answered, which fails the test: it ends.
      defer {
        isLocked.withLock { $0 = false }
        work.open()
      }
      func commit(_ number: Int) {
        group.addTask {
          let value = try await queue.commit { sampleJob(number, ["\(number)"], $0) }
          #expect(value == number)
          answered.add()
        }
      }
      for number in 0..<10 { commit(number) }
      // None of them comes to share a transaction with the others any more.
      try await eventually(within: .seconds(20)) {
        work.waitingCount == lanesOfHeld
          && Set(work.batches.joined().map { number(of: $0) }).count == 10
      }
      for number in 10..<40 { commit(number) }
      try await eventually(within: .seconds(20)) { answered.count == 30 }
      #expect(work.waitingCount == lanesOfHeld)
      // Callers are answered a moment before the queue has taken note.
      try await eventually(within: .seconds(20)) { queue.pendingCount == 10 }
    }
    #expect(answered.count == 40)
    #expect(work.batches.allSatisfy { $0.count == 1 || $0.allSatisfy { $0.lockWait == nil } })
    await queue.close()
  }

  @Test("With one lane for all, each has its turn")
  func oneLane() async throws {
    let isLocked = Mutex(true)
    let work = GatedWork(
      holding: { _ in false },
      ending: { jobs in
        if jobs.contains(where: { number(of: $0) < 3 }), isLocked.withLock({ $0 }) {
          return .locked(Self.failure)
        }
        return GatedWork.answer(jobs)
      })
    let queue = CommitQueue(limits: limits { $0.writingConnections = 1 }) { await work.run($0) }
    let answered = Answered()
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { isLocked.withLock { $0 = false } }
      for number in 0..<10 {
        group.addTask {
          let value = try await queue.commit { sampleJob(number, ["\(number)"], $0) }
          #expect(value == number)
          answered.add()
        }
      }
      try await eventually(within: .seconds(20)) { answered.count == 7 }
    }
    #expect(answered.count == 10)
    await queue.close()
  }

  @Test("One whose time is up fails; one that wants the same is tried alone in its place")
  func timeIsUp() async throws {
    let work = GatedWork(ending: { jobs in
      if jobs.contains(where: { $0.locks.contains { $0.hasSuffix(":a") } }) {
        return .locked(Self.failure)
      }
      return GatedWork.answer(jobs)
    })
    let limits = limits {
      $0.writingConnections = 1
      $0.writeTimeLimit = .zero
    }
    let queue = CommitQueue(limits: limits) { await work.run($0) }
    let first = Task { () async throws -> Int in
      try await queue.commit { sampleJob(0, ["a"], $0) }
    }
    try await eventually { work.batches.count == 1 }
    let second = Task { () async throws -> Int in
      try await queue.commit { sampleJob(1, ["a"], $0) }
    }
    try await eventually { queue.pendingCount == 2 }
    let other = Task { () async throws -> Int in
      try await queue.commit { sampleJob(2, ["b"], $0) }
    }
    try await eventually { queue.pendingCount == 3 }
    work.open()
    for stuck in [first, second] {
      let failure = await #expect(throws: StoreError.self) { try await stuck.value }
      #expect(failure?.message == Self.failure.message)
    }
    #expect(try await other.value == 2)
    #expect(work.batches.allSatisfy { $0.count == 1 })
    await queue.close()
  }

  @Test("Each further wait is twice as long, up to the limit")
  func waits() {
    let limits = limits {
      $0.firstLockWait = .milliseconds(100)
      $0.lockTimeLimit = .milliseconds(500)
    }
    var job = sampleJob(0, [])
    var waits: [Duration?] = [job.lockWait]
    for _ in 0..<5 {
      job = job.held(limits, by: Self.failure)
      waits.append(job.lockWait)
    }
    #expect(
      waits == [
        nil, .milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(500),
        .milliseconds(500),
      ])
  }

  @Test("However many wait behind one that is locked, others are taken at once")
  func behindLocked() {
    var backlog = CommitBacklog(limits: limits { $0.minimumWaitingForFurtherLane = 1 })
    backlog.append(sampleJob(0, ["a"]))
    #expect(taken(0, from: &backlog) == [0])
    for number in 1...2_000 { backlog.append(sampleJob(number, ["a"])) }
    backlog.append(sampleJob(2_001, ["b"]))
    #expect(taken(1, from: &backlog) == [2_001])
    backlog.hold([sampleJob(0, ["a"])], by: Self.failure)
    backlog.laneEnded(0, at: .now)
    #expect(taken(0, from: &backlog) == [0])
    backlog.append(sampleJob(2_002, ["c"]))
    #expect(taken(2, from: &backlog) == [2_002])
    #expect(taken(3, from: &backlog) == [])
    backlog.laneEnded(0, at: .now)
    #expect(taken(0, from: &backlog) == Array(1...128))
  }

  @Test("Those that only shared a transaction with a locked one have half of the time")
  func suspectsAndStuck() {
    let limits = limits {
      $0.writingConnections = 1
      $0.firstLockWait = .milliseconds(100)
    }
    var backlog = CommitBacklog(limits: limits)
    func hold(_ numbers: ClosedRange<Int>) {
      backlog.hold(numbers.map { sampleJob($0, ["\($0)"]) }, by: Self.failure)
    }
    hold(10...10)
    hold(0...5)
    hold(11...11)
    hold(12...12)
    var order: [Int] = []
    var time = ContinuousClock.now
    for _ in 0..<9 {
      order += taken(0, from: &backlog, at: time)
      time += .milliseconds(40)
      backlog.laneEnded(0, at: time)
    }
    #expect(order == [0, 10, 1, 2, 3, 11, 4, 5, 12])
  }

  @Test("Who wants what a removed one wanted is held if that met a lock alone, and else is not")
  func behindRemoved() {
    for isAlone in [true, false] {
      var backlog = CommitBacklog(limits: limits { $0.writingConnections = 1 })
      let removed = isAlone ? [0] : [0, 1]
      backlog.hold(removed.map { sampleJob($0, ["\($0)"]) }, by: Self.failure)
      for number in 2...5 { backlog.append(sampleJob(number, [number < 5 ? "0" : "a"])) }
      #expect(backlog.removeJobsApart(since: .now).map { number(of: $0) } == removed)
      var turns: [[Int]] = []
      for _ in 0..<(isAlone ? 4 : 1) {
        turns.append(taken(0, from: &backlog))
        backlog.laneEnded(0, at: .now)
      }
      #expect(turns == (isAlone ? [[2], [5], [3], [4]] : [[2, 3, 4, 5]]))
      #expect(taken(0, from: &backlog) == [])
    }
  }

  @Test("The first part of a batch that is split has the next turn, before held ones")
  func partBeforeHeld() {
    var backlog = CommitBacklog(limits: limits { $0.writingConnections = 1 })
    for number in 1...2 { backlog.append(sampleJob(number, ["\(number)"])) }
    #expect(taken(0, from: &backlog) == [1, 2])
    backlog.hold([sampleJob(0, ["0"])], by: Self.failure)
    backlog.putBack((1...2).map { [sampleJob($0, ["\($0)"])] }, by: Self.failure)
    var order: [Int] = []
    for _ in 0..<3 {
      backlog.laneEnded(0, at: .now)
      order += taken(0, from: &backlog)
    }
    #expect(order == [1, 0, 2])
  }

  @Test(
    "Of a batch that is split too late, the first part has its turn, and others are told why",
    arguments: [
      (Duration.milliseconds(200), [[0], [1, 2, 3, 4], [1, 2], [1]], [2, 3, 4]),
      // At once after they were looked at, nobody looks again.
      (.zero, [[0], [1, 2, 3, 4], [1, 2], [1], [2], [3, 4], [3], [4]], [Int]()),
    ])
  func lateSplit(turn: Duration, batches: [[Int]], failed: [Int]) async throws {
    let time = Mutex(ContinuousClock.now)
    let work = GatedWork(ending: { jobs in
      time.withLock { $0 += jobs.count == 4 ? .seconds(3_600) : turn }
      if jobs.count == 1 { return GatedWork.answer(jobs) }
      let middle = jobs.count / 2
      return .split([Array(jobs[..<middle]), Array(jobs[middle...])], by: Self.failure)
    })
    let queue = CommitQueue(
      limits: limits { $0.writingConnections = 1 }, clock: { time.withLock { $0 } },
      work: { await work.run($0) })
    let failures = try await failures(of: 0...4, in: queue, work)
    #expect(Set(failures.keys) == Set(failed))
    #expect(failures.values.allSatisfy { $0.message == Self.failure.message })
    #expect(work.batches.map { $0.map { number(of: $0) } } == batches)
    await queue.close()
  }

  /// Hands writes in, one after the other, before any of them is done.
  ///
  /// - Returns: those that failed, by their numbers.
  private func failures(
    of numbers: ClosedRange<Int>, in queue: CommitQueue, _ work: GatedWork
  ) async throws -> [Int: StoreError] {
    try await withThrowingTaskGroup(of: (Int, StoreError?).self) { group in
      for number in numbers {
        group.addTask {
          do throws(StoreError) {
            let _: Int = try await queue.commit { sampleJob(number, ["\(number)"], $0) }
            return (number, nil)
          } catch {
            return (number, error)
          }
        }
        try await eventually { queue.pendingCount == number + 1 }
      }
      work.open()
      var failures: [Int: StoreError] = [:]
      for try await (number, failure) in group { failures[number] = failure }
      return failures
    }
  }

  private func taken(
    _ lane: Int, from backlog: inout CommitBacklog, at now: ContinuousClock.Instant = .now
  ) -> [Int] {
    backlog.takeJobs(for: lane, at: now).map { number(of: $0) }
  }

  @Test(
    "However slow each turn is, those that are tried apart are told when their time is up",
    arguments: [true, false])
  func slowTurns(areLocked: Bool) async throws {
    // Time passes with the second turn.
    let time = Mutex(Duration.zero)
    let work = GatedWork(ending: { jobs in
      if jobs.count > 1 {
        return areLocked
          ? .locked(Self.failure) : .split(jobs.map { [$0] }, by: Self.failure)
      }
      if number(of: jobs[0]) == 1 { time.withLock { $0 = .seconds(3_600) } }
      return GatedWork.answer(jobs)
    })
    let queue = CommitQueue(
      limits: limits { $0.writingConnections = 1 }, clock: { .now + time.withLock { $0 } },
      work: { await work.run($0) })
    let failures = try await failures(of: 0...3, in: queue, work)
    #expect(failures.keys.sorted() == [2, 3])
    #expect(failures.values.allSatisfy { $0.message == Self.failure.message })
    #expect(work.batches.map { $0.map { number(of: $0) } } == [[0], [1, 2, 3], [1]])
    #expect(queue.pendingCount == 0)
    await queue.close()
  }

  @Test("Whatever meets locks or is split, those that want the same keep their order, and all end")
  func order() {
    var random = SeededRandom(for: "Held and split writes")
    for _ in 0..<60 {
      var run = BacklogRun(lanes: Int.random(in: 1...5, using: &random), limits: limits { _ in })
      run.play(jobs: 120, random: &random)
      #expect(run.faults == [])
      #expect(run.ended.count == 120)
    }
  }

  private static let failure = StoreError(.unavailable, "it stays locked")

  private func limits(_ change: (inout PostgresStoreLimits) -> Void) -> PostgresStoreLimits {
    var limits = PostgresStoreLimits()
    change(&limits)
    return limits
  }
}

private final class Answered: Sendable {
  private let number = Atomic(0)

  var count: Int { number.load(ordering: .relaxed) }

  func add() { number.add(1, ordering: .relaxed) }
}
