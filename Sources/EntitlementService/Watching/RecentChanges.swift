import EntitlementStore
import Synchronization

/// The latest changes of the feed, held for all watchers together, so that many of them cost one
/// read of the store. Who is further behind reads by itself until it has caught up.
final class RecentChanges: Sendable {
  /// A part of the feed without gaps.
  struct Stretch: Sendable {
    var changes: [Change]
    /// There is nothing else up to here.
    var end: Int64
  }

  private struct State {
    /// Nothing up to here is held; what follows is, up to the end.
    var start: Int64 = -1
    var held = Stretch(changes: [], end: -1)
    var read: (from: Int64, task: Task<Result<Stretch, StoreError>, Never>)?
    var readCount: Int64 = 0
  }

  private let store: any EntitlementStore
  private let limits: WatchLimits
  private let state = Mutex(State())

  init(store: any EntitlementStore, limits: WatchLimits) {
    self.store = store
    self.limits = limits
  }

  /// How often the store was read.
  var readCount: Int64 { state.withLock { $0.readCount } }

  /// What follows a position of the feed: a page of it at most.
  ///
  /// - Parameter horizon: everything that was committed up to here is in the store's feed.
  func changes(after position: Int64, horizon: Int64) async throws(StoreError) -> Stretch {
    if let held = held(after: position, horizon: horizon) { return held }
    // Who is elsewhere than at the end of what is held reads alone.
    guard state.withLock({ position == $0.held.end }) else {
      return try await readAndOffer(after: position, horizon: horizon)
    }
    return try await joinedRead(after: position, horizon: horizon)
  }

  private func held(after position: Int64, horizon: Int64) -> Stretch? {
    state.withLock { state in
      guard state.start <= position, position <= state.held.end else { return nil }
      // The first one after the position.
      var low = 0
      var high = state.held.changes.count
      while low < high {
        let middle = (low + high) / 2
        if state.held.changes[middle].sequence > position {
          high = middle
        } else {
          low = middle + 1
        }
      }
      let rest = state.held.changes[low...]
      if rest.isEmpty {
        return state.held.end >= horizon ? Stretch(changes: [], end: state.held.end) : nil
      }
      let page = Array(rest.prefix(limits.page))
      let isWhole = page.count == rest.count
      return Stretch(changes: page, end: isWhole ? state.held.end : page[page.count - 1].sequence)
    }
  }

  /// Watchers that have read all that is held, and are woken together, read once.
  private func joinedRead(after position: Int64, horizon: Int64) async throws(StoreError)
    -> Stretch
  {
    let task = state.withLock { state in
      if let read = state.read, read.from == position { return read.task }
      let task = Task { () -> Result<Stretch, StoreError> in
        defer { readEnded(after: position) }
        do throws(StoreError) {
          return .success(try await readAndOffer(after: position, horizon: horizon))
        } catch {
          return .failure(error)
        }
      }
      state.read = (position, task)
      return task
    }
    return try await task.value.get()
  }

  private func readEnded(after position: Int64) {
    state.withLock { state in
      if state.read?.from == position { state.read = nil }
    }
  }

  private func readAndOffer(after position: Int64, horizon: Int64) async throws(StoreError)
    -> Stretch
  {
    state.withLock { $0.readCount += 1 }
    let changes = try await store.changes(after: position, limit: limits.page)
    let last = changes.last?.sequence ?? position
    let isAll = changes.count < limits.page
    let stretch = Stretch(changes: changes, end: isAll ? max(last, horizon, position) : last)
    offer(stretch, after: position)
    return stretch
  }

  /// Holds what was read where it goes on from what is held, or is newer than all of it.
  private func offer(_ stretch: Stretch, after position: Int64) {
    state.withLock { state in
      guard position >= state.held.end, stretch.end > state.held.end else { return }
      if position > state.held.end {
        state.start = position
        state.held.changes = []
      }
      state.held.changes += stretch.changes
      state.held.end = stretch.end
      let surplus = state.held.changes.count - limits.window
      if surplus > 0 {
        state.start = state.held.changes[surplus - 1].sequence
        state.held.changes.removeFirst(surplus)
      }
    }
  }
}
