import EntitlementStore
import Synchronization

/// A write that waits for its transaction, which it may share with others.
final class WriteJob: Sendable {
  /// Tells the caller, when the transaction is committed.
  typealias Answer = @Sendable (ChangeNumbering) -> Void

  /// Who sent it; nil while the service does not tell its callers apart. It has no effect yet: jobs are
  /// taken in the order in which they came.
  let caller: String?
  /// What it will probably read.
  let keys: Set<LedgerKey>
  /// The numbers of all apps and environments that it can come to.
  let scopes: ScopeNumbers
  /// The numbers of the headers that it brings.
  let headers: HeaderNumbers
  /// What it will lock, as far as ``keys`` tell, without duplicates.
  let locks: [String]
  /// Of payloads and documents.
  let byteCount: Int
  let submittedAt: ContinuousClock.Instant
  /// May run several times; only what the last time decided is written.
  let decide: @Sendable (inout Ledger<LoadedRows>) throws -> Answer
  let fail: @Sendable (StoreError) -> Void
  /// Called in place of `fail` when the numbers do not mean the same in the database any more.
  let renumber: @Sendable () -> Void

  init(
    from caller: String? = nil, keys: Set<LedgerKey>, scopes: ScopeNumbers, headers: HeaderNumbers,
    byteCount: Int, submittedAt: ContinuousClock.Instant = .now,
    decide: @escaping @Sendable (inout Ledger<LoadedRows>) throws -> Answer,
    fail: @escaping @Sendable (StoreError) -> Void,
    renumber: @escaping @Sendable () -> Void
  ) {
    self.caller = caller
    self.keys = keys
    self.scopes = scopes
    self.headers = headers
    self.byteCount = byteCount
    self.submittedAt = submittedAt
    self.decide = decide
    self.fail = fail
    self.renumber = renumber
    locks = Array(Set(keys.map { LockName.of($0, scopes) }))
  }

  /// What chooses the writer: the chain with its app, of several the least one. Without a chain it is the
  /// account, or else another lock.
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

/// Lets concurrent writes share transactions. Round trips and the disk's flush are most of what a commit
/// costs.
///
/// There are several writers, each with a queue of its own and one transaction at a time. The hash of the
/// chain chooses the writer: writes of one chain share a transaction or follow each other, instead of
/// waiting for each other in the database. Writes that arrive while a writer is at work make up its next
/// batch. ``BatchWriter`` commits it.
///
/// A batch waits once for a lock that another session has. ``LockedNames`` remembers it, so that no
/// further batch does.
final class WriteQueue: Sendable {
  /// Commits a batch, and answers or fails each of its jobs.
  typealias Work = @Sendable (WriteBatch) async -> BatchOutcome

  private struct Shard {
    /// The first has waited longest.
    var waiting: [WriteJob] = []
    var isAtWork = false
  }

  private struct State {
    var shards: [Shard]
    /// Jobs that wait or are under way.
    var pending = 0
    var lockedNames = LockedNames()
    var isClosed = false
    var waitingForDrain: [CheckedContinuation<Void, Never>] = []
  }

  private let limits: PostgresStoreLimits
  private let clock: @Sendable () -> ContinuousClock.Instant
  private let work: Work
  private let shardCount: Int
  private let state: Mutex<State>

  init(
    limits: PostgresStoreLimits,
    clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, work: @escaping Work
  ) {
    self.limits = limits
    self.clock = clock
    self.work = work
    shardCount = max(1, limits.writingConnections)
    state = Mutex(State(shards: .init(repeating: Shard(), count: shardCount)))
  }

