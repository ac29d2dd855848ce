import EntitlementStore
import Logging
import Synchronization

/// Commits batches. A transaction that failed in passing is begun again. The outcome of a commit whose
/// connection was lost is found out. A batch that cannot be committed as a whole is committed by halves.
final class BatchWriter: Sendable {
  private let pool: PostgresPool
  private let limits: PostgresStoreLimits
  private let logger: Logger
  private let counters: PostgresCounters
  /// Called after each commit that changed something.
  private let announce: @Sendable () -> Void
  /// Tokens of transactions whose outcome is known: each new transaction takes one away.
  private let knownTokens = Mutex<[[UInt8]]>([])

  init(
    pool: PostgresPool, limits: PostgresStoreLimits, logger: Logger, counters: PostgresCounters,
    announce: @escaping @Sendable () -> Void
  ) {
    self.pool = pool
    self.limits = limits
    self.logger = logger
    self.counters = counters
    self.announce = announce
  }

  /// Answers or fails each job of a batch.
  func commit(_ batch: WriteBatch) async -> BatchOutcome {
    var outcome = BatchOutcome()
    await commit(batch.jobs[...], batch.isProbe ? .brief : .patient, &outcome)
    return outcome
  }

  /// Splits what cannot be committed in halves, and so on, until the job that makes it fail is alone and
  /// fails. Parts do not wait for locks, since the whole batch has.
  private func commit(
    _ jobs: ArraySlice<WriteJob>, _ wait: LockWait, _ outcome: inout BatchOutcome
  ) async {
    do throws(BatchFailure) {
      for answer in try await attempt(jobs, wait) { answer() }
    } catch {
      if jobs.count > 1, error.mayConcernOne {
        counters.retries.add(1, ordering: .relaxed)
        let middle = jobs.startIndex + jobs.count / 2
        for half in [jobs[..<middle], jobs[middle...]] { await commitPart(half, &outcome) }
        return
      }
      if error.cause == .locks { outcome.locked += jobs }
      if error.cause == .reach { outcome.unreachable = error.failure }
      for job in jobs { job.fail(error.failure) }
    }
  }

  private func commitPart(_ jobs: ArraySlice<WriteJob>, _ outcome: inout BatchOutcome) async {
    let now = ContinuousClock.now
    let isLate = jobs.allSatisfy { $0.submittedAt + limits.writeTimeLimit <= now }
    if let failure = outcome.unreachable ?? (isLate ? Self.untried : nil) {
      for job in jobs { job.fail(failure) }
    } else {
      await commit(jobs, .brief, &outcome)
    }
  }

  /// The failure of parts that were not tried in time. What is wrong with another job is not told to
  /// their callers.
  private static let untried = StoreError(
    .unavailable, "a write beside it could not be stored, and there was no time left for this one")

  // MARK: Attempts

  private func attempt(
    _ jobs: ArraySlice<WriteJob>, _ wait: LockWait
  ) async throws(BatchFailure) -> [@Sendable () -> Void] {
    var keys: Set<LedgerKey> = []
    var last = PostgresFailure(.server(.lockNotAvailable), "locks were never free")
    for attempt in 0..<max(1, limits.maximumAttempts) {
      if attempt > 0 { counters.retries.add(1, ordering: .relaxed) }
      let token = Self.newToken()
      switch try await runOnce(jobs, wait, keys: keys, token: token) {
      case .done(let answers, let numbering, let hasChanges):
        counters.batches.add(1, ordering: .relaxed)
        counters.jobs.add(jobs.count, ordering: .relaxed)
        if hasChanges {
          knownTokens.withLock { $0.append(token) }
          announce()
        }
        return Self.bind(answers, numbering)
      case .locksTaken(let needed):
        keys = needed
      case .appTaken(let failure):
        guard let job = jobs.first, job.submittedAt + limits.writeTimeLimit > .now else {
          throw BatchFailure(failure)
        }
        last = failure
      case .renumbered:
        return jobs.map(\.renumber)
      case .unknown(let answers, let failure):
        logger.warning(
          "connection lost in the middle of a commit", metadata: ["reason": "\(failure)"])
        guard let base = try await resolve(token) else {
          last = failure
          continue
        }
        announce()
        return Self.bind(answers, ChangeNumbering(base: base))
      case .failed(let failure):
        // A lock that was waited for is not waited for again: other jobs wait for the writer.
        let isLocked = failure.kind == .server(.lockNotAvailable)
        guard failure.isWorthAnotherAttempt, !isLocked else { throw BatchFailure(failure) }
        last = failure
      }
    }
    throw BatchFailure(last)
  }

