import EntitlementDomain
import NIOCore
import Synchronization

@testable import AppStoreServerAPI

/// The system's clocks. Tests learn of each wait that begins.
final class ObservedClock: Sendable {
  private let count = Mutex(0)
  private let begins: AsyncStream<Void>
  private let begin: AsyncStream<Void>.Continuation

  init() {
    (begins, begin) = AsyncStream.makeStream()
  }

  /// Waits that have begun.
  var waits: Int { count.withLock { $0 } }

  var clock: AppStoreServerClock {
    let system = AppStoreServerClock.system()
    return AppStoreServerClock(now: system.now, uptime: system.uptime) { end in
      self.count.withLock { $0 += 1 }
      self.begin.yield()
      try await system.sleep(end)
    }
  }

  /// Returns when so many more waits have begun. For one task at a time.
  func begun(_ count: Int) async {
    var iterator = begins.makeAsyncIterator()
    for _ in 0..<count { await iterator.next() }
  }
}
