import EntitlementDomain
import EntitlementStore
import StoreConformance
import Synchronization

/// A store with injected faults for followers, which counts reads of the feed.
final class FaultyStore: ForwardingStore {
  private struct State {
    var isBroken = false
    var isCursorBroken = false
    var isSilent = false
    var partSize: Int?
    var feedReads = 0
    var polls: [Int64] = []
    var unreadable: AccountID?
  }

  let base: any EntitlementStore
  private let state = Mutex(State())

  /// - Parameters:
  ///   - isSilent: announces nothing.
  ///   - partSize: the largest number of changes in a page for followers.
  init(_ base: any EntitlementStore, isSilent: Bool = false, partSize: Int? = nil) {
    self.base = base
    state.withLock {
      $0.isSilent = isSilent
      $0.partSize = partSize
    }
  }

  func set(isBroken: Bool) { state.withLock { $0.isBroken = isBroken } }

  /// True: the cursor for a new follower cannot be read.
  func set(isCursorBroken: Bool) { state.withLock { $0.isCursorBroken = isCursorBroken } }

  func followerCursor() async throws(StoreError) -> FollowerCursor {
    if state.withLock({ $0.isCursorBroken }) {
      throw StoreError(.unavailable, "it was broken by the test")
    }
    return try await base.followerCursor()
  }

  /// Reads of this account fail.
  func set(unreadable: AccountID) { state.withLock { $0.unreadable = unreadable } }

  func customers(_ lookups: [CustomerLookup]) async -> [Result<StoredCustomer, StoreError>] {
    let unreadable = state.withLock { $0.unreadable }
    return zip(lookups, await base.customers(lookups)).map { lookup, result in
      guard let unreadable, lookup.selector == .account(unreadable) else { return result }
      return .failure(StoreError(.corrupt, "it was broken by the test"))
    }
  }

  /// The number of pages of the feed that were read.
  var feedReads: Int { state.withLock { $0.feedReads } }
  /// The positions from which changed customers were polled.
  var polls: [Int64] { state.withLock { $0.polls } }

  func announcements() -> AsyncStream<Void> {
    state.withLock { $0.isSilent } ? AsyncStream { _ in } : base.announcements()
  }

  func changes(after sequence: Int64, limit: Int) async throws(StoreError) -> [Change] {
    state.withLock { $0.feedReads += 1 }
    return try await base.changes(after: sequence, limit: limit)
  }

  func changedCustomers(since cursor: FollowerCursor) async throws(StoreError) -> ChangedCustomers {
    let position = cursor.position
    let (isBroken, partSize) = state.withLock { state in
      state.polls.append(position)
      return (state.isBroken, state.partSize)
    }
    if isBroken { throw StoreError(.unavailable, "it was broken by the test") }
    guard let partSize else { return try await base.changedCustomers(since: cursor) }
    let part = try await base.changes(after: position, limit: partSize)
    return ChangedCustomers(
      subjects: part.compactMap(\.subject),
      cursor: FollowerCursor(position: part.last?.sequence ?? position),
      isComplete: part.count < partSize)
  }
}
