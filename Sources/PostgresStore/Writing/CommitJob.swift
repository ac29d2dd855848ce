import EntitlementDomain
import EntitlementStore

/// A write that waits for its transaction, which it may share.
struct CommitJob: Sendable {
  /// Tells the caller, when the transaction is committed.
  typealias Answer = @Sendable (ChangeNumbering) -> Void

  /// What it will probably read.
  let keys: Set<LedgerKey>
  /// The numbers of all apps and environments that it can come to.
  let scopes: ScopeNumbers
  /// The numbers of the headers that it brings.
  let headers: HeaderNumbers
  /// What it will lock, as far as ``keys`` tell.
  let locks: Set<String>
  /// Of payloads and documents.
  let byteCount: Int
  let submittedAt: ContinuousClock.Instant
  /// How long it waits for each lock of somebody else's, after it met one; nil: as all do.
  private(set) var lockWait: Duration?
  /// What became of its last turn: it, or one that shared its transaction, met such a lock, or could
  /// not be written.
  private(set) var lastFailure: StoreError?
  /// May run several times; only what the last time decided is written.
  let decide: @Sendable (inout Ledger<LoadedRows>) throws -> Answer
  let fail: @Sendable (StoreError) -> Void
  /// Called in place of `fail` when the numbers do not mean the same in the database any more.
  let renumber: @Sendable () -> Void

  init(
    keys: Set<LedgerKey>, scopes: ScopeNumbers, headers: HeaderNumbers, byteCount: Int,
    decide: @escaping @Sendable (inout Ledger<LoadedRows>) throws -> Answer,
    fail: @escaping @Sendable (StoreError) -> Void,
    renumber: @escaping @Sendable () -> Void
  ) {
    self.keys = keys
    self.scopes = scopes
    self.headers = headers
    self.byteCount = byteCount
    submittedAt = .now
    self.decide = decide
    self.fail = fail
    self.renumber = renumber
    locks = Set(keys.map { LockName.of($0, scopes) })
  }

  /// The same, after it or one that shared its transaction met a lock of somebody else's. It shows
  /// soon which one did, as none waits for long at first; and a lock that is seldom free is met one
  /// day, as each wait is twice as long as the one before.
  func held(_ limits: PostgresStoreLimits, by failure: StoreError) -> CommitJob {
    var job = self
    job.lastFailure = failure
    job.lockWait = min(lockWait.map { $0 * 2 } ?? limits.firstLockWait, limits.lockTimeLimit)
    return job
  }

  /// The same, after one that shared its transaction could not be written, or it could not itself.
  func putBack(by failure: StoreError) -> CommitJob {
    var job = self
    job.lastFailure = failure
    return job
  }
}
