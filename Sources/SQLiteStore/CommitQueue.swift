import EntitlementStore
import GRDB
import Synchronization
import Workers

/// Group commit: concurrent writes share SQLite transactions, and so the disk flush, which is most
/// of the cost of a commit.
///
/// A write starts the writer if it is idle. Writes that arrive while it is active form its next
/// transaction. Each write runs in its own savepoint, and its caller resumes after COMMIT.
///
/// Sources take turns, one write each, so that a source with thousands of waiting writes delays a
/// write of another source by about a transaction. Writes of one source keep their order. Another
/// order between sources is safe: a write that waits was not answered, so nobody can depend on its
/// place; and each write decides on what it reads in the transaction.
final class CommitQueue: Sendable {
  /// Resumes a caller.
  private typealias Completion = @Sendable () -> Void

  private struct Job: Sendable {
    /// Writes, and returns a closure that resumes the caller after the commit.
    let apply: @Sendable (Database) throws -> Completion
    let fail: @Sendable (StoreError) -> Void
  }

  private struct State {
    var waiting = TurnQueue<Job>(turn: .oneElement)
    var isWriterActive = false
  }

  private let pool: DatabasePool
  private let maximumCommitsPerTransaction: Int
  private let alarm: StorageAlarm?
  private let state = Mutex(State())

  init(pool: DatabasePool, maximumCommitsPerTransaction: Int, alarm: StorageAlarm? = nil) {
    self.pool = pool
    self.alarm = alarm
    self.maximumCommitsPerTransaction = max(1, maximumCommitsPerTransaction)
  }

  /// Writes that wait for a transaction.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// - Parameters:
  ///   - write: may run twice. The first run is then rolled back.
  ///   - source: whose turn the write waits for.
  ///   - committed: runs after the commit and before the caller resumes, in the order of the writes.
  func commit<Value: Sendable>(
    _ write: @escaping @Sendable (Database) throws -> Value, of source: WorkSource = .server,
    committed: @escaping @Sendable (Value) -> Void = { _ in }
  ) async throws(StoreError) -> Value {
    let outcome: Result<Value, StoreError> = await withCheckedContinuation { continuation in
      let job = Job(
        apply: { database in
          let value = try write(database)
          return {
            committed(value)
            continuation.resume(returning: .success(value))
          }
        },
        fail: { continuation.resume(returning: .failure($0)) })
      let startsWriter = state.withLock { state in
        state.waiting.append(job, items: 1, of: source)
        defer { state.isWriterActive = true }
        return !state.isWriterActive
      }
      if startsWriter {
        pool.asyncWriteWithoutTransaction { database in self.drain(into: database) }
      }
    }
    alarm?.note(outcome)
    return try outcome.get()
  }

  private func drain(into database: Database) {
    while let jobs = nextJobs() {
      write(jobs, to: database)
    }
  }

  private func nextJobs() -> [Job]? {
    state.withLock { state in
      var jobs: [Job] = []
      while jobs.count < maximumCommitsPerTransaction, let (job, _) = state.waiting.popFirst() {
        jobs.append(job)
      }
      state.isWriterActive = !jobs.isEmpty
      return jobs.isEmpty ? nil : jobs
    }
  }

  private func takeWaiting() -> [Job] {
    state.withLock { $0.waiting.remove { _ in true } }
  }

  private func write(_ jobs: [Job], to database: Database) {
    let completions: [Completion]
    do {
      completions = try Self.commit(jobs, to: database)
    } catch {
      let failure = StoreError(translating: error)
      if failure.code == .full, jobs.count > 1 {
        // A full disk has rolled back the whole transaction. Each write is retried in its own
        // transaction, so that the ones that fit are stored.
        for job in jobs { write([job], to: database) }
        return
      }
      // Any other failure would recur for each write after the same delay. Writes that arrived
      // meanwhile have waited as long, so they fail with the same error.
      let others = failure.code == .unavailable ? takeWaiting() : []
      for job in jobs + others { job.fail(failure) }
      return
    }
    for completion in completions { completion() }
  }

  /// Throws when nothing was committed. Otherwise there is one completion for each job.
  private static func commit(_ jobs: [Job], to database: Database) throws -> [Completion] {
    var completions: [Completion] = []
    try database.inTransaction(.immediate) {
      for job in jobs {
        completions.append(try apply(job, to: database))
      }
      return .commit
    }
    return completions
  }

  /// Throws when the failure rolled back the whole transaction, as a full disk does.
  private static func apply(_ job: Job, to database: Database) throws -> Completion {
    do {
      var completion: Completion?
      try database.inSavepoint {
        completion = try job.apply(database)
        return .commit
      }
      guard let completion else {
        throw StoreError(.internalFault, "a savepoint ended without a result")
      }
      return completion
    } catch {
      guard database.isInsideTransaction else { throw error }
      let failure = StoreError(translating: error)
      return { job.fail(failure) }
    }
  }
}
