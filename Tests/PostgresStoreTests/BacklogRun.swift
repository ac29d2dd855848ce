import EntitlementStore
import TestSupport

@testable import PostgresStore

/// A backlog whose lanes end as chance will have it, and what was wrong meanwhile.
struct BacklogRun {
  private static let failure = StoreError(.unavailable, "it stays locked")

  private let lanes: Int
  private var backlog: CommitBacklog
  private var working: [Int: [CommitJob]] = [:]
  /// How often each job will still meet a lock.
  private var meetings: [Int: Int] = [:]
  /// Those that wait, by what is known of them here.
  private var waiting: [Int: Waiting] = [:]
  private(set) var ended: [Int] = []
  private(set) var faults: [String] = []
  private var lastOfLock: [String: Int] = [:]

  private enum Place {
    case free, suspect, stuck
    case part([Int])
  }

  private struct Waiting {
    let job: CommitJob
    var place: Place

    var isHeld: Bool {
      switch place {
      case .suspect, .stuck: true
      case .free, .part: false
      }
    }
  }

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
        bring(next, random: &random)
        next += 1
      } else if let lane = working.keys.sorted().randomElement(using: &random) {
        end(lane, random: &random)
      }
      if Int.random(in: 0..<20, using: &random) == 0,
        let number = waiting.keys.sorted().randomElement(using: &random)
      {
        if Int.random(in: 0..<3, using: &random) == 0 {
          giveUpAll(asOldAs: number)
        } else {
          giveUp(asOldAs: number)
        }
      }
      startLanes()
    }
  }

  private mutating func bring(_ number: Int, random: inout SeededRandom) {
    let locks = (0...Int.random(in: 0...2, using: &random)).map { _ in
      "\(Int.random(in: 0..<15, using: &random))"
    }
    if Int.random(in: 0..<4, using: &random) == 0 {
      meetings[number] = Int.random(in: 1...4, using: &random)
    }
    let job = sampleJob(number, Set(locks))
    backlog.append(job)
    waiting[number] = Waiting(job: job, place: .free)
  }

  // MARK: Starting

  private mutating func startLanes() {
    while let lane = backlog.freeLane {
      let ready = readyNumbers
      let jobs = backlog.takeJobs(for: lane, at: .now)
      if jobs.isEmpty { return expectNothing(of: ready) }
      let locks = Set(jobs.flatMap(\.locks))
      for others in working.values where !locks.isDisjoint(with: others.flatMap(\.locks)) {
        faults.append("two lanes want the same")
      }
      for job in jobs where waiting.removeValue(forKey: number(of: job)) == nil {
        faults.append("\(number(of: job)) did not wait")
      }
      working[lane] = jobs
      if heldCount > heldLimit { faults.append("\(heldCount) lanes are held") }
    }
  }

  private var heldCount: Int { working.values.count { $0.contains { $0.lockWait != nil } } }

  private var heldLimit: Int { max(1, lanes - 2) }

  /// Those that want nothing of what one that came before them wants.
  private var readyNumbers: [Int] {
    var locks = Set(working.values.joined().flatMap(\.locks))
    var ready: [Int] = []
    for (number, waiting) in waiting.sorted(by: { $0.key < $1.key }) {
      if locks.isDisjoint(with: waiting.job.locks) { ready.append(number) }
      locks.formUnion(waiting.job.locks)
    }
    return ready
  }

  /// A lane stays free.
  private mutating func expectNothing(of ready: [Int]) {
    for number in ready {
      switch waiting[number]?.place {
      case .suspect, .stuck: if heldCount >= heldLimit { continue }
      // One of the others may have to wait.
      case .part(let numbers): if numbers.count > 1 { continue }
      case .free, nil: break
      }
      faults.append("\(number) waits beside a free lane")
    }
  }

  // MARK: Ending

  private mutating func end(_ lane: Int, random: inout SeededRandom) {
    guard let jobs = working.removeValue(forKey: lane) else { return }
    defer { backlog.laneEnded(lane, at: .now) }
    if let stuck = jobs.map({ number(of: $0) }).first(where: { meetings[$0, default: 0] > 0 }) {
      meetings[stuck, default: 0] -= 1
      backlog.hold(jobs, by: Self.failure)
      wait(jobs, jobs.count > 1 ? .suspect : .stuck)
    } else if jobs.count > 1, Int.random(in: 0..<4, using: &random) == 0 {
      let middle = jobs.count / 2
      let parts = [Array(jobs[..<middle]), Array(jobs[middle...])]
      backlog.putBack(parts, by: Self.failure)
      for part in parts { wait(part, .part(part.map { number(of: $0) })) }
    } else {
      for job in jobs { settle(job) }
    }
  }

  private mutating func wait(_ jobs: [CommitJob], _ place: Place) {
    for job in jobs { waiting[number(of: job)] = Waiting(job: job, place: place) }
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

  /// The time is up of all that are tried apart and wait for as long as one.
  private mutating func giveUp(asOldAs sample: Int) {
    guard let moment = waiting[sample]?.job.submittedAt else { return }
    let old = waiting.filter { _, waiting in
      if case .free = waiting.place { return false }
      return waiting.job.submittedAt <= moment
    }
    let removed = backlog.removeJobsApart(since: moment).map { number(of: $0) }
    if removed.sorted() != old.keys.sorted() { faults.append("\(removed) have no time left") }
    ended += removed
    for number in removed { waiting[number] = nil }
    // What those wanted that met a lock alone is locked still.
    let stuck = old.values.filter { if case .stuck = $0.place { true } else { false } }
    let locks = Set(stuck.flatMap(\.job.locks))
    for (number, other) in waiting where !other.isHeld && !locks.isDisjoint(with: other.job.locks) {
      waiting[number]?.place = .stuck
      guard case .part(let numbers) = other.place else { continue }
      for number in numbers { waiting[number]?.place = .stuck }
    }
  }

  /// The time is up of all that wait for as long as one.
  private mutating func giveUpAll(asOldAs sample: Int) {
    guard let moment = waiting[sample]?.job.submittedAt else { return }
    let old = waiting.filter { $0.value.job.submittedAt <= moment }
    let removed = backlog.removeJobs(since: moment).map { number(of: $0) }
    if removed.sorted() != old.keys.sorted() { faults.append("\(removed) are removed") }
    ended += removed
    for number in removed { waiting[number] = nil }
  }
}
