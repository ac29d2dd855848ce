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
    /// Since when a suspect has the lane while one that is stuck waits; nil: nothing of the kind.
    var aheadSince: ContinuousClock.Instant?
  }

  private let limits: PostgresStoreLimits
  private var lines = LockLines()
  /// Nil for a lane that has no work.
  private var lanes: [Work?]
  /// Whether the last job that was taken is a held one.
  private var wasHeldLast = false
  /// For how much longer lanes were suspects' while stuck ones waited than the other way round.
  private var leadOfSuspects: Duration = .zero
  /// Turns that are given out are not below the first, and below the next.
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

  /// Takes back the parts of a batch that have to be committed apart. The first has the next turn, if
  /// the batch's lane ends now.
  ///
  /// - Parameter failure: what they are told when they have no time left.
  mutating func putBack(_ parts: [[CommitJob]], by failure: StoreError) {
    firstTurn -= parts.count
    lines.prepend(
      parts.enumerated().map { index, jobs in
        CommitParcel(
          jobs.map { $0.putBack(by: failure) }, kind: .part, turn: firstTurn + index)
      })
    for part in parts { noteApart(part) }
    wasHeldLast = true
  }

  /// Takes back jobs that met a lock of somebody else's. Those that want the same stay behind them.
  ///
  /// One that met it alone waits for its turn behind all that did. Of several most likely one did: the
  /// others, which are done at once, do not wait behind all those that keep a lane for long, but have
  /// half of the time. Whoever meets a lock shares no transaction any more, nor do those that want the
  /// same.
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

  mutating func laneEnded(_ lane: Int, at now: ContinuousClock.Instant) {
    guard let work = lanes[lane] else { return }
    lines.release(work.locks)
    if let since = work.aheadSince { leadOfSuspects += since.duration(to: now) }
    lanes[lane] = nil
  }

  // MARK: Those that have waited for too long

  /// Removes jobs that wait since a moment or longer.
  mutating func removeJobs(since moment: ContinuousClock.Instant) -> [CommitJob] {
    let parcels = lines.parcels
    let changes = parcels.map { ($0, rest(of: $0, since: moment)) }
    lines.replace(changes)
    return parcels.flatMap { $0.jobs(since: moment) }
  }

  /// Removes jobs that are to be committed apart from others, and wait since a moment or longer. What
  /// those wanted that met a lock alone is locked still, most likely: those that want it too are held
  /// from then on, instead of having others wait with them.
  mutating func removeJobsApart(since moment: ContinuousClock.Instant) -> [CommitJob] {
    guard let oldestApart, oldestApart <= moment else { return [] }
    let parcels = lines.parcels
    var removed: [CommitJob] = []
    var failures: [String: StoreError] = [:]
    for parcel in parcels where parcel.kind != .free {
      let jobs = parcel.jobs(since: moment)
      removed += jobs
      guard parcel.kind == .stuck, let failure = jobs.first?.lastFailure else { continue }
      for lock in parcel.locks { failures[lock] = failure }
    }
    self.oldestApart = nil
    var changes: [LockLines.Change] = []
    for parcel in parcels where parcel.kind != .free || !failures.isEmpty {
      let rest = parcel.kind == .free ? [parcel] : rest(of: parcel, since: moment)
      let others = rest.flatMap { held($0, by: failures) }
      for other in others where other.kind != .free { noteApart(other.jobs) }
      changes.append((parcel, others))
    }
    lines.replace(changes)
    return removed
  }

  /// What remains of a parcel without jobs that wait since a moment or longer.
  private mutating func rest(
    of parcel: CommitParcel, since moment: ContinuousClock.Instant
  ) -> [CommitParcel] {
    let others = parcel.jobs.filter { $0.submittedAt > moment }
    if others.count == parcel.jobs.count { return [parcel] }
    if others.isEmpty { return [] }
    firstTurn -= 1
    return [CommitParcel(others, kind: parcel.kind, turn: firstTurn)]
  }

  /// A parcel's jobs as held ones if it wants a lock that others met, else itself.
  private mutating func held(
    _ parcel: CommitParcel, by failures: [String: StoreError]
  ) -> [CommitParcel] {
    if failures.isEmpty || parcel.kind.isHeld { return [parcel] }
    guard let failure = parcel.locks.lazy.compactMap({ failures[$0] }).first else {
      return [parcel]
    }
    return held(parcel.jobs, as: .stuck, by: failure)
  }

  // MARK: Lanes

  /// The jobs that a lane without work shall commit together, the oldest first; none when nothing that
  /// waits is for it now. The lane has work from then on, if there are any.
  mutating func takeJobs(for lane: Int, at now: ContinuousClock.Instant) -> [CommitJob] {
    // By turns: with one lane for all, neither the held ones nor the others wait for ever.
    for isHeld in [!wasHeldLast, wasHeldLast] {
      let jobs = isHeld ? takeHeldJob(for: lane, at: now) : takeOtherJobs(for: lane, at: now)
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

  private mutating func takeHeldJob(
    for lane: Int, at now: ContinuousClock.Instant
  ) -> [CommitJob] {
    // Enough lanes stay for others to be served as when nothing is locked, where there are enough.
    guard lanes.count(where: { $0?.isHeld == true }) < max(1, lanes.count - Self.eagerLanes),
      let parcel = takeFirstHeld()
    else { return [] }
    let isAhead = parcel.kind == .suspect && lines.readyCount(.stuck) > 0
    start(lane, Work(locks: parcel.locks, isHeld: true, aheadSince: isAhead ? now : nil))
    return parcel.jobs
  }

  /// By turns of time, not of number: the wait for one lock is as long as many transactions. Neither
  /// suspects nor those that are stuck wait for ever.
  private mutating func takeFirstHeld() -> CommitParcel? {
    let (suspect, stuck) = (lines.firstReady(.suspect), lines.firstReady(.stuck))
    let parcel = leadOfSuspects > .zero ? stuck ?? suspect : suspect ?? stuck
    guard let parcel else { return nil }
    lines.remove(parcel)
    if parcel.kind == .stuck, suspect != nil {
      // At once: another lane shall not go after a second one before this one has had its time.
      leadOfSuspects = .zero - (parcel.jobs.first?.lockWait ?? .zero)
    }
    return parcel
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
      lines.remove(parcel)
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
