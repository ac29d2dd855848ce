import Synchronization

/// Counts the calls that a server has received.
final class CallCount: Sendable {
  private let count = Mutex(0)

  var value: Int { count.withLock { $0 } }

  func increase() {
    count.withLock { $0 += 1 }
  }
}
