import EntitlementDomain
import EntitlementStore
import Synchronization

/// A store that tells of a commit while an older transaction keeps it out of the feed.
final class UnsettledStore: ForwardingStore {
  private struct State {
    var told: [CustomerSubject] = []
    var latest: Int64 = 0
    var looks = 0
  }

  let base: any EntitlementStore
  private let state = Mutex(State())

  init(_ base: any EntitlementStore) { self.base = base }

  var looks: Int { state.withLock { $0.looks } }

  func tell(_ account: AccountID, latest: Int64) {
    state.withLock {
      $0.told = [.account(ServiceBench.scope, account)]
      $0.latest = latest
    }
  }

  func announcements() -> AsyncStream<Void> { AsyncStream { _ in } }

  func changedCustomers(since cursor: FollowerCursor) async throws(StoreError) -> ChangedCustomers {
    state.withLock { state in
      state.looks += 1
      return ChangedCustomers(
        subjects: state.told,
        cursor: FollowerCursor(position: cursor.position, latest: state.latest))
    }
  }
}
