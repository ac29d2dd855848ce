package import NIOCore
import Synchronization

/// Connections of which the oldest gives its place to a new one when all places are taken: those that no
/// known caller has used yet, those whose TLS handshake is not finished, those of the webhook that are in no
/// call. Anybody can open many of these, so each operation takes the same time however many there are. Safe
/// on any thread.
package final class WaitingConnections: Sendable {
  /// One wait of a connection, in the list that began it.
  package final class Wait: Sendable {
    fileprivate let channel: any Channel
    // Unsafe, as only the lock of the list guards them.
    fileprivate nonisolated(unsafe) var isListed = true
    fileprivate nonisolated(unsafe) var newer: Wait?
    /// It is in the list as long as this one is, and the list owns it.
    fileprivate nonisolated(unsafe) unowned var older: Wait?

    fileprivate init(_ channel: any Channel) {
      self.channel = channel
    }
  }

  /// A list, linked from the oldest to the newest and back.
  private struct State {
    var oldest: Wait?
    var newest: Wait?
    var count = 0

    mutating func append(_ wait: Wait) {
      wait.older = newest
      if let newest { newest.newer = wait } else { oldest = wait }
      newest = wait
      count += 1
    }

    mutating func remove(_ wait: Wait) {
      guard wait.isListed else { return }
      if let older = wait.older { older.newer = wait.newer } else { oldest = wait.newer }
      if let newer = wait.newer { newer.older = wait.older } else { newest = wait.older }
      wait.isListed = false
      wait.newer = nil
      wait.older = nil
      count -= 1
    }
  }

  private let state = Mutex(State())

  package init() {}

  deinit {
    // One after the other: each wait owns the next, and a long chain would overflow the stack.
    while takeOldest() != nil {}
  }

  /// The connection waits until ``end(_:)``, or until it is taken.
  package func begin(_ channel: any Channel) -> Wait {
    let wait = Wait(channel)
    state.withLock { $0.append(wait) }
    return wait
  }

  /// Without effect if the wait has ended, or its connection was taken.
  package func end(_ wait: Wait) {
    state.withLock { $0.remove(wait) }
  }

  /// Removes the connection that has waited for longest, which must be closed.
  ///
  /// - Returns: nil if no more than `count` wait.
  package func takeOldest(beyond count: Int = 0) -> (any Channel)? {
    state.withLock { state in
      guard state.count > count, let oldest = state.oldest else { return nil }
      state.remove(oldest)
      return oldest.channel
    }
  }

  package var count: Int { state.withLock(\.count) }
}
