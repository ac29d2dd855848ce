import EntitlementStore
import Synchronization
import Workers

/// A write that waits for a transaction, which it may share with other writes.
final class WriteJob: Sendable {
  /// Completes the call after the commit.
  typealias Answer = @Sendable (ChangeNumbering) -> Void

  /// Whose turn the job waits for.
  let source: WorkSource
  /// What the ledger will probably read.
  let keys: Set<LedgerKey>
  /// The ids of all apps and environments that the write may touch.
  let scopes: PostgresScopeIDs
  /// The ids of the headers of its payloads.
  let headers: HeaderIDs
  /// The names of the locks that ``keys`` require, without duplicates.
  let locks: [String]
  /// Bytes of payloads and documents.
  let byteCount: Int
  /// When the caller must have an answer. The job is not started or repeated after it.
  let deadline: ContinuousClock.Instant
  /// May run several times. Only the decision of the last run is written.
  let decide: @Sendable (inout Ledger<LoadedRows>) throws -> Answer
  let fail: @Sendable (StoreError) -> Void
  /// Called instead of `fail` when the cached ids are no longer valid in the database.
  let refreshIDs: @Sendable () -> Void

  init(
    of source: WorkSource = .server, keys: Set<LedgerKey>, scopes: PostgresScopeIDs,
    headers: HeaderIDs, byteCount: Int, deadline: ContinuousClock.Instant,
    decide: @escaping @Sendable (inout Ledger<LoadedRows>) throws -> Answer,
    fail: @escaping @Sendable (StoreError) -> Void,
    refreshIDs: @escaping @Sendable () -> Void
  ) {
    self.source = source
    self.keys = keys
    self.scopes = scopes
    self.headers = headers
    self.byteCount = byteCount
    self.deadline = deadline
    self.decide = decide
    self.fail = fail
    self.refreshIDs = refreshIDs
    locks = Array(Set(keys.map { LockName.of($0, scopes) }))
  }

  /// The key whose hash chooses the writer: the chain with its app, the smallest of several.
  /// Without a chain it is the account, or else another lock.
  var shardKey: String {
    func rank(_ lock: String) -> Int {
      switch lock.utf8.first {
      case UInt8(ascii: "c"): 0
      case UInt8(ascii: "a"): 1
      default: 2
      }
    }
    return locks.min { (rank($0), $0) < (rank($1), $1) } ?? ""
  }
}

/// Groups concurrent writes into shared transactions, because round trips and flushes of the disk
/// are most of the cost of a commit.
///
/// There are several writers, each with its own queue and one transaction at a time. The hash of
/// the chain chooses the writer, so writes of one chain share a transaction or follow each other
/// and do not wait for each other in the database. Writes that arrive while a writer is busy form
/// its next batch, which ``BatchWriter`` commits.
///
/// Sources take turns within the queue of a writer, one write each. So a source with thousands of
/// waiting writes delays a write of another source by about a batch. Writes of one source keep their
/// order. Another order between sources is safe, also for one chain: a write that waits was not
/// answered, so nobody can depend on its place; and each write decides on what it reads under the
/// locks of its transaction, so that every order is that of some arrival.
///
/// A batch waits once for a lock of another session. ``LockCircuitBreaker`` remembers the lock, so
/// that later batches do not wait for it.
///
/// Every caller is answered by the deadline of its job. A job that waits is removed then. A job in
/// flight goes on: it may be committed, its caller is told so, and the change feed brings the
/// outcome to the caches of all nodes.
final class WriteQueue: Sendable {
  /// Commits a batch, and answers or fails each of its jobs.
  typealias Work = @Sendable (WriteBatch) async -> BatchOutcome

  private struct Shard {
    var waiting = TurnQueue<WriteJob>(turn: .oneElement)
    /// The batch in flight.
    var running: [WriteJob] = []
    var isRunning = false
  }

