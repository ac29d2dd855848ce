import EntitlementStore
import Logging
import Synchronization

/// Commits batches. Retries a transaction after a transient failure, and resolves the outcome of a
/// commit whose connection was lost. Splits a batch that cannot be committed as a whole in halves.
final class BatchWriter: Sendable {
  private let pool: PostgresPool
  private let limits: PostgresStoreLimits
  private let vault: PayloadVault
  private let trail: AuditTrail
  private let logger: Logger
  private let counters: PostgresCounters
  /// Called after each commit with changes.
  private let announce: @Sendable () -> Void
  /// Tokens of transactions with a known outcome. Each new transaction deletes one.
  private let resolvedTokens = Mutex<[[UInt8]]>([])

  init(
    pool: PostgresPool, limits: PostgresStoreLimits, vault: PayloadVault, trail: AuditTrail,
    logger: Logger, counters: PostgresCounters, announce: @escaping @Sendable () -> Void
  ) {
    self.pool = pool
    self.limits = limits
    self.vault = vault
    self.trail = trail
    self.logger = logger
    self.counters = counters
    self.announce = announce
  }

  /// Answers or fails each job of a batch.
  func commit(_ batch: WriteBatch) async -> BatchOutcome {
    var outcome = BatchOutcome()
    await commit(batch.jobs[...], batch.isTrial ? .brief : .normal, &outcome)
    return outcome
  }

  /// Splits a batch that cannot be committed in halves, recursively, until the job that causes the
  /// failure is alone and fails. The halves do not wait for locks, because the whole batch already
  /// has.
  private func commit(
    _ jobs: ArraySlice<WriteJob>, _ wait: LockWait, _ outcome: inout BatchOutcome
  ) async {
    do throws(BatchFailure) {
      for answer in try await attempt(jobs, wait) { answer() }
    } catch {
      if jobs.count > 1, error.mayBeCausedByOneJob {
        counters.retries.add(1, ordering: .relaxed)
        let middle = jobs.startIndex + jobs.count / 2
        for half in [jobs[..<middle], jobs[middle...]] { await commitPart(half, &outcome) }
        return
      }
      if error.cause == .locks { outcome.locked += jobs }
      if error.cause == .unreachable { outcome.unreachable = error.failure }
      for job in jobs { job.fail(error.failure) }
    }
  }

  private func commitPart(_ jobs: ArraySlice<WriteJob>, _ outcome: inout BatchOutcome) async {
    let isLate = Self.deadline(of: jobs) <= .now
    if let failure = outcome.unreachable ?? (isLate ? Self.notAttempted : nil) {
      for job in jobs { job.fail(failure) }
    } else {
      await commit(jobs, .brief, &outcome)
    }
  }

  /// The latest deadline of the jobs: until then it is worth the effort for one of them.
  private static func deadline(of jobs: ArraySlice<WriteJob>) -> ContinuousClock.Instant {
    jobs.lazy.map(\.deadline).max() ?? .now
  }

  /// The failure of halves that were not attempted in time. It does not contain the failure
  /// of another caller's job.
  private static let notAttempted = StoreError(
    .unavailable, "another write of the batch failed, and no time was left for this one")

  // MARK: Attempts

  private func attempt(
    _ jobs: ArraySlice<WriteJob>, _ wait: LockWait
  ) async throws(BatchFailure) -> [@Sendable () -> Void] {
    var keys: Set<LedgerKey> = []
    var last = PostgresFailure(.server(.lockNotAvailable), "the locks were not available")
    let deadline = Self.deadline(of: jobs)
    for attempt in 0..<max(1, limits.maximumAttempts) {
      if attempt > 0 {
        guard deadline > .now else { break }
        counters.retries.add(1, ordering: .relaxed)
      }
      let token = Self.newToken()
      switch try await run(jobs, wait, keys: keys, token: token) {
      case .done(let answers, let numbering, let hasChanges):
        counters.batches.add(1, ordering: .relaxed)
        counters.jobs.add(jobs.count, ordering: .relaxed)
        if hasChanges {
          resolvedTokens.withLock { $0.append(token) }
          announce()
        }
        return Self.bind(answers, numbering)
      case .locksUnavailable(let needed):
        keys = needed
      case .scopeLockUnavailable(let failure):
        guard deadline > .now else { throw BatchFailure(failure) }
        last = failure
      case .staleIDs:
        return jobs.map(\.refreshIDs)
      case .unknown(let answers, let failure):
        logger.warning(
          "the connection was lost during a commit", metadata: ["reason": "\(failure)"])
        guard let base = try await resolve(token) else {
          last = failure
          continue
        }
        announce()
        return Self.bind(answers, ChangeNumbering(base: base))
      case .failed(let failure):
        // A lock is waited for only once, because other jobs wait for the writer.
        let isLocked = failure.kind == .server(.lockNotAvailable)
        guard failure.isRetryable, !isLocked else { throw BatchFailure(failure) }
        last = failure
      }
    }
    throw BatchFailure(last)
  }