  /// - Parameter job: makes the job, given how to tell its outcome.
  func commit<Value: Sendable>(
    _ job: (@escaping @Sendable (Result<Value, StoreError>) -> Void) -> WriteJob
  ) async throws(StoreError) -> Value {
    let outcome: Result<Value, StoreError> = await withCheckedContinuation { continuation in
      append(job { continuation.resume(returning: $0) })
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

  /// Which writer takes jobs of a ``WriteJob/shardKey``.
  func shard(of key: String) -> Int { Int(UInt(bitPattern: key.hashValue) % UInt(shardCount)) }

  private func append(_ job: WriteJob) {
    let shard = shard(of: job.shardKey)
    let (refusal, startsWriter): (StoreError?, Bool) = state.withLock { state in
      if state.isClosed { return (StoreError(.closed, "the store is closed"), false) }
      if state.pending >= limits.maximumWaitingCommits {
        return (StoreError(.unavailable, "too many commits are waiting"), false)
      }
      state.pending += 1
      state.shards[shard].waiting.append(job)
      defer { state.shards[shard].isAtWork = true }
      return (nil, !state.shards[shard].isAtWork)
    }
    if let refusal { job.fail(refusal) }
    if startsWriter { Task { await run(shard) } }
  }

  // MARK: Writers

  private func run(_ shard: Int) async {
    while true {
      // Callers that are ready to write, such as those that the last batch answered, join this one.
      await Task.yield()
      let (batch, refused) = state.withLock { takeBatch(shard, of: &$0, at: clock()) }
      for refusal in refused { refusal.job.fail(refusal.failure) }
      var failed: [WriteJob] = []
      if let batch {
        let outcome = await work(batch)
        failed = state.withLock { settle(batch, outcome, shard, &$0, at: clock()) }
        if let failure = outcome.unreachable { for job in failed { job.fail(failure) } }
      }
      let ended = refused.count + failed.count + (batch?.jobs.count ?? 0)
      if state.withLock({ end(ended, shard, &$0) }) { return }
    }
  }

  /// Takes the oldest jobs, as many as may share a transaction, and jobs before them that fail without an
  /// attempt.
  private func takeBatch(
    _ shard: Int, of state: inout State, at now: ContinuousClock.Instant
  ) -> (batch: WriteBatch?, refused: [(job: WriteJob, failure: StoreError)]) {
    var batch = WriteBatch()
    var refused: [(WriteJob, StoreError)] = []
    var lockCount = 0
    var byteCount = 0
    var taken = 0
    for job in state.shards[shard].waiting {
      let turn = state.lockedNames.turn(of: job.locks, at: now)
      let isLate = job.submittedAt + limits.writeTimeLimit <= now
      if isLate || turn == .refused {
        refused.append((job, isLate ? Self.late : .lockedElsewhere))
        taken += 1
        continue
      }
      lockCount += job.locks.count
      byteCount += job.byteCount
      let isFull =
        batch.jobs.count >= limits.maximumCommitsPerTransaction
        || lockCount > limits.maximumLocksPerTransaction
        || byteCount > limits.maximumBytesPerTransaction
      // The first one goes whatever its size is.
      if !batch.jobs.isEmpty, isFull || turn == .alone { break }
      batch.jobs.append(job)
      taken += 1
      if turn == .alone {
        batch.isProbe = true
        break
      }
    }
    state.shards[shard].waiting.removeFirst(taken)
    if batch.isProbe { state.lockedNames.willBeTried(batch.jobs[0].locks, at: now) }
    return (batch.jobs.isEmpty ? nil : batch, refused)
  }

  /// - Returns: jobs that wait, and are to be told that the database cannot be reached.
  private func settle(
    _ batch: WriteBatch, _ outcome: BatchOutcome, _ shard: Int, _ state: inout State,
    at now: ContinuousClock.Instant
  ) -> [WriteJob] {
    if batch.isProbe, outcome.locked.isEmpty { state.lockedNames.becameFree(batch.jobs[0].locks) }
    for job in outcome.locked { state.lockedNames.wereLocked(job.locks, at: now) }
    guard outcome.unreachable != nil else { return [] }
    defer { state.shards[shard].waiting = [] }
    return state.shards[shard].waiting
  }

  /// - Returns: whether nothing waits for the writer any more.
  private func end(_ count: Int, _ shard: Int, _ state: inout State) -> Bool {
    state.pending -= count
    if state.pending == 0 {
      for continuation in state.waitingForDrain { continuation.resume() }
      state.waitingForDrain = []
    }
    state.shards[shard].isAtWork = !state.shards[shard].waiting.isEmpty
    return !state.shards[shard].isAtWork
  }

  private static let late = StoreError(.unavailable, "the write could not begin in time")
}

/// Jobs that share a transaction.
struct WriteBatch: Sendable {
  var jobs: [WriteJob] = []
  /// Whether it is a single job that tries locks of ``LockedNames``.
  var isProbe = false
}

/// What became of a batch, as far as it concerns other jobs.
struct BatchOutcome: Sendable {
  /// Jobs that failed because another session had a lock.
  var locked: [WriteJob] = []
  /// Set when the database cannot be reached. Waiting jobs would meet the same.
  var unreachable: StoreError?
}

/// Locks that another session had when they were last tried, and the other locks of the same jobs, since
/// the database does not tell which one was not free.
///
/// Jobs that want one of these locks fail without an attempt. After a pause one job tries, alone. So a
/// customer who stays locked costs a round trip for each pause, however many jobs there are.
struct LockedNames: Sendable {
  enum Turn { case shared, alone, refused }

  private struct Entry {
    var nextTry: ContinuousClock.Instant
    var pause: Duration
  }

  /// Between two tries; doubled each time, so that thousands of locks do not keep the writers busy.
  static let firstPause: Duration = .milliseconds(100)
  static let longestPause: Duration = .seconds(2)
  /// An entry that was not tried for so long counts no more: a batch may wait for the lock again.
  static let memory: Duration = .seconds(60)
  /// When there would be more, all are forgotten: batches wait for these locks once more.
  static let maximumCount = 8_192

  private var entries: [String: Entry] = [:]

  func turn(of locks: [String], at now: ContinuousClock.Instant) -> Turn {
    if entries.isEmpty { return .shared }
    let found = locks.compactMap { entry(of: $0, at: now) }
    if found.isEmpty { return .shared }
    return found.allSatisfy { $0.nextTry <= now } ? .alone : .refused
  }

  /// A job is going to try them. Others do not meanwhile.
  mutating func willBeTried(_ locks: [String], at now: ContinuousClock.Instant) {
    for lock in locks {
      guard let pause = entries[lock]?.pause else { continue }
      entries[lock]?.nextTry = now + pause
    }
  }

  mutating func wereLocked(_ locks: [String], at now: ContinuousClock.Instant) {
    if entries.count + locks.count > Self.maximumCount { entries = [:] }
    for lock in locks {
      let pause = entry(of: lock, at: now).map { min($0.pause * 2, Self.longestPause) }
      entries[lock] = Entry(
        nextTry: now + (pause ?? Self.firstPause), pause: pause ?? Self.firstPause)
    }
  }

  mutating func becameFree(_ locks: [String]) {
    for lock in locks { entries[lock] = nil }
  }

  private func entry(of lock: String, at now: ContinuousClock.Instant) -> Entry? {
    entries[lock].flatMap { $0.nextTry + Self.memory > now ? $0 : nil }
  }
}
