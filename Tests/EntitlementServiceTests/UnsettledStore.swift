import EntitlementDomain
import EntitlementStore
import StoreConformance
import Synchronization

/// A store that returns a change to followers while an older transaction keeps it out of the feed.
final class UnsettledStore: ForwardingStore {
  private struct State {
    var subjects: [CustomerSubject] = []
    var latest: Int64 = 0
    var polls = 0
  }

  let base: any EntitlementStore
  private let state = Mutex(State())

  init(_ base: any EntitlementStore) { self.base = base }

  var polls: Int { state.withLock { $0.polls } }

  func add(_ account: AccountID, latest: Int64) {
    state.withLock {
      $0.subjects = [.account(ServiceBench.scope, account)]
      $0.latest = latest
    }
  }

  func announcements() -> AsyncStream<Void> { AsyncStream { _ in } }

  func changedCustomers(since cursor: FollowerCursor) async throws(StoreError) -> ChangedCustomers {
    state.withLock { state in
      state.polls += 1
      return ChangedCustomers(
        subjects: state.subjects,
        cursor: FollowerCursor(position: cursor.position, latest: state.latest))
    }
  }
}
