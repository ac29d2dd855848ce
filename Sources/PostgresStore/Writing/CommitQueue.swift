import EntitlementStore
import Synchronization

/// Lets concurrent writes share transactions, and so round trips and the disk's flush, which are most
/// of what a commit costs.
///
/// Several lanes work at once, each on a transaction of its own. Writes that want the same locks go
/// to one lane, one after the other or together, instead of waiting for each other in the database.
final class CommitQueue: Sendable {
  /// Commits some jobs, and answers or fails each.
  ///
  /// - Returns: the failure that those who wait would meet too; nil when there is none.
  typealias Work = @Sendable ([CommitJob]) async -> StoreError?

  private struct State {
    var waiting: [CommitJob] = []
    /// What the jobs of each lane lock; nil for a lane that has no work.
    var lanes: [Set<String>?]
    /// Waiting or under way.
    var pending = 0
    var isClosed = false
    var waitingForDrain: [CheckedContinuation<Void, Never>] = []
  }

  private let limits: PostgresStoreLimits
  private let work: Work
  private let state: Mutex<State>

  init(limits: PostgresStoreLimits, work: @escaping Work) {
    self.limits = limits
    self.work = work
    state = Mutex(State(lanes: .init(repeating: nil, count: max(1, limits.writingConnections))))
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
      state.waiting.append(job)
      return nil
    }
    if refusal == nil { startLane() }
    return refusal
  }

  // MARK: Lanes

  /// Gives what waits to a lane that has no work, if there are both.
  private func startLane() {
    let start: (lane: Int, jobs: [CommitJob])? = state.withLock { state in
      guard let lane = state.lanes.firstIndex(where: { $0 == nil }) else { return nil }
      let jobs = takeJobs(for: lane, &state)
      return jobs.isEmpty ? nil : (lane, jobs)
    }
    guard let start else { return }
    Task { await run(start.lane, start.jobs) }
  }

  private func run(_ lane: Int, _ first: [CommitJob]) async {
    var jobs = first
    while !jobs.isEmpty {
      let failure = await work(jobs)
      var abandoned: [CommitJob] = []
      let count = jobs.count
      let drained: [CheckedContinuation<Void, Never>] = state.withLock { state in
        // They have waited as long as those that failed, and would meet the same.
        if failure != nil { swap(&abandoned, &state.waiting) }
        state.pending -= count + abandoned.count
        state.lanes[lane] = nil
        jobs = takeJobs(for: lane, &state)
        guard state.pending == 0 else { return [] }
        defer { state.waitingForDrain = [] }
        return state.waitingForDrain
      }
      if let failure { for job in abandoned { job.fail(failure) } }
      for continuation in drained { continuation.resume() }
      // What this lane held back may be free for another now.
      startLane()
    }
  }

  /// The jobs that a lane shall commit together, the oldest first; none when all that wait want what
  /// other lanes have locked. The lane has work from then on, if there are any.
  private func takeJobs(for lane: Int, _ state: inout State) -> [CommitJob] {
    if state.waiting.isEmpty { return [] }
    let taken = state.lanes.enumerated().compactMap { $0.offset == lane ? nil : $0.element }
    if taken.count >= Self.eagerLanes, state.waiting.count < limits.minimumWaitingForFurtherLane {
      return []
    }
    var heldBack: Set<String> = []
    var jobs: [CommitJob] = []
    var rest: [CommitJob] = []
    var locks: Set<String> = []
    var byteCount = 0
    var isFull = false
    for (index, job) in state.waiting.enumerated() {
      if isFull || index >= Self.lookAhead {
        rest += state.waiting[index...]
        break
      }
      // Nobody overtakes a job that wants the same.
      let isBlocked =
        taken.contains { !$0.isDisjoint(with: job.locks) } || !heldBack.isDisjoint(with: job.locks)
      if isBlocked {
        heldBack.formUnion(job.locks)
        rest.append(job)
        continue
      }
      let isTooMuch =
        locks.count + job.locks.count > limits.maximumLocksPerTransaction
        || byteCount + job.byteCount > limits.maximumBytesPerTransaction
      if isTooMuch, !jobs.isEmpty {
        isFull = true
        rest.append(job)
        continue
      }
      jobs.append(job)
      locks.formUnion(job.locks)
      byteCount += job.byteCount
      isFull = jobs.count >= limits.maximumCommitsPerTransaction
    }
    if jobs.isEmpty { return [] }
    state.waiting = rest
    state.lanes[lane] = locks
    return jobs
  }

  /// Lanes that take whatever waits: while one flushes, the other works, and when one waits for locks
  /// that another node holds, the other goes on.
  private static let eagerLanes = 2

  /// How many waiting jobs are looked at for a transaction: a long queue must not make each step
  /// slow.
  private static let lookAhead = 512
}
