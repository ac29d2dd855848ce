import NIOCore
import Synchronization

/// The connections of a listener that are in no call, so that the one that has been so for longest gives its
/// place to a new one when all are taken: silent and slow clients keep nobody out.
final class WaitingConnections: Sendable {
  private struct State {
    var next = 0
    /// By the order in which they began to wait.
    var channels: [Int: any Channel] = [:]
  }

  private let state = Mutex(State())

  /// - Returns: the number of the wait, for ``end(_:)``.
  func begin(_ channel: any Channel) -> Int {
    state.withLock { state in
      state.next += 1
      state.channels[state.next] = channel
      return state.next
    }
  }

  func end(_ number: Int) {
    state.withLock { $0.channels[number] = nil }
  }

  /// Removes the connection that has waited for longest, which must be closed; nil if there is none.
  func takeOldest() -> (any Channel)? {
    state.withLock { state in
      state.channels.keys.min().flatMap { state.channels.removeValue(forKey: $0) }
    }
  }
}