  private struct State {
    var shards: [Shard]
    /// Jobs that wait or are in flight.
    var shares: SourceShares
    var lockBreaker = LockCircuitBreaker()
    /// Whether a task looks for expired jobs, which it does as long as jobs are pending.
    var isExpiring = false
    var isClosed = false
    var waitingForDrain: [CheckedContinuation<Void, Never>] = []
  }

  /// How late an answer may come after its deadline: expired jobs are looked for at this interval.
  private static let expiryInterval: Duration = .milliseconds(250)
  /// Sources whose next job does not fit into a batch and waits for the next one. Bounds the search
  /// for jobs that fit.
  private static let maximumPasses = 16

  private let limits: PostgresStoreLimits
  private let clock: @Sendable () -> ContinuousClock.Instant
  private let work: Work
  private let shardCount: Int
  private let alarm: StorageAlarm?
  private let state: Mutex<State>

  init(
    limits: PostgresStoreLimits, alarm: StorageAlarm? = nil,
    clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, work: @escaping Work
  ) {
    self.limits = limits
    self.alarm = alarm
    self.clock = clock
    self.work = work
    shardCount = max(1, limits.writingConnections)
    state = Mutex(
      State(
        shards: .init(repeating: Shard(), count: shardCount),
        shares: SourceShares(limit: limits.maximumWaitingCommits)))
  }

  /// - Parameter job: makes the job from a closure that completes the call.
  func commit<Value: Sendable>(
    _ job: (@escaping @Sendable (Result<Value, StoreError>) -> Void) -> WriteJob
  ) async throws(StoreError) -> Value {
    let outcome: Result<Value, StoreError> = await withCheckedContinuation { continuation in
      let answer = OneAnswer(continuation)
      append(job { answer.give($0) })
    }
    alarm?.note(outcome)
    return try outcome.get()
  }

  /// Refuses further jobs, and returns when no job is pending.
  func close() async {
    await withCheckedContinuation { continuation in
      let isDrained = state.withLock { state in
        state.isClosed = true
        if state.shares.pending > 0 { state.waitingForDrain.append(continuation) }
        return state.shares.pending == 0
      }
      if isDrained { continuation.resume() }
    }
  }

  /// Jobs that wait or are in flight.
  var pendingCount: Int { state.withLock { $0.shares.pending } }

  /// The index of the writer for a ``WriteJob/shardKey``.
  func shard(of key: String) -> Int { Int(UInt(bitPattern: key.hashValue) % UInt(shardCount)) }

  private func append(_ job: WriteJob) {
    let shard = shard(of: job.shardKey)
    var refusal: StoreError?
    var startsWriter = false
    var startsExpiry = false
    state.withLock { state in
      if state.isClosed {
        refusal = StoreError(.closed, "the store is closed")
      } else if !state.shares.admit(job.source) {
        refusal = StoreError(.unavailable, "too many writes are waiting")
      } else {
        state.shards[shard].waiting.append(job, items: 1, of: job.source)
        startsWriter = !state.shards[shard].isRunning
        startsExpiry = !state.isExpiring
        state.shards[shard].isRunning = true
        state.isExpiring = true
      }
    }
    if let refusal { job.fail(refusal) }
    // Detached: they serve the jobs of many calls.
    if startsWriter { Task.detached { [self] in await run(shard) } }
    if startsExpiry { Task.detached { [self] in await expire() } }
  }

  // MARK: Deadlines

  /// Answers jobs at their deadlines, until no job is pending.
  private func expire() async {
    repeat {
      try? await Task.sleep(for: Self.expiryInterval)
      let now = clock()
      let (waiting, running) = state.withLock { removeExpired(of: &$0, at: now) }
      for job in waiting { job.fail(Self.expired) }
      for job in running { job.fail(Self.unanswered) }
    } while state.withLock({ state in
      state.isExpiring = state.shares.pending > 0
      return state.isExpiring
    })
  }

