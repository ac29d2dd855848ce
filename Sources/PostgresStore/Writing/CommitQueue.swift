import EntitlementStore
import Synchronization

/// Lets concurrent writes share transactions, and so round trips and the disk's flush, which are most
/// of what a commit costs.
///
/// Several lanes work at once, each on a transaction of its own. Writes that want the same locks go
/// to one lane, one after the other or together, instead of waiting for each other in the database.
/// Those that meet a lock of somebody else's there are tried again, each alone, for as long as they
/// have time (``PostgresStoreLimits/writeTimeLimit``); meanwhile some lanes are there for others only.
final class CommitQueue: Sendable {
  /// Commits some jobs: answers or fails each, unless it gives them back.
  typealias Work = @Sendable ([CommitJob]) async -> CommitOutcome

  private struct State {
    var backlog: CommitBacklog
    /// Jobs that wait or are under way.
    var pending = 0
    /// Somebody will look whether a further lane is wanted.
    var isLookComing = false
    /// Before, nobody looks whether the time of some is up.
    var nextSweep: ContinuousClock.Instant
    var isClosed = false
    var waitingForDrain: [CheckedContinuation<Void, Never>] = []
  }

  private let limits: PostgresStoreLimits
  private let clock: @Sendable () -> ContinuousClock.Instant
  private let work: Work
  private let state: Mutex<State>

  init(
    limits: PostgresStoreLimits,
    clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, work: @escaping Work
  ) {
    self.limits = limits
    self.clock = clock
    self.work = work
    state = Mutex(State(backlog: CommitBacklog(limits: limits), nextSweep: clock()))
  }

  /// - Parameter job: makes the job, given how to tell its outcome.
  func commit<Value: Sendable>(
    _ job: (@escaping @Sendable (Result<Value, StoreError>) -> Void) -> CommitJob
  ) async throws(StoreError) -> Value {
    let outcome: Result<Value, StoreError> = await withCheckedContinuation { continuation in
      let job = job { continuation.resume(returning: $0) }
      if let refusal = append(job) { job.fail(refusal) }
    }
    return try outcome.get()
  }

  /// Refuses further jobs, and returns when none is pending.
  func close() async {
    await withCheckedContinuation { continuation in
      let isDrained = state.withLock { state in
        state.isClosed = true
        if state.pending > 0 { state.waitingForDrain.append(continuation) }
        return state.pending == 0
      }
      if isDrained { continuation.resume() }
    }
  }

  /// Jobs that wait or are under way.
  var pendingCount: Int { state.withLock { $0.pending } }

  private func append(_ job: CommitJob) -> StoreError? {
    let refusal: StoreError? = state.withLock { state in
      if state.isClosed { return StoreError(.closed, "the store is closed") }
      if state.pending >= limits.maximumWaitingCommits {
        return StoreError(.unavailable, "too many commits are waiting")
      }
      state.pending += 1
      state.backlog.append(job)
      return nil
    }
    if refusal == nil { startLanes() }
    return refusal
  }

  // MARK: Lanes

  /// Gives what waits to lanes that have no work, as far as there are both.
  private func startLanes() {
    while let (lane, jobs) = state.withLock({ nextStart(&$0) }) {
      Task { await run(lane, jobs) }
    }
  }

  private func nextStart(_ state: inout State) -> (lane: Int, jobs: [CommitJob])? {
    guard let lane = state.backlog.freeLane else { return nil }
    let jobs = nextJobs(for: lane, &state)
    return jobs.isEmpty ? nil : (lane, jobs)
  }

  private func nextJobs(for lane: Int, _ state: inout State) -> [CommitJob] {
    let now = clock()
    let jobs = state.backlog.takeJobs(for: lane, at: now)
    if !jobs.isEmpty || state.isLookComing || !state.backlog.isLaneDeferred(at: now) {
      return jobs
    }
    state.isLookComing = true
    Task {
      // Nobody cancels this task, and to look too early would do no harm.
      try? await Task.sleep(for: limits.maximumWaitForSharing)
      self.state.withLock { $0.isLookComing = false }
      startLanes()
    }
    return []
  }

  private func run(_ lane: Int, _ first: [CommitJob]) async {
    var jobs = first
    while !jobs.isEmpty {
      let outcome = await work(jobs)
      let count = jobs.count
      var abandoned: [CommitJob] = []
      let drained: [CheckedContinuation<Void, Never>] = state.withLock { state in
        let now = clock()
        switch outcome {
        case .settled:
          state.pending -= count
        case .split:
          break
        case .locked(let failure):
          state.backlog.hold(jobs, by: failure)
          // Those whose time is up shall not keep a lane for as long again.
          state.nextSweep = now
        case .late:
          abandoned = state.backlog.removeJobs(since: now - limits.writeTimeLimit)
          state.pending -= count
        case .unreachable:
          abandoned = state.backlog.removeJobs(since: now)
          state.pending -= count
        }
        // Whatever became of these: however slow the database is, turns that come one by one may come
        // too late for some.
        if now >= state.nextSweep {
          abandoned += state.backlog.removeJobsApart(since: now - limits.writeTimeLimit)
          state.nextSweep = now + Self.pauseOfSweeps
        }
        state.pending -= abandoned.count
        // Not before: however late it is, the first part has its turn, and so the split an end.
        if case .split(let parts, let failure) = outcome {
          state.backlog.putBack(parts, by: failure)
        }
        state.backlog.laneEnded(lane, at: now)
        jobs = nextJobs(for: lane, &state)
        guard state.pending == 0 else { return [] }
        defer { state.waitingForDrain = [] }
        return state.waitingForDrain
      }
      for job in abandoned { job.fail(outcome.failure ?? job.lastFailure ?? Self.late) }
      for continuation in drained { continuation.resume() }
      // What this lane held back may be free for another now.
      startLanes()
    }
  }

  /// A sweep looks at all that wait while everybody else who writes waits for it, and lanes may end
  /// thousands of times in a second. To be told this much later, after seconds, is no loss.
  private static let pauseOfSweeps: Duration = .milliseconds(100)

  private static let late = StoreError(.unavailable, "PostgreSQL did not answer in time")
}
