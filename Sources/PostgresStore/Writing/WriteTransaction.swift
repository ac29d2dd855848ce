import EntitlementDomain
import EntitlementStore

/// How long a transaction waits for each lock that others have.
enum LockWait: Sendable {
  /// For apps and tables ``PostgresStoreLimits/lockTimeLimit``, for customers
  /// ``PostgresStoreLimits/rowLockTimeLimit``.
  case patient
  /// ``PostgresStoreLimits/briefLockTimeLimit``: as good as not at all.
  case brief
}

/// One attempt to commit some jobs, on a session of its own: loads what they need under locks, lets a
/// ledger decide, writes what it decided.
///
/// Two round trips when everything needed was foreseen: begin, lock and load; write and commit.
struct WriteTransaction {
  /// How the attempt ended.
  enum Outcome {
    /// Committed, or nothing had to be: the callers can be told.
    case done([WriteJob.Answer], ChangeNumbering, hasChanges: Bool)
    /// Locks that turned out to be needed were not free: begin again with these keys known.
    case locksTaken(Set<LedgerKey>)
    /// Another transaction has a whole app and environment to itself: begin again, while there is time.
    case appTaken(PostgresFailure)
    /// The numbers that the jobs bring do not mean the same in the database any more.
    case renumbered
    /// The connection was lost when the commit had been sent.
    case unknown([WriteJob.Answer], PostgresFailure)
    /// Not committed.
    case failed(PostgresFailure)
  }

  private let session: PostgresSession
  private let jobs: ArraySlice<WriteJob>
  private let scopes: ScopeNumbers
  private let headers: HeaderNumbers
  private let wait: LockWait
  private let limits: PostgresStoreLimits
  private var keys: Set<LedgerKey>
  private var rows = LoadedRows()

  /// - Parameter keys: what the jobs will read and do not say, as an earlier attempt has found out.
  init(
    session: PostgresSession, jobs: ArraySlice<WriteJob>, keys: Set<LedgerKey>, wait: LockWait,
    limits: PostgresStoreLimits
  ) {
    self.session = session
    self.jobs = jobs
    self.wait = wait
    self.limits = limits
    self.keys = jobs.reduce(into: keys) { $0.formUnion($1.keys) }
    scopes = jobs.reduce(into: ScopeNumbers()) { $0.add($1.scopes) }
    headers = jobs.reduce(into: HeaderNumbers()) { $0.add($1.headers) }
  }

  /// - Parameters:
  ///   - token: by which it can be found out whether this was committed.
  ///   - formerToken: one that is not needed any more.
  /// - Throws: ``StoreError`` when the database holds what cannot be read, or the jobs want what it
  ///   cannot hold.
  mutating func run(token: [UInt8], formerToken: [UInt8]?) async throws(StoreError) -> Outcome {
    do throws(StoreError) {
      let outcome = try await attempt(token: token, formerToken: formerToken)
      switch outcome {
      case .locksTaken, .appTaken, .renumbered, .failed: await rollBack()
      case .done, .unknown: break
      }
      return outcome
    } catch {
      await rollBack()
      throw error
    }
  }

  /// Frees the locks before the same jobs are tried again, maybe on another connection.
  private func rollBack() async {
    // When the connection is lost the server does so by itself.
    _ = try? await session.exchange(
      [PostgresCommand(Self.rollback)], within: limits.writeTimeLimit)
  }

  private mutating func attempt(
    token: [UInt8], formerToken: [UInt8]?
  ) async throws(StoreError) -> Outcome {
    let locks = rowLocks(keys)
    if let early = try await load(
      keys, prelude: prelude(locks), locking: locks.waiting(laterWait: tableLockWait),
      areTried: false)
    {
      return early
    }
    while true {
      var ledger = Ledger(reader: rows)
      var missing: Set<LedgerKey> = []
      var answers: [WriteJob.Answer] = []
      for job in jobs {
        do {
          answers.append(try job.decide(&ledger))
        } catch let error as LedgerRowsMissing {
          missing.formUnion(error.keys)
        } catch {
          let failure = error as? StoreError ?? Self.unexpected(error)
          answers.append { _ in job.fail(failure) }
        }
      }
      if missing.isEmpty {
        return try await write(
          ledger.changes, answers, token: token, formerToken: formerToken)
      }
      keys.formUnion(missing)
      // A transaction that shares the lock of an app cannot wait to have it alone: others may do so too.
      if rowLocks(keys).wholeScopes != locks.wholeScopes { return .locksTaken(keys) }
      let further = RowLocks(missing, scopes: scopes, wholeScopes: locks.wholeScopes)
      if let early = try await load(
        missing, prelude: [], locking: further.trying, areTried: true)
      {
        return early
      }
    }
  }

  /// Begins, checks numbers, and locks apps and environments.
  private func prelude(_ locks: RowLocks) -> [PostgresCommand] {
    var commands = [PostgresCommand(Self.begin), numberCheck]
    switch wait {
    case .patient:
      // As the connection has it, until these are locked.
      commands.append(locks.scopesWaiting(rowLockWait: limits.rowLockTimeLimit))
    case .brief:
      let wait = limits.briefLockTimeLimit
      commands += [
        PostgresCommand(LockStatements.limitWaits, [.text("\(wait.wholeMilliseconds)")]),
        locks.scopesWaiting(rowLockWait: wait),
      ]
    }
    return commands
  }

  private var tableLockWait: Duration {
    switch wait {
    case .patient: limits.lockTimeLimit
    case .brief: limits.briefLockTimeLimit
    }
  }

