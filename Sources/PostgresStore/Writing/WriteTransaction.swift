import EntitlementDomain
import EntitlementStore

/// The lock timeouts of a transaction.
enum LockWait: Sendable {
  /// ``PostgresStoreLimits/lockTimeLimit`` for apps and tables,
  /// ``PostgresStoreLimits/rowLockTimeLimit`` for customers.
  case normal
  /// ``PostgresStoreLimits/briefLockTimeLimit`` for all locks, which is nearly no wait.
  case brief
}

/// One attempt to commit some jobs on a session: loads the rows they need under locks, lets a
/// ledger decide, and writes the decisions.
///
/// Takes two round trips when all rows were foreseen: begin, lock and load; write and commit.
struct WriteTransaction {
  /// How the attempt ended.
  enum Outcome {
    /// Committed, or nothing to write. The callers can be answered.
    case done([WriteJob.Answer], ChangeNumbering, hasChanges: Bool)
    /// Further locks were needed and not available. Retry with these keys known from the start.
    case locksUnavailable(Set<LedgerKey>)
    /// Another transaction holds an app and environment exclusively. Retry within the time limit.
    case scopeLockUnavailable(PostgresFailure)
    /// The cached ids of the jobs are no longer valid in the database.
    case staleIDs
    /// The connection was lost after the commit was sent.
    case unknown([WriteJob.Answer], PostgresFailure)
    /// Not committed.
    case failed(PostgresFailure)
  }

  private let session: PostgresSession
  private let jobs: ArraySlice<WriteJob>
  private let scopes: PostgresScopeIDs
  private let headers: HeaderIDs
  private let wait: LockWait
  private let limits: PostgresStoreLimits
  private let vault: PayloadVault
  private let trail: AuditTrail
  private var keys: Set<LedgerKey>
  private var rows = LoadedRows()

  /// - Parameter keys: keys in addition to those of the jobs, found by an earlier attempt.
  init(
    session: PostgresSession, jobs: ArraySlice<WriteJob>, keys: Set<LedgerKey>, wait: LockWait,
    limits: PostgresStoreLimits, vault: PayloadVault, trail: AuditTrail
  ) {
    self.session = session
    self.vault = vault
    self.trail = trail
    self.jobs = jobs
    self.wait = wait
    self.limits = limits
    self.keys = jobs.reduce(into: keys) { $0.formUnion($1.keys) }
    scopes = jobs.reduce(into: PostgresScopeIDs()) { $0.add($1.scopes) }
    headers = jobs.reduce(into: HeaderIDs()) { $0.add($1.headers) }
  }

  /// - Parameters:
  ///   - token: identifies the transaction, so that its outcome can be resolved.
  ///   - formerToken: a token that is no longer needed and is deleted.
  /// - Throws: ``StoreError`` when a stored value cannot be decoded, or a job cannot be stored.
  mutating func run(token: [UInt8], formerToken: [UInt8]?) async throws(StoreError) -> Outcome {
    do throws(StoreError) {
      let outcome = try await attempt(token: token, formerToken: formerToken)
      switch outcome {
      case .locksUnavailable, .scopeLockUnavailable, .staleIDs, .failed: await rollBack()
      case .done, .unknown: break
      }
      return outcome
    } catch {
      await rollBack()
      throw error
    }
  }

  /// Releases the locks before the jobs are retried, possibly on another connection.
  private func rollBack() async {
    // The server rolls back itself when the connection is lost.
    _ = try? await session.exchange(
      [PostgresCommand(Self.rollback)], within: limits.exchangeTimeLimit)
  }

