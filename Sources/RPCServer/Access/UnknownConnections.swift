import NIOCore
import Synchronization

/// The connections of a server with access control that no known caller has used yet. Anybody can open
/// them, so they give way when all places are taken.
final class UnknownConnections: Sendable {
  private let open = Mutex<[UInt64: any Channel]>([:])

  func opened(_ connection: UInt64, _ channel: any Channel) {
    open.withLock { $0[connection] = channel }
  }

  /// The connection is a known caller's, or closed.
  func ended(_ connection: UInt64) {
    open.withLock { $0[connection] = nil }
  }

  /// Removes the oldest one, which must be closed; nil if there is none.
  func takeOldest() -> (any Channel)? {
    open.withLock { open in
      // Numbers of connections only grow.
      open.keys.min().flatMap { open.removeValue(forKey: $0) }
    }
  }
}

/// Sent through the pipeline of a connection without a known caller that gives its place to a later one.
struct UnknownEvicted: Sendable {}
