import EntitlementDomain
import EntitlementService
import EntitlementStore
import SQLiteStore
import StoreConformance
import Synchronization
import TestSupport

/// A store that a test replaces with another one, which lacks the last writes, as after a failover
/// to a standby that had not received them.
final class ReplaceableStore: ForwardingStore {
  private let first: any EntitlementStore
  private let second: SQLiteStore
  private let folder: TemporaryFolder
  private let isReplaced = Mutex(false)

  init(_ first: any EntitlementStore) throws {
    self.first = first
    folder = try TemporaryFolder()
    second = try SQLiteStore.open(at: folder.file("other.sqlite"))
  }

  var base: any EntitlementStore { isReplaced.withLock { $0 } ? second : first }
  private var history: String { isReplaced.withLock { $0 } ? "2" : "1" }

  func replace() { isReplaced.withLock { $0 = true } }

  func announcements() -> AsyncStream<Void> { AsyncStream { _ in } }

  func followerCursor() async throws(StoreError) -> FollowerCursor {
    var cursor = try await base.followerCursor()
    cursor.history = history
    return cursor
  }

  func changedCustomers(since cursor: FollowerCursor) async throws(StoreError) -> ChangedCustomers {
    if cursor.history != history { throw StoreError(.cursorExpired, "it was replaced by the test") }
    var changed = try await base.changedCustomers(since: cursor)
    changed.cursor.history = history
    return changed
  }

  func close() async { await second.close() }

  /// Adds grants to the later store as to the current one.
  func prepare(_ bench: ServiceBench, _ accounts: [AccountID]) async throws {
    let grants = GrantService(
      store: second, catalog: bench.holder, clock: bench.clock.clock, counters: bench.counters,
      customersChanged: { _ in })
    for account in accounts {
      _ = try await grants.add(
        GrantRequest(
          scope: ServiceBench.scope, accountID: account, entitlementID: "pro", reason: "a test",
          onBehalfOf: "tests"))
    }
  }
}
