import Synchronization

/// Whether the server can do its work, and who wants to know when that changes.
package final class HealthBoard: Sendable {
  package struct WatchID: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  private struct State {
    var isServing = false
    var watchers: [WatchID: @Sendable (Bool) -> Void] = [:]
    var count: UInt64 = 0
  }

  private let state = Mutex(State())

  package init() {}

  package var isServing: Bool {
    state.withLock { $0.isServing }
  }

  /// Sets the status and tells every watcher if it changed.
  package func set(isServing: Bool) {
    // Told under the lock, so that every watcher sees changes in their order.
    state.withLock { state in
      guard state.isServing != isServing else { return }
      state.isServing = isServing
      for watcher in state.watchers.values { watcher(isServing) }
    }
  }

  /// Calls `changed` with the present status at once, and with each later one until the watch is
  /// ended. It runs under the board's lock: it must hand the status on, and neither block nor do
  /// anything that could end a watch.
  package func watch(_ changed: @escaping @Sendable (Bool) -> Void) -> WatchID {
    state.withLock { state in
      state.count += 1
      let id = WatchID(number: state.count)
      state.watchers[id] = changed
      changed(state.isServing)
      return id
    }
  }

  package func endWatch(_ id: WatchID) {
    state.withLock { $0.watchers[id] = nil }
  }
}
