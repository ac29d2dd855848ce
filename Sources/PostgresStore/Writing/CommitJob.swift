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
  /// May run several times; only what the last time decided is written.
  let decide: @Sendable (inout Ledger<LoadedRows>) throws -> Answer
  let fail: @Sendable (StoreError) -> Void

  init(
    keys: Set<LedgerKey>, scopes: ScopeNumbers, headers: HeaderNumbers, byteCount: Int,
    decide: @escaping @Sendable (inout Ledger<LoadedRows>) throws -> Answer,
    fail: @escaping @Sendable (StoreError) -> Void
  ) {
    self.keys = keys
    self.scopes = scopes
    self.headers = headers
    self.byteCount = byteCount
    self.decide = decide
    self.fail = fail
    var locks: Set<String> = []
    for key in keys {
      switch key {
      case .account(let account), .holdings(let account):
        locks.insert(LockName.account(account.id, scopes[account.scope]))
      default:
        if let name = LockName.row(key, scopes) { locks.insert(name) }
      }
    }
    self.locks = locks
  }
}
