package import NIOCore

/// A token bucket. No clock and no I/O.
///
/// It may be overdrawn, since a connection is known to be short-lived only when it ends, and a call
/// may cost many tokens. The debt is limited: by default to the tokens of one second, so that no wait is
/// longer than a second.
package struct TokenBucket: Sendable {
  /// The time in which one token is added.
  private let interval: TimeAmount
  /// How long a bucket with one token takes to become full.
  private let oneTokenLeft: TimeAmount
  private let largestDebt: TimeAmount
  /// When the bucket is full again if no token is taken. Each token moves it by one interval.
  private var fullAt = NIODeadline.uptimeNanoseconds(0)

  /// A full bucket that is refilled within one second.
  ///
  /// - Parameters:
  ///   - tokensPerSecond: The refill rate and the capacity; at least 1.
  ///   - largestDebt: The time in which the largest debt is refilled.
  package init(tokensPerSecond: Int, largestDebt: TimeAmount = .seconds(1)) {
    self.largestDebt = largestDebt
    interval = .nanoseconds(1_000_000_000 / Int64(max(1, tokensPerSecond)))
    oneTokenLeft = .seconds(1) - interval
  }

  /// A full bucket of any rate.
  ///
  /// - Parameters:
  ///   - interval: The time in which one token is added.
  ///   - capacity: The tokens of a full bucket; at least 1.
  ///   - largestDebt: The time in which the largest debt is refilled; at least the time of one token,
  ///     so that the last one can be taken.
  package init(interval: TimeAmount, capacity: Int, largestDebt: TimeAmount) {
    self.interval = interval
    self.largestDebt = max(interval, largestDebt)
    oneTokenLeft = interval * (max(1, capacity) - 1)
  }

  /// Takes `count` tokens, and overdraws the bucket if it has fewer.
  ///
  /// - Returns: Whether the bucket had at least one token.
  @discardableResult
  package mutating func take(_ count: Int = 1, now: NIODeadline) -> Bool {
    let hadToken = nextToken(now: now) == nil
    fullAt = min(max(fullAt, now) + interval * count, now + oneTokenLeft + largestDebt)
    return hadToken
  }

  /// Whether no token is missing.
  package func isFull(now: NIODeadline) -> Bool { fullAt <= now }

  /// When the next token is available; nil if one is available now.
  package func nextToken(now: NIODeadline) -> NIODeadline? {
    fullAt <= now + oneTokenLeft ? nil : fullAt - oneTokenLeft
  }
}