  private func rowLocks(_ keys: Set<LedgerKey>) -> RowLocks {
    RowLocks(keys, scopes: scopes, limit: limits.maximumLockedRows)
  }

  /// Whether the numbers of apps and headers that are cached mean the same in the database: a failover
  /// may have lost the rows that gave them, and others may have got the same numbers since.
  private var numberCheck: PostgresCommand {
    let headers = headers.numbers
    let scopes = Array(scopes.numbers)
    return PostgresCommand(
      Self.checkNumbers,
      [
        .int64s(headers.map(\.number)), .byteStrings(headers.map(\.digest)),
        .int64s(scopes.map(\.value)), .texts(scopes.map(\.key.environment.rawValue)),
        .texts(scopes.map(\.key.bundleID.rawValue)),
      ])
  }

  // MARK: Loading

  /// - Parameter areTried: whether `locking` begins with the two answers of ``RowLocks/trying``.
  /// - Returns: nil when all of it is loaded.
  private mutating func load(
    _ wanted: Set<LedgerKey>, prelude: [PostgresCommand], locking: [PostgresCommand],
    areTried: Bool
  ) async throws(StoreError) -> Outcome? {
    let loader = RowLoader(wanted, scopes: scopes)
    let results: [PostgresRows]
    do throws(PostgresFailure) {
      results = try await session.exchange(
        prelude + locking + loader.commands, within: limits.writeTimeLimit)
    } catch {
      // Apps are locked by the last command of the prelude.
      let isOfApp =
        error.kind == .server(.lockNotAvailable) && error.command == prelude.count - 1
      return isOfApp && wait == .patient ? .appTaken(error) : .failed(error)
    }
    // The second command of the first exchange.
    if prelude.count > 1, try !results[1].flag(0, 0) { return .renumbered }
    let locked = results.dropFirst(prelude.count).prefix(locking.count)
    if areTried {
      for rows in locked.prefix(2) where try !rows.flag(0, 0) { return .locksTaken(keys) }
    }
    // After the rows and the accounts: what accounts were merged into.
    if let merged = locked.dropFirst(2).first, let other = try mergedTaken(merged) {
      return .locksTaken(keys.union(other))
    }
    try loader.take(results[(prelude.count + locking.count)...], into: &rows)
    return nil
  }

  /// The accounts whose locks were not free; nil when all were.
  private func mergedTaken(_ result: PostgresRows) throws(StoreError) -> Set<LedgerKey>? {
    var accounts: Set<LedgerKey> = []
    var isAnyTaken = false
    for row in 0..<result.count {
      let number = try result.number(row, 0)
      guard let scope = scopes.scope(of: number) else { continue }
      accounts.insert(.account(ScopedAccount(scope, try result.identifier(row, 1))))
      if try !result.flag(row, 2) { isAnyTaken = true }
    }
    return isAnyTaken ? accounts : nil
  }

  // MARK: Writing

  private func write(
    _ changes: LedgerChanges, _ answers: [WriteJob.Answer], token: [UInt8],
    formerToken: [UInt8]?
  ) async throws(StoreError) -> Outcome {
    if changes.isEmpty {
      // What was read is committed; the session takes the transaction back.
      return .done(answers, ChangeNumbering(base: 0), hasChanges: false)
    }
    let writer = try ChangeWriter(changes, rows: rows, scopes: scopes, headers: headers)
    let stamp = PostgresCommand(
      WriteStatements.writeToken, [.bytes(token), formerToken.map { .bytes($0) } ?? .null])
    let results: [PostgresRows]
    do throws(PostgresFailure) {
      results = try await session.exchange(
        [stamp] + writer.commands + [PostgresCommand(Self.commit)],
        within: limits.writeTimeLimit)
    } catch {
      return error.leavesCommitUnknown ? .unknown(answers, error) : .failed(error)
    }
    guard let first = results.first, results.last?.tag == "COMMIT" else {
      return .failed(PostgresFailure(.protocolViolation, "a commit was answered otherwise"))
    }
    return .done(answers, ChangeNumbering(base: try first.number(0, 0)), hasChanges: true)
  }

  private static func unexpected(_ error: any Error) -> StoreError {
    StoreError(.internalFault, "unexpected error of type \(type(of: error))")
  }

  /// Whatever the server's default: decisions rest on locks, and each statement sees what was
  /// committed before it.
  private static let begin = PostgresStatement(
    "BEGIN ISOLATION LEVEL READ COMMITTED", name: "begin")
  private static let commit = PostgresStatement("COMMIT", name: "commit")
  private static let rollback = PostgresStatement("ROLLBACK", name: "roll_back")

  /// `$1` and `$2` numbers and digests of headers, `$3` to `$5` numbers, environments and bundle ids
  /// of apps.
  static let checkNumbers = PostgresStatement(
    """
    SELECT NOT EXISTS (
        SELECT 1 FROM unnest($1::bigint[], $2::bytea[]) AS held (id, digest)
        WHERE NOT EXISTS (
          SELECT 1 FROM headers
          WHERE sha256(headers.bytes) = held.digest AND headers.id = held.id OFFSET 0))
      AND NOT EXISTS (
        SELECT 1 FROM unnest($3::bigint[], $4::text[], $5::text[])
          AS held (id, environment, bundle_id)
        WHERE NOT EXISTS (
          SELECT 1 FROM scopes
          WHERE scopes.environment = held.environment AND scopes.bundle_id = held.bundle_id
            AND scopes.id = held.id OFFSET 0))
    """, name: "check_numbers")
}