  private mutating func attempt(
    token: [UInt8], formerToken: [UInt8]?
  ) async throws(StoreError) -> Outcome {
    let locks = rowLocks(keys)
    if let early = try await load(
      keys, prelude: prelude(locks),
      locking: locks.blockingLocks(tableLockTimeout: tableLockTimeout), isNonblocking: false)
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
      // A shared scope lock cannot be upgraded to an exclusive one: two transactions that try it
      // would deadlock.
      if rowLocks(keys).exclusiveScopes != locks.exclusiveScopes { return .locksUnavailable(keys) }
      let further = RowLocks(missing, scopes: scopes, exclusiveScopes: locks.exclusiveScopes)
      if let early = try await load(
        missing, prelude: [], locking: further.tryLocks, isNonblocking: true)
      {
        return early
      }
    }
  }

  /// Begins the transaction, checks the cached ids, and locks apps and environments.
  private func prelude(_ locks: RowLocks) -> [PostgresCommand] {
    var commands = [PostgresCommand(Self.begin), idCheck]
    switch wait {
    case .normal:
      // The scope locks use the lock timeout of the connection.
      commands.append(locks.scopeLocks(rowLockTimeout: limits.rowLockTimeLimit))
    case .brief:
      let wait = limits.briefLockTimeLimit
      commands += [
        PostgresCommand(LockStatements.setLockTimeout, [.text("\(wait.settingMilliseconds)")]),
        locks.scopeLocks(rowLockTimeout: wait),
      ]
    }
    return commands
  }

  private var tableLockTimeout: Duration {
    switch wait {
    case .normal: limits.lockTimeLimit
    case .brief: limits.briefLockTimeLimit
    }
  }

  private func rowLocks(_ keys: Set<LedgerKey>) -> RowLocks {
    RowLocks(keys, scopes: scopes, limit: limits.maximumLockedRows)
  }

  /// Checks that the cached ids of apps and headers are valid in the database. A failover may have lost
  /// their rows, and the ids may have been reassigned since.
  private var idCheck: PostgresCommand {
    let headers = headers.ids
    let scopes = Array(scopes.ids)
    return PostgresCommand(
      Self.checkIDs,
      [
        .int64s(headers.map(\.id)), .byteStrings(headers.map(\.digest)),
        .int64s(scopes.map(\.value)), .texts(scopes.map(\.key.environment.rawValue)),
        .texts(scopes.map(\.key.bundleID.rawValue)),
      ])
  }

  // MARK: Loading

  /// - Parameter isNonblocking: whether `locking` begins with the two results of
  ///   ``RowLocks/tryLocks``.
  /// - Returns: nil when everything is loaded.
  private mutating func load(
    _ wanted: Set<LedgerKey>, prelude: [PostgresCommand], locking: [PostgresCommand],
    isNonblocking: Bool
  ) async throws(StoreError) -> Outcome? {
    let loader = RowLoader(wanted, scopes: scopes, vault: vault)
    let results: [PostgresRows]
    do throws(PostgresFailure) {
      results = try await session.exchange(
        prelude + locking + loader.commands, within: limits.exchangeTimeLimit)
    } catch {
      // The last command of the prelude locks apps and environments.
      let isScopeLock =
        error.kind == .server(.lockNotAvailable) && error.command == prelude.count - 1
      return isScopeLock && wait == .normal ? .scopeLockUnavailable(error) : .failed(error)
    }
    // The result of `checkIDs`, the second command of the first exchange.
    if prelude.count > 1, try !results[1].flag(0, 0) { return .staleIDs }
    let locked = results.dropFirst(prelude.count).prefix(locking.count)
    if isNonblocking {
      for rows in locked.prefix(2) where try !rows.flag(0, 0) { return .locksUnavailable(keys) }
    }
    // The third result: the accounts that locked accounts were merged into.
    if let merged = locked.dropFirst(2).first, let other = try unavailableMergedAccounts(merged) {
      return .locksUnavailable(keys.union(other))
    }
    try loader.take(results[(prelude.count + locking.count)...], into: &rows)
    return nil
  }

  /// The merged accounts, if any of their locks was not available; nil when all were.
  private func unavailableMergedAccounts(
    _ result: PostgresRows
  ) throws(StoreError) -> Set<LedgerKey>? {
    var accounts: Set<LedgerKey> = []
    var isAnyUnavailable = false
    for row in 0..<result.count {
      guard let scope = scopes.scope(of: try result.number(row, 0)) else { continue }
      accounts.insert(.account(ScopedAccount(scope, try result.identifier(row, 1))))
      if try !result.flag(row, 2) { isAnyUnavailable = true }
    }
    return isAnyUnavailable ? accounts : nil
  }

  // MARK: Writing

  private func write(
    _ changes: LedgerChanges, _ answers: [WriteJob.Answer], token: [UInt8],
    formerToken: [UInt8]?
  ) async throws(StoreError) -> Outcome {
    if changes.isEmpty {
      // Nothing to write. The session rolls back when it is returned.
      return .done(answers, ChangeNumbering(base: 0), hasChanges: false)
    }
    let writer = try ChangeWriter(
      changes, rows: rows, scopes: scopes, headers: headers, vault: vault)
    var answers = answers
    var commands = writer.commands
    if !changes.audits.isEmpty {
      // A round trip more, for audited calls and for the writes that share their transaction.
      let audit: AuditWriter
      do {
        audit = try await AuditWriter.begin(
          changes.audits, trail: trail, scopes: scopes, session: session,
          within: limits.writeTimeLimit)
      } catch let error as PostgresFailure {
        return .failed(error)
      } catch {
        throw error as? StoreError ?? Self.unexpected(error)
      }
      commands += audit.commands
      // First of the answers: the entries are passed on before their calls are answered.
      answers.insert({ [trail] _ in trail.committed(audit.entries) }, at: 0)
    }
    let stamp = PostgresCommand(
      WriteStatements.writeToken, [.bytes(token), formerToken.map { .bytes($0) } ?? .null])
    let results: [PostgresRows]
    do throws(PostgresFailure) {
      results = try await session.exchange(
        [stamp] + commands + [PostgresCommand(Self.commit)],
        within: limits.exchangeTimeLimit)
    } catch {
      return error.leavesCommitUnknown ? .unknown(answers, error) : .failed(error)
    }
    guard let first = results.first, results.last?.tag == "COMMIT" else {
      return .failed(PostgresFailure(.protocolViolation, "COMMIT did not commit the transaction"))
    }
    return .done(answers, ChangeNumbering(base: try first.number(0, 0)), hasChanges: true)
  }

  private static func unexpected(_ error: any Error) -> StoreError {
    StoreError(.internalFault, "unexpected error of type \(type(of: error))")
  }

  /// Set explicitly, whatever the server's default: decisions depend on locks, and each statement
  /// must see everything committed before it.
  private static let begin = PostgresStatement(
    "BEGIN ISOLATION LEVEL READ COMMITTED", name: "begin")
  private static let commit = PostgresStatement("COMMIT", name: "commit")
  private static let rollback = PostgresStatement("ROLLBACK", name: "roll_back")

  /// `$1` and `$2` ids and digests of headers; `$3` to `$5` ids, environments and bundle ids of
  /// apps.
  static let checkIDs = PostgresStatement(
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
