import EntitlementStore

/// Jobs that wait, and what the lanes at work have locked: decides which jobs share a transaction.
///
/// Jobs that met a lock of somebody else's are held: each has a transaction of its own, and only some
/// lanes are there for them. So however many such locks there are, others find a lane.
struct CommitBacklog {
  /// What goes to a lane as a whole.
  private struct Parcel {
    let jobs: [CommitJob]
    let locks: Set<String>
    let byteCount: Int
    /// Held, or part of a batch that was split: nothing else shares its transaction.
    let isSealed: Bool
    /// It met a lock of somebody else's.
    let isHeld: Bool

    init(_ jobs: [CommitJob], isSealed: Bool) {
      self.jobs = jobs
      locks = jobs.reduce(into: []) { $0.formUnion($1.locks) }
      byteCount = jobs.reduce(0) { $0 + $1.byteCount }
      isHeld = jobs.contains { $0.lockWait != nil }
      self.isSealed = isSealed || isHeld
    }
  }

  /// What a lane does.
  private struct Work {
    let locks: Set<String>
    let isHeld: Bool
  }

  private let limits: PostgresStoreLimits
  /// Of those that want the same, the oldest first.
  private var waiting: [Parcel] = []
  /// Nil for a lane that has no work.
  private var lanes: [Work?]
  /// Whether the last job that was taken is a held one.
  private var wasHeldLast = false

  init(limits: PostgresStoreLimits) {
    self.limits = limits
    lanes = .init(repeating: nil, count: max(1, limits.writingConnections))
  }

  /// A lane that has no work; nil while there is none.
  var freeLane: Int? { lanes.firstIndex { $0 == nil } }

  mutating func append(_ job: CommitJob) {
    waiting.append(Parcel([job], isSealed: false))
  }

  /// Takes back the parts of a batch that have to be committed apart.
  mutating func putBack(_ parts: [[CommitJob]]) {
    waiting.insert(contentsOf: parts.map { Parcel($0, isSealed: true) }, at: 0)
  }

  /// Takes back jobs that met a lock of somebody else's. Each waits for its turn, behind all that want
  /// nothing of what it wants; those that do stay behind it.
  mutating func hold(_ jobs: [CommitJob]) {
    var locks = jobs.reduce(into: Set()) { $0.formUnion($1.locks) }
    var others: [Parcel] = []
    var behind: [Parcel] = []
    for parcel in waiting {
      if locks.isDisjoint(with: parcel.locks) {
        others.append(parcel)
      } else {
        locks.formUnion(parcel.locks)
        behind.append(parcel)
      }
    }
    waiting = others + held(jobs) + behind
  }

  private func held(_ jobs: [CommitJob]) -> [Parcel] {
    jobs.map { Parcel([$0.held(limits)], isSealed: true) }
  }

  mutating func laneEnded(_ lane: Int) { lanes[lane] = nil }

  /// Removes jobs that wait since a moment or longer.
  mutating func removeJobs(since moment: ContinuousClock.Instant) -> [CommitJob] {
    var removed: [CommitJob] = []
    waiting = waiting.compactMap { parcel in
      let old = parcel.jobs.filter { $0.submittedAt <= moment }
      if old.isEmpty { return parcel }
      removed += old
      let others = parcel.jobs.filter { $0.submittedAt > moment }
      return others.isEmpty ? nil : Parcel(others, isSealed: parcel.isSealed)
    }
    return removed
  }

  /// Removes held jobs that wait since a moment or longer. What they wanted is locked still, most
  /// likely: those that want it too are held from then on, instead of having others wait with them.
  mutating func removeHeldJobs(since moment: ContinuousClock.Instant) -> [CommitJob] {
    var removed: [CommitJob] = []
    var locks: Set<String> = []
    waiting = waiting.flatMap { parcel -> [Parcel] in
      if parcel.isHeld, parcel.jobs.allSatisfy({ $0.submittedAt <= moment }) {
        removed += parcel.jobs
        locks.formUnion(parcel.locks)
        return []
      }
      let isInTheirPlace = !parcel.isHeld && !locks.isDisjoint(with: parcel.locks)
      return isInTheirPlace ? held(parcel.jobs) : [parcel]
    }
    return removed
  }

