import EntitlementDomain
import EntitlementStore
import StoreConformance
import Synchronization

/// A store whose reads wait until the test releases them, and then return the state of their
/// beginning. Only reads of customers are supported.
final class GatedStore: ForwardingStore {
  private struct State {
    var revision: Int64 = 1
    var changedAt: Milliseconds = 0
    var isOpen = true
    var waiting: [CheckedContinuation<Void, Never>] = []
    var reads = 0
    var lookups = 0
    var failing: AccountID?
    var freshness: [StoreFreshness] = []
    var readsAwaited: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var error: StoreError?
    var facts: [Fact] = []
  }

  private let state = Mutex(State())

  var base: any EntitlementStore { preconditionFailure("only reads of customers are used") }

  var reads: Int { state.withLock { $0.reads } }
  /// The number of customers read.
  var lookups: Int { state.withLock { $0.lookups } }
  /// The freshness that each read required.
  var freshness: [StoreFreshness] { state.withLock { $0.freshness } }

  func set(revision: Int64) { state.withLock { $0.revision = revision } }

  func set(error: StoreError?) { state.withLock { $0.error = error } }

  /// Reads of this account fail.
  func fail(account: AccountID) { state.withLock { $0.failing = account } }

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

  /// Returns once `count` reads have begun.
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

  /// One read.
  func customers(_ lookups: [CustomerLookup]) async -> [Result<StoredCustomer, StoreError>] {
    let (known, awaited) = state.withLock { state in
      state.reads += 1
      state.lookups += lookups.count
      state.freshness.append(contentsOf: lookups.map(\.freshness))
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
    if let error = known.3 { return lookups.map { _ in .failure(error) } }
    let failing = state.withLock { $0.failing }
    return lookups.map { lookup in
      if let failing, lookup.selector == .account(failing) {
        return .failure(StoreError(.unavailable, "it was broken by the test"))
      }
      guard case .account(let id) = lookup.selector else {
        return .success(
          StoredCustomer(record: CustomerRecord(scope: lookup.scope), subject: nil))
      }
      return .success(
        StoredCustomer(
          record: CustomerRecord(
            scope: lookup.scope, accountID: id, revision: known.0, changedAt: known.1,
            facts: known.2),
          subject: .account(lookup.scope, id)))
    }
  }
}
