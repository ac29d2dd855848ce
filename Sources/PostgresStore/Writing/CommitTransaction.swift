import EntitlementDomain
import EntitlementStore

/// One attempt to commit some jobs, on a session of its own: loads what they need under locks, lets a
/// ledger decide, writes what it decided.
///
/// Two round trips when everything needed was foreseen: begin, lock and load; write and commit.
struct CommitTransaction {
  /// How the attempt ended.
  enum Outcome {
    /// Committed, or nothing had to be: the callers can be told.
    case done([CommitJob.Answer], ChangeNumbering, hasChanges: Bool)
    /// Locks that turned out to be needed were not free: begin again with these keys known.
    case locksTaken(Set<LedgerKey>)
    /// The numbers that the jobs bring do not mean the same in the database any more.
    case renumbered
    /// The connection was lost when the commit had been sent.
    case unknown([CommitJob.Answer], PostgresFailure)
    /// Not committed.
    case failed(PostgresFailure)
  }

  private let session: PostgresSession
  private let jobs: [CommitJob]
  private let scopes: ScopeNumbers
  private let headers: HeaderNumbers
  private let limits: PostgresStoreLimits
  private var keys: Set<LedgerKey>
  private var rows = LoadedRows()

  /// - Parameter keys: what the jobs will read beside what they say, by an earlier attempt.
  init(
    session: PostgresSession, jobs: [CommitJob], keys: Set<LedgerKey>,
    limits: PostgresStoreLimits
  ) {
    self.session = session
    self.jobs = jobs
    self.limits = limits
    self.keys = jobs.reduce(into: keys) { $0.formUnion($1.keys) }
    scopes = jobs.reduce(into: ScopeNumbers()) { $0.add($1.scopes) }
    headers = jobs.reduce(into: HeaderNumbers()) { $0.add($1.headers) }
  }

  /// - Parameters:
  ///   - token: by which it can be found out whether this was committed.
  ///   - formerToken: one that nobody will ask for any more.
  /// - Throws: ``StoreError`` when the database holds what cannot be read, or the jobs want what it
  ///   cannot hold.
  mutating func run(token: [UInt8], formerToken: [UInt8]?) async throws(StoreError) -> Outcome {
    let locks = rowLocks(keys)
    if let early = try await load(
      keys,
      prelude: [PostgresCommand(Self.begin), NumberCheck.command(scopes, headers)]
        + lockLimit + [locks.scopesWaiting],
      locking: locks.waiting, areTried: false)
    {
      return early
    }
    while true {
      var ledger = Ledger(reader: rows)
      var missing: Set<LedgerKey> = []
      var answers: [CommitJob.Answer] = []
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
      let all = keys.union(missing)
      // Whoever shares the lock of an app and environment cannot wait to have it alone: others may.
      if rowLocks(all).wholeScopes != locks.wholeScopes { return .locksTaken(all) }
      let further = RowLocks(missing, scopes: scopes, wholeScopes: locks.wholeScopes)
      if let early = try await load(
        missing, prelude: [], locking: further.trying, areTried: true)
      {
        return early
      }
    }
  }

  /// None where all jobs wait for locks as long as the connection lets them.
  private var lockLimit: [PostgresCommand] {
    guard let wait = jobs.compactMap(\.lockWait).min() else { return [] }
    return [PostgresCommand(Self.limitLocks, [.text("\(wait.wholeMilliseconds)")])]
  }

  private func rowLocks(_ keys: Set<LedgerKey>) -> RowLocks {
    RowLocks(keys, scopes: scopes, limit: limits.maximumLockedRows)
  }

  // MARK: Loading

  /// - Parameter areTried: whether `locking` begins with the two answers of ``RowLocks/trying``.
  /// - Returns: nil when all of it is loaded.
  private mutating func load(
    _ wanted: Set<LedgerKey>, prelude: [PostgresCommand], locking: [PostgresCommand],
    areTried: Bool
  ) async throws(StoreError) -> Outcome? {
    keys.formUnion(wanted)
    let loader = RowLoader(wanted, scopes: scopes)
    let results: [PostgresRows]
    do throws(PostgresFailure) {
      results = try await session.exchange(
        prelude + locking + loader.commands, within: limits.writeTimeLimit)
    } catch {
      return .failed(error)
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
    _ changes: LedgerChanges, _ answers: [CommitJob.Answer], token: [UInt8],
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
  private static let limitLocks = PostgresStatement(
    "SELECT set_config('lock_timeout', $1::text, true)", name: "limit_locks")
  private static let commit = PostgresStatement("COMMIT", name: "commit")
}
