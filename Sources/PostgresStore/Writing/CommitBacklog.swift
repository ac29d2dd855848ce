import EntitlementStore

/// Jobs that wait, and what the lanes at work have locked: decides which jobs share a transaction.
///
/// Jobs that met a lock of somebody else's are held: each has a transaction of its own, and only some
/// lanes are there for them. So however many such locks there are, others find a lane.
struct CommitBacklog {
  /// What a lane does.
  private struct Work {
    let locks: Set<String>
    let isHeld: Bool
  }

  private let limits: PostgresStoreLimits
  private var lines = LockLines()
  /// Nil for a lane that has no work.
  private var lanes: [Work?]
  /// Whether the last job that was taken is a held one.
  private var wasHeldLast = false
  /// Turns that are given out are above the first and below the next.
  private var firstTurn = 0
  private var nextTurn = 0
  /// None of the jobs that are to be committed apart waits since before; nil while there are none.
  private var oldestApart: ContinuousClock.Instant?

  init(limits: PostgresStoreLimits) {
    self.limits = limits
    lanes = .init(repeating: nil, count: max(1, limits.writingConnections))
  }

  /// A lane that has no work; nil while there is none.
  var freeLane: Int? { lanes.firstIndex { $0 == nil } }

  mutating func append(_ job: CommitJob) {
    lines.append(lastParcel([job], .free))
  }

  /// Takes back the parts of a batch that have to be committed apart.
  mutating func putBack(_ parts: [[CommitJob]]) {
    firstTurn -= parts.count
    lines.prepend(
      parts.enumerated().map { CommitParcel($1, kind: .part, turn: firstTurn + $0) })
    for part in parts { noteApart(part) }
  }

  /// Takes back jobs that met a lock of somebody else's. Those that want the same stay behind them.
  ///
  /// One that met it alone waits for its turn behind all that are held. Of several most likely one did:
  /// the others, which are done at once, go before those that keep a lane for long. These have their turns
  /// nonetheless: whoever meets a lock shares no transaction any more, nor do those that want the same.
  ///
  /// - Parameter failure: what they are told when they have no time left.
  mutating func hold(_ jobs: [CommitJob], by failure: StoreError) {
    lines.prepend(held(jobs, as: jobs.count > 1 ? .suspect : .stuck, by: failure))
    noteApart(jobs)
  }

  private mutating func held(
    _ jobs: [CommitJob], as kind: CommitParcel.Kind, by failure: StoreError
  ) -> [CommitParcel] {
    jobs.map { lastParcel([$0.held(limits, by: failure)], kind) }
  }

  private mutating func lastParcel(
    _ jobs: [CommitJob], _ kind: CommitParcel.Kind
  ) -> CommitParcel {
    defer { nextTurn += 1 }
    return CommitParcel(jobs, kind: kind, turn: nextTurn)
  }

  private mutating func noteApart(_ jobs: [CommitJob]) {
    for job in jobs { oldestApart = min(oldestApart ?? job.submittedAt, job.submittedAt) }
  }

  mutating func laneEnded(_ lane: Int) {
    if let work = lanes[lane] { lines.release(work.locks) }
    lanes[lane] = nil
  }

  // MARK: Those that have waited for too long

  /// Removes jobs that wait since a moment or longer.
  mutating func removeJobs(since moment: ContinuousClock.Instant) -> [CommitJob] {
    lines.parcels.flatMap { removeJobs(of: $0, since: moment) }
  }

  /// Removes jobs that are to be committed apart from others, and wait since a moment or longer. What
  /// held ones wanted is locked still, most likely: those that want it too are held from then on,
  /// instead of having others wait with them.
  mutating func removeJobsApart(since moment: ContinuousClock.Instant) -> [CommitJob] {
    guard let oldestApart, oldestApart <= moment else { return [] }
    var removed: [CommitJob] = []
    var failures: [String: StoreError] = [:]
    for parcel in lines.parcels where parcel.kind != .free {
      let jobs = removeJobs(of: parcel, since: moment)
      removed += jobs
      guard let failure = jobs.first?.lockFailure else { continue }
      for lock in parcel.locks { failures[lock] = failure }
    }
    for parcel in lines.parcels where !parcel.kind.isHeld {
      guard let failure = parcel.locks.lazy.compactMap({ failures[$0] }).first else { continue }
      lines.replace(parcel, with: held(parcel.jobs, as: .stuck, by: failure))
    }
    self.oldestApart = nil
    for parcel in lines.parcels where parcel.kind != .free { noteApart(parcel.jobs) }
    return removed
  }

