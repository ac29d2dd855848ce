import Synchronization

/// Token bucket for the retries and hedges of one client. Each call adds a fraction of a token, and
/// each attempt beyond the first takes one.
final class RetryBudget: Sendable {
  /// In attempts. A larger burst is no limit in practice; up to this one, sums in hundredths do not
  /// overflow.
  private static let largestBurst = 1_000_000

  // All in hundredths of an attempt.
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

  /// Takes one token.
  ///
  /// - Returns: whether one more attempt may be made.
  func take() -> Bool {
    available.withLock { available in
      if available < 100 { return false }
      available -= 100
      return true
    }
  }
}