  // MARK: Lanes

  /// The jobs that a lane shall commit together, the oldest first; none when nothing that waits is
  /// for it now. The lane has work from then on, if there are any.
  mutating func takeJobs(for lane: Int, at now: ContinuousClock.Instant) -> [CommitJob] {
    // By turns: with one lane for all, neither the held ones nor the others wait for ever.
    for isHeld in [!wasHeldLast, wasHeldLast]
    where isHeld ? isLaneForHeld(lane) : isLaneForOthers(lane, at: now) {
      let jobs = takeJobs(for: lane, held: isHeld)
      if jobs.isEmpty { continue }
      wasHeldLast = isHeld
      return jobs
    }
    return []
  }

  /// Whether something waits that a lane shall take later, if no other does.
  func isLaneDeferred(_ lane: Int, at now: ContinuousClock.Instant) -> Bool {
    waiting.contains { !$0.isHeld } && !isLaneForOthers(lane, at: now)
  }

  private func isLaneForHeld(_ lane: Int) -> Bool {
    // Enough lanes stay for others to be served as when nothing is locked, where there are enough.
    let limit = max(1, lanes.count - Self.eagerLanes)
    return works(beside: lane).count { $0.isHeld } < limit && waiting.contains { $0.isHeld }
  }

  /// Whether a lane shall take what waits while others are at work. A few that wait for the first two
  /// cost less; but those may be stuck, which shows by how long the oldest has waited.
  private func isLaneForOthers(_ lane: Int, at now: ContinuousClock.Instant) -> Bool {
    let others = waiting.lazy.filter { !$0.isHeld }
    if others.isEmpty { return false }
    if works(beside: lane).count(where: { !$0.isHeld }) < Self.eagerLanes { return true }
    let enough = limits.minimumWaitingForFurtherLane
    if others.prefix(enough).count >= enough { return true }
    return others.contains { parcel in
      parcel.isSealed
        || parcel.jobs.contains { $0.submittedAt + limits.maximumWaitForSharing <= now }
    }
  }

  private mutating func takeJobs(for lane: Int, held: Bool) -> [CommitJob] {
    let taken = works(beside: lane).map(\.locks)
    var passedOver: Set<String> = []
    var jobs: [CommitJob] = []
    var rest: [Parcel] = []
    var locks: Set<String> = []
    var byteCount = 0
    var isFull = false
    var lookedAt = 0
    for (index, parcel) in waiting.enumerated() {
      if isFull || lookedAt >= Self.lookAhead {
        rest += waiting[index...]
        break
      }
      let isWanted = parcel.isHeld == held
      if isWanted { lookedAt += 1 }
      // Nobody overtakes a job that wants the same.
      let isBlocked =
        !isWanted || taken.contains { !$0.isDisjoint(with: parcel.locks) }
        || !passedOver.isDisjoint(with: parcel.locks)
      if isBlocked || (parcel.isSealed && !jobs.isEmpty) {
        passedOver.formUnion(parcel.locks)
        rest.append(parcel)
        continue
      }
      let isTooMuch =
        locks.count + parcel.locks.count > limits.maximumLocksPerTransaction
        || byteCount + parcel.byteCount > limits.maximumBytesPerTransaction
      if isTooMuch, !jobs.isEmpty {
        isFull = true
        rest.append(parcel)
        continue
      }
      jobs += parcel.jobs
      locks.formUnion(parcel.locks)
      byteCount += parcel.byteCount
      isFull = parcel.isSealed || jobs.count >= limits.maximumCommitsPerTransaction
    }
    if jobs.isEmpty { return [] }
    waiting = rest
    lanes[lane] = Work(locks: locks, isHeld: held)
    return jobs
  }

  private func works(beside lane: Int) -> [Work] {
    lanes.enumerated().compactMap { $0.offset == lane ? nil : $0.element }
  }

  /// Lanes that take whatever waits, held jobs apart: while one flushes, the other works, and when one
  /// waits for locks that another node holds, the other goes on.
  private static let eagerLanes = 2

  /// Parcels that are looked at for a transaction: a long queue must not make each step slow.
  private static let lookAhead = 512
}
