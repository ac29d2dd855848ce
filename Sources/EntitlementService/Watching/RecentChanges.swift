import EntitlementStore
import Synchronization

/// The latest changes of the feed, held for all watchers together, so that many of them cost one
/// read of the store. Who is further behind reads by itself until it has caught up.
final class RecentChanges: Sendable {
  private typealias Reading = Task<Result<[Change], StoreError>, Never>

  private struct State {
    /// The beginning of following since which what is held was read.
    var beginning: Int64 = 0
    /// Nothing up to here is held; what follows is, without gaps.
    var start: Int64 = -1
    var changes: [Change] = []
    var read: (from: WatchCursor, task: Reading)?

    /// What follows is not held.
    var end: Int64 { changes.last?.sequence ?? start }
  }

  private let store: any EntitlementStore
  private let limits: WatchLimits
  private let state = Mutex(State())
  private let reads = Atomic<Int64>(0)

  init(store: any EntitlementStore, limits: WatchLimits) {
    self.store = store
    self.limits = limits
  }

  /// How often the store was read.
  var readCount: Int64 { reads.load(ordering: .relaxed) }

  /// What follows a place in the feed: a page of it at most; empty when nothing does yet.
  ///
  /// - Parameters:
  ///   - horizon: everything that was committed up to here is in the store's feed.
  ///   - beginning: that of following, since which the place is known to be in the feed.
  func changes(after cursor: WatchCursor, horizon: Int64, beginning: Int64)
    async throws(StoreError) -> [Change]
  {
    if let held = held(after: cursor.position, horizon: horizon, beginning: beginning) {
      return held
    }
    // Who is elsewhere than at the end of what is held reads alone.
    guard
      state.withLock({ cursor.position == $0.end && beginning == $0.beginning })
    else { return try await readAndOffer(after: cursor, beginning: beginning) }
    return try await joinedRead(after: cursor, beginning: beginning)
  }

  private func held(after position: Int64, horizon: Int64, beginning: Int64) -> [Change]? {
    state.withLock { state in
      // What is from before may be lost.
      if beginning > state.beginning { state = State(beginning: beginning) }
      guard beginning == state.beginning, state.start <= position, position <= state.end else {
        return nil
      }
      // The first one after the position.
      var low = 0
      var high = state.changes.count
      while low < high {
        let middle = (low + high) / 2
        if state.changes[middle].sequence > position {
          high = middle
        } else {
          low = middle + 1
        }
      }
      if low == state.changes.count { return state.end >= horizon ? [] : nil }
      return Array(state.changes[low...].prefix(limits.page))
    }
  }

  /// Watchers that have read all that is held, and are woken together, read once.
  private func joinedRead(after cursor: WatchCursor, beginning: Int64) async throws(StoreError)
    -> [Change]
  {
    let task = state.withLock { state in
      if let read = state.read, read.from == cursor { return read.task }
      let task = Task { () -> Result<[Change], StoreError> in
        defer { readEnded(after: cursor) }
        do throws(StoreError) {
          return .success(try await readAndOffer(after: cursor, beginning: beginning))
        } catch {
          return .failure(error)
        }
      }
      state.read = (cursor, task)
      return task
    }
    return try await task.value.get()
  }

  private func readEnded(after cursor: WatchCursor) {
    state.withLock { state in
      if state.read?.from == cursor { state.read = nil }
    }
  }

  private func readAndOffer(after cursor: WatchCursor, beginning: Int64) async throws(StoreError)
    -> [Change]
  {
    reads.add(1, ordering: .relaxed)
    let changes = try await store.changes(after: cursor.position, limit: limits.page)
    if changes.isEmpty { return [] }
    // Afterwards: a failover may have come between, and then it is another feed that goes on here.
    try await store.checkFeedReaches(cursor)
    offer(changes, after: cursor.position, beginning: beginning)
    return changes
  }

  /// Holds what was read where it goes on from what is held, or is newer than all of it.
  private func offer(_ changes: [Change], after position: Int64, beginning: Int64) {
    state.withLock { state in
      guard beginning == state.beginning, position >= state.end else { return }
      if position > state.end {
        state.start = position
        state.changes = []
      }
      state.changes += changes
      let surplus = state.changes.count - limits.window
      if surplus > 0 {
        state.start = state.changes[surplus - 1].sequence
        state.changes.removeFirst(surplus)
      }
    }
  }
}
