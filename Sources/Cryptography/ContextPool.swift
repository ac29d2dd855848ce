import Locks

/// A pool of idle OpenSSL contexts. Setting up a context costs more than the operation itself.
///
/// A context has one user at a time. Borrow it, use it, and give it back, but not after a failure.
final class ContextPool<Context: Sendable>: Sendable {
  /// Maximum number of idle contexts. Further contexts are freed after use.
  private let limit = 64
  private let idle = LockedValue<[Context]>([])

  func borrow() -> Context? {
    idle.withLock { $0.popLast() }
  }

  func giveBack(_ context: Context) {
    idle.withLock { if $0.count < limit { $0.append(context) } }
  }
}
