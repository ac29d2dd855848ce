import Synchronization

/// How many attempts beyond the first the calls of one client may make together: a bucket that each
/// call fills a little.
final class RetryBudget: Sendable {
  /// Hundredths of an attempt.
  private let perCall: Int
  private let capacity: Int
  private let available: Mutex<Int>

  init(_ policy: RetryPolicy) {
    perCall = max(0, policy.percentOfCalls)
    capacity = max(0, policy.burst) * 100
    available = Mutex(capacity)
  }

  func callMade() {
    available.withLock { $0 = min(capacity, $0 + perCall) }
  }

  /// - Returns: whether one more attempt may be made.
  func take() -> Bool {
    available.withLock { available in
      if available < 100 { return false }
      available -= 100
      return true
    }
  }
}