  private mutating func removeJobs(
    of parcel: CommitParcel, since moment: ContinuousClock.Instant
  ) -> [CommitJob] {
    let removed = parcel.jobs.filter { $0.submittedAt <= moment }
    if removed.isEmpty { return [] }
    let others = parcel.jobs.filter { $0.submittedAt > moment }
    if others.isEmpty {
      lines.replace(parcel)
    } else {
      firstTurn -= 1
      lines.replace(parcel, with: [CommitParcel(others, kind: parcel.kind, turn: firstTurn)])
    }
    return removed
  }

  // MARK: Lanes

  /// The jobs that a lane without work shall commit together, the oldest first; none when nothing that
  /// waits is for it now. The lane has work from then on, if there are any.
  mutating func takeJobs(for lane: Int, at now: ContinuousClock.Instant) -> [CommitJob] {
    // By turns: with one lane for all, neither the held ones nor the others wait for ever.
    for isHeld in [!wasHeldLast, wasHeldLast] {
      let jobs = isHeld ? takeHeldJob(for: lane) : takeOtherJobs(for: lane, at: now)
      if jobs.isEmpty { continue }
      wasHeldLast = isHeld
      return jobs
    }
    return []
  }

  /// Whether something waits that a lane without work shall take later, if no other does.
  func isLaneDeferred(at now: ContinuousClock.Instant) -> Bool {
    lines.readyCount(.free) > 0 && !isLaneForOthers(at: now)
  }

  private mutating func takeHeldJob(for lane: Int) -> [CommitJob] {
    // Enough lanes stay for others to be served as when nothing is locked, where there are enough.
    guard lanes.count(where: { $0?.isHeld == true }) < max(1, lanes.count - Self.eagerLanes),
      let parcel = lines.firstReady(.suspect) ?? lines.firstReady(.stuck)
    else { return [] }
    lines.replace(parcel)
    start(lane, Work(locks: parcel.locks, isHeld: true))
    return parcel.jobs
  }

  /// Whether a lane shall take what is ready while others are at work. A few that wait for the first two
  /// cost less; but those may be stuck, which shows by how long the oldest has waited.
  private func isLaneForOthers(at now: ContinuousClock.Instant) -> Bool {
    if lines.readyCount(.part) > 0 { return true }
    guard let oldest = lines.firstReady(.free) else { return false }
    return lanes.count { $0?.isHeld == false } < Self.eagerLanes
      || lines.readyCount(.free) >= limits.minimumWaitingForFurtherLane
      || oldest.jobs.contains { $0.submittedAt + limits.maximumWaitForSharing <= now }
  }

  private mutating func takeOtherJobs(
    for lane: Int, at now: ContinuousClock.Instant
  ) -> [CommitJob] {
    guard isLaneForOthers(at: now) else { return [] }
    var jobs: [CommitJob] = []
    var locks: Set<String> = []
    var byteCount = 0
    // With each that is taken, those that want the same become ready: they may come along.
    while jobs.count < limits.maximumCommitsPerTransaction {
      let part = jobs.isEmpty ? lines.firstReady(.part) : nil
      guard let parcel = part ?? lines.firstReady(.free) else { break }
      let isTooMuch =
        locks.count + parcel.locks.count > limits.maximumLocksPerTransaction
        || byteCount + parcel.byteCount > limits.maximumBytesPerTransaction
      if isTooMuch, !jobs.isEmpty { break }
      lines.replace(parcel)
      jobs += parcel.jobs
      locks.formUnion(parcel.locks)
      byteCount += parcel.byteCount
      if parcel.kind == .part { break }
    }
    start(lane, Work(locks: locks, isHeld: false))
    return jobs
  }

  private mutating func start(_ lane: Int, _ work: Work) {
    lines.take(work.locks)
    lanes[lane] = work
  }

  /// Lanes that take whatever waits, held jobs apart: while one flushes, the other works, and when one
  /// waits for locks that another node holds, the other goes on.
  private static let eagerLanes = 2
}