  private func run(
    _ jobs: ArraySlice<WriteJob>, _ wait: LockWait, keys: Set<LedgerKey>, token: [UInt8]
  ) async throws(BatchFailure) -> WriteTransaction.Outcome {
    let former = resolvedTokens.withLock { $0.popLast() }
    var isFormerKept = true
    defer {
      if isFormerKept, let former { resolvedTokens.withLock { $0.append(former) } }
    }
    do {
      let outcome = try await pool.withSession(within: limits.exchangeTimeLimit) { session in
        var transaction = WriteTransaction(
          session: session, jobs: jobs, keys: keys, wait: wait, limits: limits,
          vault: vault, trail: trail)
        return try await transaction.run(token: token, formerToken: former)
      }
      switch outcome {
      case .done(_, _, let hasChanges): isFormerKept = !hasChanges
      case .unknown: isFormerKept = false
      case .locksUnavailable, .scopeLockUnavailable, .staleIDs, .failed: break
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

  /// Determines whether a transaction was committed, and prevents a later commit: inserts its
  /// token, which is unique. The insert waits for the transaction if it still runs.
  ///
  /// - Returns: the base of its sequence numbers; nil when it was not committed and never will be.
  private func resolve(_ token: [UInt8]) async throws(BatchFailure) -> Int64? {
    let deadline = ContinuousClock.now + limits.resolutionTimeLimit
    var timeLeft: Duration {
      min(limits.exchangeTimeLimit, ContinuousClock.now.duration(to: deadline))
    }
    while timeLeft > .zero {
      do {
        let base = try await pool.withSession(within: timeLeft) { session in
          let results = try await session.exchange(
            [PostgresCommand(Self.claimToken, [.bytes(token)])], within: timeLeft)
          return try results[0].number(0, 0)
        }
        counters.resolvedCommits.add(1, ordering: .relaxed)
        return base == 0 ? nil : base
      } catch {
        logger.warning(
          "the outcome of a commit is still unknown", metadata: ["reason": "\(error)"])
        // A pause between attempts that fail at once.
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
    throw .unresolved
  }

  /// Writes in either case, so that its commit waits for synchronous standbys too. An outcome that
  /// was returned can then not be lost with the primary.
  static let claimToken = PostgresStatement(
    """
    INSERT INTO commit_tokens (token, base, writer_schema)
    VALUES ($1::bytea, 0, \(WriteStatements.schemaVersion))
    ON CONFLICT (token) DO UPDATE SET token = excluded.token
    RETURNING base
    """, name: "claim_token")
}

/// Why no attempt to commit some jobs succeeded.
struct BatchFailure: Error {
  enum Cause {
    /// The database is reachable, and refuses the content of a job.
    case rejection
    /// A lock timeout.
    case locks
    /// A statement exceeded the server's time limit.
    case statementTimeout
    /// No answer came in time, or the outcome is unknown.
    case timeout
    /// No connection can be made.
    case unreachable
    case protocolViolation
  }

  let failure: StoreError
  let cause: Cause

  /// Whether the other jobs may succeed without one of the jobs.
  var mayBeCausedByOneJob: Bool {
    switch cause {
    case .rejection, .locks, .statementTimeout: true
    case .timeout, .unreachable, .protocolViolation: false
    }
  }

  init(_ failure: StoreError, cause: Cause = .rejection) {
    self.failure = failure
    self.cause = cause
  }

  init(_ failure: PostgresFailure) {
    self.failure = StoreError(translating: failure)
    cause =
      switch failure.kind {
      case .server(.lockNotAvailable): .locks
      case .server(.queryCanceled): .statementTimeout
      // The last attempt found a server that shuts down or became a standby.
      case .server where failure.isPrimaryLost: .timeout
      case .server: .rejection
      case .connectionLost, .timedOut, .overloaded, .cancelled: .timeout
      case .cannotConnect, .poolTimedOut, .closed: .unreachable
      case .protocolViolation: .protocolViolation
      }
  }

  static let unresolved = BatchFailure(
    StoreError(
      .unavailable,
      "the connection was lost during a commit, and its outcome is unknown; submitting the same "
        + "again is safe"), cause: .timeout)
}
