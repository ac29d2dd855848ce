import EntitlementDomain
import EntitlementStore
import Synchronization

/// A store whose reads wait until the test lets them go, and then answer what is known at their
/// beginning. Only reads of customers are used.
final class GatedStore: EntitlementStore {
  private struct State {
    var revision: Int64 = 1
    var changedAt: Milliseconds = 0
    var isOpen = true
    var waiting: [CheckedContinuation<Void, Never>] = []
    var reads = 0
    var readsAwaited: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var error: StoreError?
    var facts: [Fact] = []
  }

  private let state = Mutex(State())

  var reads: Int { state.withLock { $0.reads } }

  func set(revision: Int64) { state.withLock { $0.revision = revision } }

  func set(error: StoreError?) { state.withLock { $0.error = error } }

  func set(facts: [Fact], changedAt: Milliseconds) {
    state.withLock {
      $0.facts = facts
      $0.changedAt = changedAt
    }
  }

  func holdReads() { state.withLock { $0.isOpen = false } }

  func letReadsGo() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns once so many reads have begun.
  func readsBegun(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.reads >= count { return true }
        state.readsAwaited.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  func customer(_ selector: CustomerSelector, in scope: AppScope) async throws(StoreError)
    -> StoredCustomer
  {
    let (known, awaited) = state.withLock { state in
      state.reads += 1
      let reads = state.reads
      let awaited = state.readsAwaited.filter { $0.count <= reads }
      state.readsAwaited.removeAll { $0.count <= reads }
      return (
        (state.revision, state.changedAt, state.facts, state.error), awaited.map(\.continuation)
      )
    }
    for continuation in awaited { continuation.resume() }
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
    if let error = known.3 { throw error }
    guard case .account(let id) = selector else {
      return StoredCustomer(record: CustomerRecord(scope: scope), subject: nil)
    }
    return StoredCustomer(
      record: CustomerRecord(
        scope: scope, accountID: id, revision: known.0, changedAt: known.1, facts: known.2),
      subject: .account(scope, id))
  }

  func commit(_ submission: Submission) async throws(StoreError) -> CommitReceipt {
    throw StoreError(.closed, "not used")
  }
  func bundleIDs(ofChain chain: OriginalTransactionID, environment: StoreEnvironment)
    async throws(StoreError) -> [BundleID]
  { [] }
  func accounts(in scope: AppScope, after: AccountID?, limit: Int) async throws(StoreError)
    -> [AccountSummary]
  { [] }
  func changes(after sequence: Int64, limit: Int) async throws(StoreError) -> [Change] { [] }
  func addGrant(_ grant: Grant) async throws(StoreError) -> GrantReceipt {
    throw StoreError(.closed, "not used")
  }
  func withdrawGrant(_ id: GrantID, in scope: AppScope, _ withdrawal: GrantWithdrawal)
    async throws(StoreError) -> GrantReceipt?
  { nil }
  func grants(of account: AccountID, in scope: AppScope) async throws(StoreError) -> [Grant] { [] }
  func linkHistory(of chain: OriginalTransactionID, in scope: AppScope) async throws(StoreError)
    -> [LinkEvent]
  { [] }
  func signedFact(_ key: FactKey, in scope: AppScope) async throws(StoreError) -> SignedFact? {
    nil
  }
  func notification(_ uuid: NotificationUUID) async throws(StoreError) -> SignedNotification? {
    nil
  }
  func checkHealth() async throws(StoreError) {}
  func close() async {}
}
