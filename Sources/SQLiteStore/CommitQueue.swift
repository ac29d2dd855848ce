import EntitlementStore
import GRDB
import Synchronization

/// Lets concurrent writes share SQLite transactions, and so the disk's flush, which is most of what
/// a commit costs.
///
/// The first write that finds the writer idle starts it; those that arrive while it is at work make
/// up its next transaction. Each runs in a savepoint of its own, and its caller resumes after the
/// COMMIT.
final class CommitQueue: Sendable {
  /// Resumes a caller.
  private typealias Answer = @Sendable () -> Void

  private struct Job: Sendable {
    /// Writes, and returns how to answer once that is committed.
    let apply: @Sendable (Database) throws -> Answer
    let fail: @Sendable (StoreError) -> Void
  }

  private struct State {
    var waiting: [Job] = []
    var isWriterAtWork = false
  }

  private let pool: DatabasePool
  private let maximumCommitsPerTransaction: Int
  private let state = Mutex(State())

  init(pool: DatabasePool, maximumCommitsPerTransaction: Int) {
    self.pool = pool
    self.maximumCommitsPerTransaction = max(1, maximumCommitsPerTransaction)
  }

  /// - Parameter write: may run twice, the first time to no effect.
  func commit<Value: Sendable>(
    _ write: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    let outcome: Result<Value, StoreError> = await withCheckedContinuation { continuation in
      let job = Job(
        apply: { database in
          let value = try write(database)
          return { continuation.resume(returning: .success(value)) }
        },
        fail: { continuation.resume(returning: .failure($0)) })
      let startsWriter = state.withLock { state in
        state.waiting.append(job)
        defer { state.isWriterAtWork = true }
        return !state.isWriterAtWork
      }
      if startsWriter {
        pool.asyncWriteWithoutTransaction { database in self.drain(into: database) }
      }
    }
    return try outcome.get()
  }

  private func drain(into database: Database) {
    while let jobs = nextJobs() {
      write(jobs, to: database)
    }
  }

  private func nextJobs() -> [Job]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isWriterAtWork = false
        return nil
      }
      let jobs = Array(state.waiting.prefix(maximumCommitsPerTransaction))
      state.waiting.removeFirst(jobs.count)
      return jobs
    }
  }

  private func takeWaiting() -> [Job] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  private func write(_ jobs: [Job], to database: Database) {
    let answers: [Answer]
    do {
      answers = try Self.commit(jobs, to: database)
    } catch {
      let failure = StoreError(translating: error)
      if failure.code == .full, jobs.count > 1 {
        // The whole transaction is gone because one write found the disk full. Those that can be
        // stored shall be: each gets a transaction of its own.
        for job in jobs { write([job], to: database) }
        return
      }
      // Any other failure would meet each of them again, after as long a wait. Those that came
      // meanwhile have waited as long, and are told the same.
      let others = failure.code == .unavailable ? takeWaiting() : []
      for job in jobs + others { job.fail(failure) }
      return
    }
    for answer in answers { answer() }
  }

  /// Throws when nothing was committed; otherwise there is one answer for each job.
  private static func commit(_ jobs: [Job], to database: Database) throws -> [Answer] {
    var answers: [Answer] = []
    try database.inTransaction(.immediate) {
      for job in jobs {
        answers.append(try apply(job, to: database))
      }
      return .commit
    }
    return answers
  }

  /// Throws when the failure of this job took the transaction with it, as a full disk does.
  private static func apply(_ job: Job, to database: Database) throws -> Answer {
    do {
      var answer: Answer?
      try database.inSavepoint {
        answer = try job.apply(database)
        return .commit
      }
      guard let answer else {
        throw StoreError(.internalFault, "a savepoint ended without an answer")
      }
      return answer
    } catch {
      guard database.isInsideTransaction else { throw error }
      let failure = StoreError(translating: error)
      return { job.fail(failure) }
    }
  }
}
