import EntitlementStore
import GRDB
import Synchronization

/// Lets concurrent submissions share SQLite transactions, and so the disk's flush, which is most
/// of what a commit costs.
///
/// The first submission that finds the writer idle starts it; those that arrive while it is at
/// work make up its next transaction. Each runs in a savepoint of its own, and its caller resumes
/// after the COMMIT.
final class CommitQueue: Sendable {
  private struct Job: Sendable {
    let submission: Submission
    let continuation: CheckedContinuation<Outcome, Never>
  }

  private struct State {
    var waiting: [Job] = []
    var isWriterAtWork = false
  }

  private typealias Outcome = Result<CommitReceipt, StoreError>

  private let pool: DatabasePool
  private let maximumCommitsPerTransaction: Int
  private let state = Mutex(State())

  init(pool: DatabasePool, maximumCommitsPerTransaction: Int) {
    self.pool = pool
    self.maximumCommitsPerTransaction = max(1, maximumCommitsPerTransaction)
  }

  func commit(_ submission: Submission) async throws(StoreError) -> CommitReceipt {
    let outcome = await withCheckedContinuation { continuation in
      let job = Job(submission: submission, continuation: continuation)
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
    let outcomes: [Outcome]
    do {
      outcomes = try Self.commit(jobs.map(\.submission), to: database)
    } catch {
      let failure = StoreError(translating: error)
      if failure.code == .full, jobs.count > 1 {
        // The whole transaction is gone because one submission found the disk full. Those that can
        // be stored shall be: each gets a transaction of its own.
        for job in jobs { write([job], to: database) }
        return
      }
      // Any other failure would meet each of them again, after as long a wait. Those that came
      // meanwhile have waited as long, and are told the same.
      let others = failure.code == .unavailable ? takeWaiting() : []
      for job in jobs + others { job.continuation.resume(returning: .failure(failure)) }
      return
    }
    for (job, outcome) in zip(jobs, outcomes) {
      job.continuation.resume(returning: outcome)
    }
  }

  /// Throws when nothing was committed; otherwise there is one outcome for each submission.
  private static func commit(_ submissions: [Submission], to database: Database) throws
    -> [Outcome]
  {
    var outcomes: [Outcome] = []
    try database.inTransaction(.immediate) {
      for submission in submissions {
        outcomes.append(try apply(submission, to: database))
      }
      return .commit
    }
    return outcomes
  }

  /// Throws when the failure of this submission took the transaction with it, as a full disk does.
  private static func apply(_ submission: Submission, to database: Database) throws -> Outcome {
    do {
      var receipt: CommitReceipt?
      try database.inSavepoint {
        var writer = SubmissionWriter(database: database, receivedAt: submission.receivedAt)
        receipt = try writer.write(submission)
        return .commit
      }
      guard let receipt else {
        throw StoreError(.internalFault, "a submission was written without a receipt")
      }
      return .success(receipt)
    } catch {
      guard database.isInsideTransaction else { throw error }
      return .failure(StoreError(translating: error))
    }
  }
}
