import EntitlementStore

/// Jobs that wait, and what the lanes at work have locked: decides which jobs share a transaction.
struct CommitBacklog {
  /// What goes to a lane as a whole.
  private struct Parcel {
    let jobs: [CommitJob]
    let locks: Set<String>
    let byteCount: Int
    /// Part of a batch that was split: nothing else shares its transaction.
    let isSealed: Bool

    init(_ jobs: [CommitJob], isSealed: Bool) {
      self.jobs = jobs
      self.isSealed = isSealed
      locks = jobs.reduce(into: []) { $0.formUnion($1.locks) }
      byteCount = jobs.reduce(0) { $0 + $1.byteCount }
    }
  }

  private let limits: PostgresStoreLimits
  /// The oldest first.
  private var waiting: [Parcel] = []
  /// What the jobs of each lane lock; nil for a lane that has no work.
  private var lanes: [Set<String>?]

  init(limits: PostgresStoreLimits) {
    self.limits = limits
    lanes = .init(repeating: nil, count: max(1, limits.writingConnections))
  }

  /// Whether no job waits.
  var isEmpty: Bool { waiting.isEmpty }

  /// A lane that has no work; nil while there is none.
  var freeLane: Int? { lanes.firstIndex { $0 == nil } }

  mutating func append(_ job: CommitJob) {
    waiting.append(Parcel([job], isSealed: false))
  }

  /// Takes back the parts of a batch that have to be committed apart.
  mutating func putBack(_ parts: [[CommitJob]]) {
    waiting.insert(contentsOf: parts.map { Parcel($0, isSealed: true) }, at: 0)
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

  /// Whether a lane shall take what waits while others are at work. A few that wait for the first two
  /// cost less; but those may be stuck, which shows by how long the oldest has waited.
  func isLaneWanted(_ lane: Int, at now: ContinuousClock.Instant) -> Bool {
    if waiting.isEmpty { return false }
    if locked(beside: lane).count < Self.eagerLanes { return true }
    if waiting.count >= limits.minimumWaitingForFurtherLane { return true }
    return waiting.contains { parcel in
      parcel.isSealed
        || parcel.jobs.contains { $0.submittedAt + limits.maximumWaitForSharing <= now }
    }
  }

  /// The jobs that a lane shall commit together, the oldest first; none when all that wait want what
  /// other lanes have locked. The lane has work from then on, if there are any.
  mutating func takeJobs(for lane: Int) -> [CommitJob] {
    let taken = locked(beside: lane)
    var heldBack: Set<String> = []
    var jobs: [CommitJob] = []
    var rest: [Parcel] = []
    var locks: Set<String> = []
    var byteCount = 0
    var isFull = false
    for (index, parcel) in waiting.enumerated() {
      if isFull || index >= Self.lookAhead {
        rest += waiting[index...]
        break
      }
      // Nobody overtakes a job that wants the same.
      let isBlocked =
        taken.contains { !$0.isDisjoint(with: parcel.locks) }
        || !heldBack.isDisjoint(with: parcel.locks)
      if isBlocked || (parcel.isSealed && !jobs.isEmpty) {
        heldBack.formUnion(parcel.locks)
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
    lanes[lane] = locks
    return jobs
  }

  private func locked(beside lane: Int) -> [Set<String>] {
    lanes.enumerated().compactMap { $0.offset == lane ? nil : $0.element }
  }

  /// Lanes that take whatever waits: while one flushes, the other works, and when one waits for locks
  /// that another node holds, the other goes on.
  private static let eagerLanes = 2

  /// Parcels that are looked at for a transaction: a long queue must not make each step slow.
  private static let lookAhead = 512
}
