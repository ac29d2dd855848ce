import EntitlementStore
import Synchronization

/// A cache of the latest changes of the feed for all watchers, so that many watchers need one read
/// of the store. A watcher that is further behind reads the store itself until it has caught up.
final class RecentChanges: Sendable {
  private typealias Reading = Task<Result<[Change], StoreError>, Never>

  private struct State {
    /// The epoch of the follower in which the cached changes were read.
    var epoch: Int64 = 0
    /// The position after which the cached changes start, without gaps.
    var start: Int64 = -1
    var changes: [Change] = []
    var read: (from: WatchCursor, task: Reading)?

    /// The position of the last cached change.
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

  /// The number of reads of the store.
  var readCount: Int64 { reads.load(ordering: .relaxed) }

  /// The changes after a cursor, at most a page; empty at the end of the feed.
  ///
  /// - Parameters:
  ///   - watermark: the store's feed contains every change up to this position.
  ///   - epoch: the epoch of the follower in which the cursor was checked.
  func changes(after cursor: WatchCursor, watermark: Int64, epoch: Int64)
    async throws(StoreError) -> [Change]
  {
    if let cached = cachedChanges(after: cursor.position, watermark: watermark, epoch: epoch) {
      return cached
    }
    // Only watchers at the end of the cache share a read.
    guard
      state.withLock({ cursor.position == $0.end && epoch == $0.epoch })
    else { return try await readAndCache(after: cursor, epoch: epoch) }
    return try await sharedRead(after: cursor, epoch: epoch)
  }

  /// Nil when the changes after the position are not cached.
  private func cachedChanges(after position: Int64, watermark: Int64, epoch: Int64) -> [Change]? {
    state.withLock { state in
      // Changes of an earlier epoch may be lost.
      if epoch > state.epoch { state = State(epoch: epoch) }
      guard epoch == state.epoch, state.start <= position, position <= state.end else {
        return nil
      }
      // Binary search for the first change after the position.
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
      if low == state.changes.count { return state.end >= watermark ? [] : nil }
      return Array(state.changes[low...].prefix(limits.page))
    }
  }

  /// Watchers at the end of the cache that are woken together share one read.
  private func sharedRead(after cursor: WatchCursor, epoch: Int64) async throws(StoreError)
    -> [Change]
  {
    let task = state.withLock { state in
      if let read = state.read, read.from == cursor { return read.task }
      // Detached: the read serves many watchers, and belongs to the trace of none.
      let task = Task.detached { [self] () -> Result<[Change], StoreError> in
        defer { readEnded(after: cursor) }
        do throws(StoreError) {
          return .success(try await readAndCache(after: cursor, epoch: epoch))
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

  private func readAndCache(after cursor: WatchCursor, epoch: Int64) async throws(StoreError)
    -> [Change]
  {
    reads.add(1, ordering: .relaxed)
    let changes = try await store.changes(after: cursor.position, limit: limits.page)
    if changes.isEmpty { return [] }
    // Checked after the read, as a failover in between may have continued the feed with other
    // changes.
    try await store.checkFeedReaches(cursor)
    cache(changes, after: cursor.position, epoch: epoch)
    return changes
  }

  /// Caches changes that continue the cached ones, or replace them as they are newer.
  private func cache(_ changes: [Change], after position: Int64, epoch: Int64) {
    state.withLock { state in
      guard epoch == state.epoch, position >= state.end else { return }
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
