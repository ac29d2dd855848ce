import Synchronization

/// How many attempts beyond the first the calls of one client may make together: a bucket that each
/// call fills a little.
final class RetryBudget: Sendable {
  /// More is no limit in practice, and sums of hundredths of it do not overflow.
  private static let largestBurst = 1_000_000

  /// Hundredths of an attempt.
  private let perCall: Int
  private let capacity: Int
  private let available: Mutex<Int>

  init(_ policy: RetryPolicy) {
    capacity = min(max(0, policy.burst), Self.largestBurst) * 100
    perCall = min(max(0, policy.percentOfCalls), capacity)
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