  /// - Returns: the expired jobs: those that waited, which are removed, and those in flight.
  private func removeExpired(
    of state: inout State, at now: ContinuousClock.Instant
  ) -> (waiting: [WriteJob], running: [WriteJob]) {
    var waiting: [WriteJob] = []
    var running: [WriteJob] = []
    for shard in state.shards.indices {
      running += state.shards[shard].running.filter { $0.deadline <= now }
      waiting += state.shards[shard].waiting.remove { $0.deadline <= now }
    }
    removePending(waiting, &state)
    return (waiting, running)
  }

  // MARK: Writers

  private func run(_ shard: Int) async {
    while true {
      // Callers that are ready to write, such as those of the last batch, can join the next one.
      await Task.yield()
      let (batch, refused) = state.withLock { takeBatch(shard, of: &$0, at: clock()) }
      for refusal in refused { refusal.job.fail(refusal.failure) }
      var failed: [WriteJob] = []
      if let batch {
        let outcome = await work(batch)
        failed = state.withLock { settle(batch, outcome, shard, &$0, at: clock()) }
        if let failure = outcome.unreachable { for job in failed { job.fail(failure) } }
      }
      let ended = refused.map(\.job) + failed + (batch?.jobs ?? [])
      if state.withLock({ end(ended, shard, &$0) }) { return }
    }
  }

  /// Takes jobs that may share a transaction, as sources take turns. Jobs that are too old or refused
  /// by the circuit breaker are returned separately. A job that does not fit begins the next batch.
  private func takeBatch(
    _ shard: Int, of state: inout State, at now: ContinuousClock.Instant
  ) -> (batch: WriteBatch?, refused: [(job: WriteJob, failure: StoreError)]) {
    var batch = WriteBatch()
    var refused: [(WriteJob, StoreError)] = []
    var lockCount = 0
    var byteCount = 0
    var passes = 0
    let breaker = state.lockBreaker
    _ = state.shards[shard].waiting.take { job in
      let admission = breaker.admission(of: job.locks, at: now)
      let isExpired = job.deadline <= now
      if isExpired || admission == .refused {
        refused.append((job, isExpired ? Self.expired : .lockedElsewhere))
        return .take
      }
      if batch.isTrial || batch.jobs.count >= limits.maximumCommitsPerTransaction { return .end }
      let fits =
        lockCount + job.locks.count <= limits.maximumLocksPerTransaction
        && byteCount + job.byteCount <= limits.maximumBytesPerTransaction
      // The first job is taken whatever its size.
      if !batch.jobs.isEmpty, !fits || admission == .trial {
        passes += 1
        return passes < Self.maximumPasses ? .pass : .end
      }
      batch.jobs.append(job)
      lockCount += job.locks.count
      byteCount += job.byteCount
      batch.isTrial = admission == .trial
      return .take
    }
    state.shards[shard].running = batch.jobs
    if batch.isTrial { state.lockBreaker.trialStarted(batch.jobs[0].locks, at: now) }
    return (batch.jobs.isEmpty ? nil : batch, refused)
  }

  /// - Returns: waiting jobs, which fail because the database is unreachable.
  private func settle(
    _ batch: WriteBatch, _ outcome: BatchOutcome, _ shard: Int, _ state: inout State,
    at now: ContinuousClock.Instant
  ) -> [WriteJob] {
    if batch.isTrial, outcome.locked.isEmpty { state.lockBreaker.succeeded(batch.jobs[0].locks) }
    for job in outcome.locked { state.lockBreaker.failed(job.locks, at: now) }
    guard outcome.unreachable != nil else { return [] }
    return state.shards[shard].waiting.remove { _ in true }
  }

  /// - Returns: whether the writer has no more jobs.
  private func end(_ jobs: [WriteJob], _ shard: Int, _ state: inout State) -> Bool {
    state.shards[shard].running = []
    state.shards[shard].isRunning = !state.shards[shard].waiting.isEmpty
    removePending(jobs, &state)
    return !state.shards[shard].isRunning
  }