  private func runOnce(
    _ jobs: ArraySlice<WriteJob>, _ wait: LockWait, keys: Set<LedgerKey>, token: [UInt8]
  ) async throws(BatchFailure) -> WriteTransaction.Outcome {
    let former = knownTokens.withLock { $0.popLast() }
    var isFormerKept = true
    defer {
      if isFormerKept, let former { knownTokens.withLock { $0.append(former) } }
    }
    do {
      let outcome = try await pool.withSession(within: limits.writeTimeLimit) { session in
        var transaction = WriteTransaction(
          session: session, jobs: jobs, keys: keys, wait: wait, limits: limits)
        return try await transaction.run(token: token, formerToken: former)
      }
      switch outcome {
      case .done(_, _, let hasChanges): isFormerKept = !hasChanges
      case .unknown: isFormerKept = false
      case .locksTaken, .appTaken, .renumbered, .failed: break
      }
      return outcome
    } catch let error as PostgresFailure {
      return .failed(error)
    } catch {
      throw BatchFailure(
        error as? StoreError
          ?? StoreError(.internalFault, "unexpected error of type \(type(of: error))"))
    }
  }

  private static func bind(
    _ answers: [WriteJob.Answer], _ numbering: ChangeNumbering
  ) -> [@Sendable () -> Void] {
    answers.map { answer in { answer(numbering) } }
  }

  private static func newToken() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    let words: (UInt64, UInt64) = (generator.next(), generator.next())
    return withUnsafeBytes(of: words) { Array($0) }
  }

  // MARK: Unknown outcomes

  /// Finds out whether a transaction was committed, and keeps it from being committed later: writes
  /// its token, which waits for it should it still run, and of which there can be only one.
  ///
  /// - Returns: the base of its numbers; nil when it was not committed and never will be.
  private func resolve(_ token: [UInt8]) async throws(BatchFailure) -> Int64? {
    let deadline = ContinuousClock.now + limits.resolutionTimeLimit
    var left: Duration { min(limits.writeTimeLimit, ContinuousClock.now.duration(to: deadline)) }
    while left > .zero {
      do {
        let base = try await pool.withSession(within: left) { session in
          let results = try await session.exchange(
            [PostgresCommand(Self.claimToken, [.bytes(token)])], within: left)
          return try results[0].number(0, 0)
        }
        counters.resolvedCommits.add(1, ordering: .relaxed)
        return base == 0 ? nil : base
      } catch {
        logger.warning(
          "the outcome of a commit is not known yet", metadata: ["reason": "\(error)"])
        // A pause, so that a database that refuses at once is not asked without end.
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
    throw .unresolved
  }

  /// Writes in either case: the answer waits for whatever a commit waits for, such as a synchronous
  /// standby, so that what it tells of cannot be lost with the primary.
  static let claimToken = PostgresStatement(
    """
    INSERT INTO commit_tokens (token, base) VALUES ($1::bytea, 0)
    ON CONFLICT (token) DO UPDATE SET token = excluded.token
    RETURNING base
    """, name: "claim_token")
}

/// Why no attempt to commit some jobs succeeded.
struct BatchFailure: Error {
  enum Cause {
    /// The database is in reach, and refuses something of what the jobs want.
    case content
    /// A lock was not free for as long as it is waited for.
    case locks
    /// A statement was not done in time.
    case statementTime
    /// There was no answer in time, or none that tells the outcome.
    case time
    /// There is no connection, nor will there be one soon.
    case reach
    case protocolViolation
  }

  let failure: StoreError
  let cause: Cause

  /// Whether the others may well be committed without one of the jobs.
  var mayConcernOne: Bool {
    switch cause {
    case .content, .locks, .statementTime: true
    case .time, .reach, .protocolViolation: false
    }
  }

  init(_ failure: StoreError, cause: Cause = .content) {
    self.failure = failure
    self.cause = cause
  }

  init(_ failure: PostgresFailure) {
    self.failure = StoreError(translating: failure)
    cause =
      switch failure.kind {
      case .server(.lockNotAvailable): .locks
      case .server(.queryCanceled): .statementTime
      // It stops, or is a standby since: what it said on the last attempt.
      case .server where failure.isServerLeaving: .time
      case .server: .content
      case .connectionLost, .timedOut, .overloaded, .cancelled: .time
      case .cannotConnect, .poolTimedOut, .closed: .reach
      case .protocolViolation: .protocolViolation
      }
  }

  static let unresolved = BatchFailure(
    StoreError(
      .unavailable,
      "the connection was lost in the middle of a commit, and whether it was done could not be "
        + "found out; submitting the same again is safe"), cause: .time)
}
