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
}