  private func removePending(_ jobs: [WriteJob], _ state: inout State) {
    for job in jobs { state.shares.ended(job.source) }
    guard state.shares.pending == 0 else { return }
    for continuation in state.waitingForDrain { continuation.resume() }
    state.waitingForDrain = []
  }

  private static let expired = StoreError(
    .unavailable, "the write did not start within its time limit; nothing was stored")
  static let unanswered = StoreError(
    .unavailable,
    "the database did not answer in time, and the outcome of the write is unknown; submitting the "
      + "same again is safe")
}

/// The caller of a job, who is answered once. An outcome after the deadline is dropped.
private final class OneAnswer<Value: Sendable>: Sendable {
  private let continuation: CheckedContinuation<Result<Value, StoreError>, Never>
  private let isGiven = Atomic(false)

  init(_ continuation: CheckedContinuation<Result<Value, StoreError>, Never>) {
    self.continuation = continuation
  }

  func give(_ outcome: Result<Value, StoreError>) {
    if isGiven.exchange(true, ordering: .relaxed) { return }
    continuation.resume(returning: outcome)
  }
}

/// Jobs that share a transaction.
struct WriteBatch: Sendable {
  var jobs: [WriteJob] = []
  /// Whether the batch is a single trial job of the ``LockCircuitBreaker``.
  var isTrial = false
}

/// The outcome of a batch as far as it affects other jobs.
struct BatchOutcome: Sendable {
  /// Jobs that failed because another session held a lock.
  var locked: [WriteJob] = []
  /// Set when the database is unreachable, which would fail waiting jobs too.
  var unreachable: StoreError?
}

/// Remembers locks that another session held, so that jobs fail fast instead of waiting for them.
/// All locks of a failed job are recorded, because the database does not report which lock was
/// not available.
///
/// Jobs that need a recorded lock fail without an attempt. After a pause, one job runs alone as a
/// trial. A customer that stays locked costs one round trip for each pause, however many jobs there
/// are.
struct LockCircuitBreaker: Sendable {
  /// How a job may run: in a shared batch, as a single trial, or not now.
  enum Admission { case shared, trial, refused }

  private struct Entry {
    var nextTrial: ContinuousClock.Instant
    var pause: Duration
  }

  /// The pause before the first trial. It doubles with each failed trial, so that thousands of
  /// locks do not keep the writers busy.
  static let firstPause: Duration = .milliseconds(100)
  static let longestPause: Duration = .seconds(2)
  /// An entry without a trial for this long expires; a batch may then wait for the lock again.
  static let expiry: Duration = .seconds(60)
  /// Above this number all entries are dropped, and batches wait for these locks again.
  static let maximumCount = 8_192

  private var entries: [String: Entry] = [:]

  func admission(of locks: [String], at now: ContinuousClock.Instant) -> Admission {
    if entries.isEmpty { return .shared }
    let found = locks.compactMap { entry(of: $0, at: now) }
    if found.isEmpty { return .shared }
    return found.allSatisfy { $0.nextTrial <= now } ? .trial : .refused
  }

  /// A trial begins. Other jobs are refused until its pause has passed.
  mutating func trialStarted(_ locks: [String], at now: ContinuousClock.Instant) {
    for lock in locks {
      guard let pause = entries[lock]?.pause else { continue }
      entries[lock]?.nextTrial = now + pause
    }
  }

  mutating func failed(_ locks: [String], at now: ContinuousClock.Instant) {
    if entries.count + locks.count > Self.maximumCount { entries = [:] }
    for lock in locks {
      let pause = entry(of: lock, at: now).map { min($0.pause * 2, Self.longestPause) }
      entries[lock] = Entry(
        nextTrial: now + (pause ?? Self.firstPause), pause: pause ?? Self.firstPause)
    }
  }

  mutating func succeeded(_ locks: [String]) {
    for lock in locks { entries[lock] = nil }
  }

  private func entry(of lock: String, at now: ContinuousClock.Instant) -> Entry? {
    entries[lock].flatMap { $0.nextTrial + Self.expiry > now ? $0 : nil }
  }
}
