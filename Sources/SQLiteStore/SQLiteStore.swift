import Dispatch
package import EntitlementDomain
package import EntitlementStore
import GRDB
package import Logging
import Synchronization

/// The embedded store: one SQLite file, owned by one process.
///
/// Writes share transactions on one connection (``CommitQueue``) and are flushed to disk before
/// they are acknowledged. Reads run concurrently, each on a snapshot. Both run on their own
/// threads, never on the caller's.
package final class SQLiteStore: EntitlementStore {
  /// What the check at the start found out.
  package let check: IntegrityCheck
  let evaluations: EvaluationPool
  private let file: DatabaseFile
  /// The first sign of damage. Kept until the process ends: only a restored backup heals it.
  private let damage = Mutex<StoreError?>(nil)
  let pool: DatabasePool
  private let queue: CommitQueue
  private let commits: AdmissionGate
  let reads: AdmissionGate
  private let announcer = FeedAnnouncer()
  let trail: AuditTrail
  /// Compresses and expands payloads.
  let vault = PayloadVault()
  /// Serialises `close`, which waits for connections and must not block a caller's thread.
  private let closing = DispatchQueue(label: "SQLiteStore.close")
  private let wasClosed = Atomic(false)

  /// Opens the database at a path, and checks the file. Its folder must exist. Blocks during crash
  /// recovery, the check and migration.
  ///
  /// - Parameters:
  ///   - creates: whether a missing or empty file becomes a new database. A server creates one only
  ///     where the operator says so: if the file was lost, every customer would be new.
  ///   - trail: the chain of the audit trail that this process writes.
  ///   - evaluations: decodes large customers.
  ///   - logger: gets that the disk is full.
  /// - Throws: ``StoreError/Code/locked`` when another process, or another store of this process,
  ///   has it open; ``StoreError/Code/missing``; ``StoreError/Code/newerSchema``, without changing the
  ///   file; ``StoreError/Code/corrupt`` when it is damaged or not a database of this program;
  ///   ``StoreError/Code/full``; ``StoreError/Code/internalFault`` when the path cannot be used.
  package static func open(
    at path: String, creates: Bool = true, limits: SQLiteStoreLimits = SQLiteStoreLimits(),
    trail: AuditTrail = AuditTrail(node: "localhost"),
    evaluations: EvaluationPool = EvaluationPool(),
    logger: Logger? = nil
  ) throws(StoreError) -> SQLiteStore {
    let file = try DatabaseFile(at: path, creates: creates)
    var opened: DatabasePool?
    do {
      let pool = try DatabasePool(
        path: file.path, configuration: configuration(limits, evaluations))
      opened = pool
      let check = try IntegrityCheck.run(pool, within: limits.checkTime)
      try pool.writeWithoutTransaction { database in
        try setUpWriter(database, limits: limits)
        try Schema.current.migrate(database, creates: creates)
        try Schema.check(database)
      }
      try file.lockLog()
      return SQLiteStore(
        file: file, pool: pool, check: check, limits: limits, trail: trail,
        evaluations: evaluations, logger: logger)
    } catch {
      // The file is closed after SQLite has closed it.
      try? opened?.close()
      file.release()
      throw StoreError(translating: error)
    }
  }

  /// What waits or is in progress now, and how much may be.
  package var statistics: SQLiteStatistics {
    SQLiteStatistics(
      pendingWrites: commits.pending, pendingWritesLimit: commits.limit,
      pendingReads: reads.pending, pendingReadsLimit: reads.limit)
  }

  private init(
    file: DatabaseFile, pool: DatabasePool, check: IntegrityCheck, limits: SQLiteStoreLimits,
    trail: AuditTrail, evaluations: EvaluationPool, logger: Logger?
  ) {
    self.check = check
    self.evaluations = evaluations
    self.file = file
    self.trail = trail
    self.pool = pool
    self.queue = CommitQueue(
      pool: pool, maximumCommitsPerTransaction: limits.maximumCommitsPerTransaction,
      alarm: logger.map { StorageAlarm(logger: $0) })
    self.commits = AdmissionGate(limit: limits.maximumWaitingCommits, name: "commits")
    self.reads = AdmissionGate(limit: limits.maximumWaitingReads, name: "reads")
  }

  deinit {
    guard !wasClosed.exchange(true, ordering: .relaxed) else { return }
    // The file is closed after SQLite has closed it.
    try? pool.close()
    file.release()
  }

  private static func configuration(
    _ limits: SQLiteStoreLimits, _ evaluations: EvaluationPool
  ) -> Configuration {
    var configuration = Configuration()
    configuration.label = "SQLiteStore"
    configuration.busyMode = .timeout(limits.lockTimeoutSeconds)
    // Reads of large customers have connections of their own, so that they take none from others.
    configuration.maximumReaderCount = max(1, limits.maximumReaders) + evaluations.width
    configuration.prepareDatabase { database in
      // Cells that do not fit are found when their page is read, and not when they are used.
      try database.execute(sql: "PRAGMA cell_size_check = ON")
    }
    return configuration
  }

  /// Settings of the writing connection. GRDB's defaults do not flush the log with every commit.
  private static func setUpWriter(_ database: Database, limits: SQLiteStoreLimits) throws {
    // Success means committed (R49): the log is flushed with every commit.
    try database.execute(sql: "PRAGMA synchronous = FULL")
    // SQLite ignores settings that it does not support. 2 is FULL.
    guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2,
      try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal"
    else {
      throw StoreError(.internalFault, "SQLite does not flush its log with every commit here")
    }
    // Deleted data of an account (R46) is overwritten. Some builds of SQLite do this by default.
    try database.execute(sql: "PRAGMA secure_delete = ON")
    // Pragmas take no arguments. All values are integers.
    try database.execute(sql: "PRAGMA journal_size_limit = \(limits.maximumIdleLogBytes)")
    if let bytes = limits.maximumDatabaseBytes {
      let pageSize = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 4_096
      try database.execute(sql: "PRAGMA max_page_count = \(max(1, bytes / pageSize))")
    }
  }

  package func commit(_ submission: Submission) async throws(StoreError) -> CommitReceipt {
    try await decide { try $0.commit(submission) }
  }

  package func addGrant(_ grant: Grant, by caller: AuditCaller) async throws(StoreError)
    -> GrantReceipt
  {
    try await decide { try $0.add(grant, by: caller) }
  }

  package func withdrawGrant(
    _ id: GrantID, in scope: AppScope, _ withdrawal: GrantWithdrawal, by caller: AuditCaller
  ) async throws(StoreError) -> GrantReceipt? {
    try await decide { ledger in
      let receipt = try ledger.withdraw(id, in: scope, withdrawal, by: caller)
      return { numbering in receipt?(numbering) }
    }
  }

  package func perform(_ request: LinkRequest) async throws(StoreError) -> LinkAnswer {
    try await decide { try $0.perform(request) }
  }

  package func record(_ call: AuditCall) async throws(StoreError) {
    try await decide { ledger in
      try ledger.record(call)
      return { _ in }
    }
  }

  package func announcements() -> AsyncStream<Void> {
    announcer.subscribe()
  }

  /// Writes the changes of a ledger, and notifies subscribers after the commit.
  func decide<Answer: Sendable>(
    _ decision:
      @escaping @Sendable (inout Ledger<SQLiteLedgerReader>) throws
      -> @Sendable (ChangeNumbering) -> Answer
  ) async throws(StoreError) -> Answer {
    let (answer, isChanged, _) = try await write(
      { [trail, vault] database in
        let written = try SQLiteChangesWriter.write(
          to: database, vault: vault, auditedBy: trail, decision)
        return (written.decision(written.numbering), written.isChanged, written.entries)
      }, committed: { [trail] in trail.committed($0.2) })
    if isChanged { announcer.announce() }
    return answer
  }

  /// Runs `body` on the writing connection, in a transaction that may be shared. Returns after the
  /// commit was flushed.
  ///
  /// - Parameter committed: called in the order of the commits.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value,
    committed: @escaping @Sendable (Value) -> Void = { _ in }
  ) async throws(StoreError) -> Value {
    let source = CallContext.source
    try commits.enter(as: source)
    defer { commits.leave(as: source) }
    // A write would build on what is damaged, and would be lost with the restored backup.
    try checkDamage()
    do throws(StoreError) {
      return try await queue.commit(body, of: source, committed: committed)
    } catch {
      throw noting(error)
    }
  }

  /// Writes that wait for a transaction or are in one.
  var pendingWrites: Int { commits.pending }

  // MARK: Damage

  /// Keeps the first sign of damage, for ``checkHealth()``.
  func noting(_ error: StoreError) -> StoreError {
    guard error.code == .corrupt else { return error }
    damage.withLock { if $0 == nil { $0 = error } }
    return error
  }

  /// - Throws: ``StoreError/Code/corrupt`` if damage was seen since the start.
  func checkDamage() throws(StoreError) {
    if let seen = damage.withLock({ $0 }) {
      throw StoreError(
        .corrupt,
        "the database is damaged, and nothing is written until it is restored from a "
          + "backup: \(seen.message)")
    }
  }

  /// - Throws: ``StoreError/Code/corrupt`` if the files no longer have their names.
  func checkFiles() throws(StoreError) {
    do throws(StoreError) {
      try file.checkName()
    } catch {
      throw noting(error)
    }
  }

  package func close() async {
    await commits.close()
    await reads.close()
    announcer.close()
    await withCheckedContinuation { continuation in
      closing.async {
        self.closeConnections()
        continuation.resume()
      }
    }
  }

  /// Runs on the closing queue.
  private func closeConnections() {
    // A closed connection must not be used again.
    guard !wasClosed.exchange(true, ordering: .relaxed) else { return }
    // Moves the log into the database file, so that a copy of the file is complete. Otherwise
    // SQLite keeps the log if a read-only connection is closed last. On failure the log still has
    // the data.
    _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    // Fails only while a statement runs, and none does. On failure the connections close with the
    // process, and no acknowledged write is lost.
    guard (try? pool.close()) != nil else { return }
    file.release()
  }

  /// Runs `body` on a snapshot, on the thread of a read connection.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    try reads.enter()
    defer { reads.leave() }
    let outcome: Result<Value, StoreError> = await withCheckedContinuation { continuation in
      pool.asyncRead { access in
        let outcome: Result<Value, StoreError>
        do {
          outcome = .success(try body(try access.get()))
        } catch {
          outcome = .failure(self.noting(StoreError(translating: error)))
        }
        continuation.resume(returning: outcome)
      }
    }
    return try outcome.get()
  }
}

