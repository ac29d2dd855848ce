import Dispatch
package import EntitlementDomain
package import EntitlementStore
import GRDB
import Synchronization

/// The embedded store: one SQLite file, owned by one process.
///
/// Writes go through one connection in shared transactions (``CommitQueue``), flushed to the disk
/// before they are answered. Reads run beside them, each on one snapshot. Both run on threads of
/// their own, never on the caller's.
package final class SQLiteStore: EntitlementStore {
  private let file: DatabaseFile
  private let pool: DatabasePool
  private let queue: CommitQueue
  private let commits: AdmissionGate
  private let reads: AdmissionGate
  private let announcer = FeedAnnouncer()
  /// One close at a time; it waits for connections, which must not happen on a caller's thread.
  private let closing = DispatchQueue(label: "SQLiteStore.close")
  private let wasClosed = Atomic(false)

  /// Opens the database at a path, and makes it if it is missing; its folder has to exist. Blocks
  /// while it recovers what a crash left in the log, and while it migrates.
  ///
  /// - Throws: ``StoreError/Code/locked`` when another process, or another store of this one, has
  ///   it; ``StoreError/Code/newerSchema``, with the file left as it was;
  ///   ``StoreError/Code/corrupt`` when it is not a database of this program;
  ///   ``StoreError/Code/full``; ``StoreError/Code/internalFault`` when the path cannot be used.
  package static func open(
    at path: String, limits: SQLiteStoreLimits = SQLiteStoreLimits()
  ) throws(StoreError) -> SQLiteStore {
    let file = try DatabaseFile(at: path)
    do {
      let pool = try DatabasePool(path: file.path, configuration: configuration(limits))
      try pool.writeWithoutTransaction { database in
        try setUpWriter(database, limits: limits)
        try Schema.migrate(database)
      }
      return SQLiteStore(file: file, pool: pool, limits: limits)
    } catch {
      throw StoreError(translating: error)
    }
  }

  private init(file: DatabaseFile, pool: DatabasePool, limits: SQLiteStoreLimits) {
    self.file = file
    self.pool = pool
    self.queue = CommitQueue(
      pool: pool, maximumCommitsPerTransaction: limits.maximumCommitsPerTransaction)
    self.commits = AdmissionGate(limit: limits.maximumWaitingCommits, name: "commits")
    self.reads = AdmissionGate(limit: limits.maximumWaitingReads, name: "reads")
  }

  private static func configuration(_ limits: SQLiteStoreLimits) -> Configuration {
    var configuration = Configuration()
    configuration.label = "SQLiteStore"
    configuration.busyMode = .timeout(limits.lockTimeoutSeconds)
    configuration.maximumReaderCount = max(1, limits.maximumReaders)
    return configuration
  }

  /// Settings of the writing connection, after GRDB's own, which flush the log only now and then.
  private static func setUpWriter(_ database: Database, limits: SQLiteStoreLimits) throws {
    // Success means committed (R49): the log is flushed with every commit.
    try database.execute(sql: "PRAGMA synchronous = FULL")
    // SQLite passes over what it cannot do without an error: 2 is FULL.
    guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2,
      try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal"
    else {
      throw StoreError(.internalFault, "SQLite does not flush its log with every commit here")
    }
    // What is deleted of an account (R46) is overwritten, as some builds of SQLite do by themselves.
    try database.execute(sql: "PRAGMA secure_delete = ON")
    // Pragmas take no arguments; all values are integers.
    try database.execute(sql: "PRAGMA journal_size_limit = \(limits.maximumIdleLogBytes)")
    if let bytes = limits.maximumDatabaseBytes {
      let pageSize = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 4_096
      try database.execute(sql: "PRAGMA max_page_count = \(max(1, bytes / pageSize))")
    }
  }

  package func commit(_ submission: Submission) async throws(StoreError) -> CommitReceipt {
    try await decide { try $0.commit(submission) }
  }

  package func addGrant(_ grant: Grant) async throws(StoreError) -> GrantReceipt {
    try await decide { try $0.add(grant) }
  }

  package func withdrawGrant(_ id: GrantID, in scope: AppScope, _ withdrawal: GrantWithdrawal)
    async throws(StoreError) -> GrantReceipt?
  {
    try await decide { ledger in
      let receipt = try ledger.withdraw(id, in: scope, withdrawal)
      return { numbering in receipt?(numbering) }
    }
  }

  package func perform(_ request: LinkRequest) async throws(StoreError) -> LinkAnswer {
    try await decide { try $0.perform(request) }
  }

  package func announcements() -> AsyncStream<Void> {
    announcer.listen()
  }

  /// Writes what a ledger decides, and tells of it when that is on the disk.
  private func decide<Answer: Sendable>(
    _ decision:
      @escaping @Sendable (inout Ledger<StoredRows>) throws
      -> @Sendable (ChangeNumbering) -> Answer
  ) async throws(StoreError) -> Answer {
    let (answer, isChanged) = try await write { database in
      let written = try ChangesWriter.write(to: database, decision)
      return (written.decision(written.numbering), written.isChanged)
    }
    if isChanged { announcer.announce() }
    return answer
  }

  /// Runs `body` on the writing connection, in a transaction that it may share, and returns when
  /// that is on the disk.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    try commits.enter()
    defer { commits.leave() }
    return try await queue.commit(body)
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

  /// On the closing queue.
  private func closeConnections() {
    // A closed connection must not be used any more.
    guard !wasClosed.exchange(true, ordering: .relaxed) else { return }
    // Leaves one file behind, so that a copy of it is whole. Without it the log would stay, as the
    // connection that is closed last may be one that only reads. Should it fail, the log holds
    // what the file lacks.
    _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    // It fails only while a statement runs, and none does any more. Should it all the same, the
    // connections close with the process, and nothing that was answered is lost.
    try? pool.close()
    file.release()
  }

  /// Runs `body` on a snapshot, on a reading connection's thread.
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
          outcome = .failure(StoreError(translating: error))
        }
        continuation.resume(returning: outcome)
      }
    }
    return try outcome.get()
  }
}
