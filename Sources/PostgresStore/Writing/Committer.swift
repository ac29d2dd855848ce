import EntitlementStore
import Logging
import Synchronization

/// Commits jobs together, whatever comes between: begins again what can be, finds out what became of a
/// commit whose connection was lost, and gives jobs back to be committed apart where one of them makes
/// all fail.
final class Committer: Sendable {
  private let pool: PostgresPool
  private let limits: PostgresStoreLimits
  private let logger: Logger
  private let counters: PostgresCounters
  /// What parts of a split batch are told that have no time left for a turn of their own: what is wrong
  /// with another one is none of theirs.
  private static let untried = StoreError(
    .unavailable, "a write beside it could not be stored, and there was no time left for this one")
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

  /// Answers or fails each job, unless one of them may make all fail: then they are given back.
  func commit(_ jobs: [CommitJob]) async -> CommitOutcome {
    do throws(BatchFailure) {
      for answer in try await attempt(jobs) { answer() }
      return .settled
    } catch {
      let outcome: CommitOutcome
      switch error.cause {
      case .locks:
        counters.retries.add(1, ordering: .relaxed)
        return .locked(error.failure)
      // One of them is slow, or met several locks, each for almost too long.
      case .statementTime where jobs.count > 1: return .locked(error.failure)
      // By halves, what fails is left alone with its failure.
      case .content where jobs.count > 1:
        let middle = jobs.count / 2
        return .split([Array(jobs[..<middle]), Array(jobs[middle...])], by: Self.untried)
      case .content, .statementTime, .protocolViolation: outcome = .settled
      case .time: outcome = .late(error.failure)
      case .reach: outcome = .unreachable(error.failure)
      }
      for job in jobs { job.fail(error.failure) }
      return outcome
    }
  }

  // MARK: Attempts

  private func attempt(_ jobs: [CommitJob]) async throws(BatchFailure) -> [@Sendable () -> Void] {
    var keys: Set<LedgerKey> = []
    var last = PostgresFailure(.server(.lockNotAvailable), "locks were never free")
    for attempt in 0..<max(1, limits.maximumAttempts) {
      if attempt > 0 { counters.retries.add(1, ordering: .relaxed) }
      let token = Self.newToken()
      switch try await runOnce(jobs, keys: keys, token: token) {
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
        // Whoever met a lock does not keep its lane from others by waiting for it again at once.
        let isLocked = failure.kind == .server(.lockNotAvailable)
        guard failure.isWorthAnotherAttempt, !isLocked else { throw BatchFailure(failure) }
        last = failure
      }
    }
    throw BatchFailure(last)
  }

  private func runOnce(
    _ jobs: [CommitJob], keys: Set<LedgerKey>, token: [UInt8]
  ) async throws(BatchFailure) -> CommitTransaction.Outcome {
    let former = knownTokens.withLock { $0.popLast() }
    var isFormerKept = true
    defer {
      if isFormerKept, let former { knownTokens.withLock { $0.append(former) } }
    }
    do {
      let outcome = try await pool.withSession(within: limits.writeTimeLimit) { session in
        var transaction = CommitTransaction(
          session: session, jobs: jobs, keys: keys, limits: limits)
        return try await transaction.run(token: token, formerToken: former)
      }
      switch outcome {
      case .done(_, _, let hasChanges): isFormerKept = !hasChanges
      case .unknown: isFormerKept = false
      case .locksTaken, .renumbered, .failed: break
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
    _ answers: [CommitJob.Answer], _ numbering: ChangeNumbering
  ) -> [@Sendable () -> Void] {
    answers.map { answer in { answer(numbering) } }
  }

  private static func newToken() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
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