/// The use of the embedded store.
package struct SQLiteStatistics: Hashable, Sendable {
  package let pendingWrites: Int
  package let pendingWritesLimit: Int
  package let pendingReads: Int
  package let pendingReadsLimit: Int
}

/// Limits of the embedded store.
package struct SQLiteStoreLimits: Hashable, Sendable {
  /// Maximum queued writes. More are rejected at once, so that a slow disk causes errors and not
  /// unbounded memory use. One source has at most half of it (``SourceShares``).
  package var maximumWaitingCommits = 4_096

  /// Maximum writes in one SQLite transaction. It bounds how long the first write waits for the
  /// last one. A few dozen are enough to share the cost of the disk flush.
  package var maximumCommitsPerTransaction = 128

  /// Maximum reads in progress or waiting for a connection.
  package var maximumWaitingReads = 4_096

  /// Maximum concurrent read connections. A read is short and seldom waits for the disk.
  package var maximumReaders = 4

  /// Maximum size of the database file in bytes; nil for no limit. A commit beyond it fails with
  /// ``StoreError/Code/full``.
  package var maximumDatabaseBytes: Int64?

  /// Maximum size of the write-ahead log after a checkpoint, in bytes.
  package var maximumIdleLogBytes: Int64 = 64 << 20

  /// How long a statement waits for an SQLite lock, in seconds. Only other programs that open the
  /// file, such as a backup, hold one.
  package var lockTimeoutSeconds = 5.0

  /// How long the check of the file at the start may take; zero: none. SQLite reads about 1 GB a second
  /// from memory, and a disk seldom less than 0.1.
  package var checkTime = Duration.seconds(10)

  package init() {}
}
