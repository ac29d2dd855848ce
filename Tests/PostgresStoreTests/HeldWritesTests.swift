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
      job = job.held(limits)
      waits.append(job.lockWait)
    }
    #expect(
      waits == [
        nil, .milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(500),
        .milliseconds(500),
      ])
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

/// A backlog whose lanes end as chance will have it, and what was wrong meanwhile.
private struct BacklogRun {
  private let lanes: Int
  private var backlog: CommitBacklog
  private var working: [Int: [CommitJob]] = [:]
  /// How often each job will still meet a lock.
  private var meetings: [Int: Int] = [:]
  private(set) var ended: [Int] = []
  private(set) var faults: [String] = []
  private var lastOfLock: [String: Int] = [:]

  init(lanes: Int, limits: PostgresStoreLimits) {
    self.lanes = lanes
    var limits = limits
    limits.writingConnections = lanes
    limits.maximumCommitsPerTransaction = 8
    limits.minimumWaitingForFurtherLane = 1
    backlog = CommitBacklog(limits: limits)
  }

  mutating func play(jobs: Int, random: inout SeededRandom) {
    var next = 0
    // Each step brings a job or ends a transaction; to want more of them is to stand still.
    for _ in 0..<(jobs * 40) where ended.count < jobs {
      if next < jobs, Bool.random(using: &random) {
        let locks = (0...Int.random(in: 0...2, using: &random)).map { _ in
          "\(Int.random(in: 0..<15, using: &random))"
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
          meetings[next] = Int.random(in: 1...4, using: &random)
        }
        backlog.append(sampleJob(next, Set(locks)))
        next += 1
      } else if let lane = working.keys.sorted().randomElement(using: &random) {
        end(lane, random: &random)
      }
      startLanes()
    }
  }

  private mutating func startLanes() {
    while let lane = backlog.freeLane {
      let jobs = backlog.takeJobs(for: lane, at: .now)
      if jobs.isEmpty { return }
      let locks = Set(jobs.flatMap(\.locks))
      for others in working.values where !locks.isDisjoint(with: others.flatMap(\.locks)) {
        faults.append("two lanes want the same")
      }
      working[lane] = jobs
      let held = working.values.count { $0.contains { $0.lockWait != nil } }
      if held > max(1, lanes - 2) { faults.append("\(held) lanes are held") }
    }
  }

  private mutating func end(_ lane: Int, random: inout SeededRandom) {
    guard let jobs = working.removeValue(forKey: lane) else { return }
    backlog.laneEnded(lane)
    if let stuck = jobs.map({ number(of: $0) }).first(where: { meetings[$0, default: 0] > 0 }) {
      meetings[stuck, default: 0] -= 1
      backlog.hold(jobs)
    } else if jobs.count > 1, Int.random(in: 0..<4, using: &random) == 0 {
      backlog.putBack([Array(jobs[..<(jobs.count / 2)]), Array(jobs[(jobs.count / 2)...])])
    } else {
      for job in jobs { settle(job) }
    }
  }

  private mutating func settle(_ job: CommitJob) {
    let number = number(of: job)
    ended.append(number)
    // Each has a lock of its own besides, its notification's.
    for lock in job.locks {
      if let last = lastOfLock[lock], last > number { faults.append("\(number) after \(last)") }
      lastOfLock[lock] = number
    }
  }
}
