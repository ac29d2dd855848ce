package import NIOCore

/// A token bucket: so many tokens at once, and as many a second from then on. No clock and no I/O.
///
/// It may be overdrawn, for what is known to have taken a token only afterwards. At most a second's
/// tokens are owed, so that no wait is longer than a second.
package struct TokenBucket: Sendable {
  /// The time in which one token is added.
  private let interval: TimeAmount
  /// When the bucket is full again if no more is taken: each token moves it by an interval.
  private var fullAt = NIODeadline.uptimeNanoseconds(0)

  /// A full bucket.
  ///
  /// - Parameter tokensPerSecond: at least 1; also how many it holds.
  package init(tokensPerSecond: Int) {
    interval = .nanoseconds(1_000_000_000 / Int64(max(1, tokensPerSecond)))
  }

  /// Takes some tokens, one if not said otherwise. What is not there is owed.
  ///
  /// - Returns: Whether there was at least one.
  @discardableResult
  package mutating func take(_ count: Int = 1, now: NIODeadline) -> Bool {
    let isThere = nextToken(now: now) == nil
    fullAt = min(max(fullAt, now) + interval * count, now + oneTokenLeft + .seconds(1))
    return isThere
  }

  /// When the next token is there; nil: now.
  package func nextToken(now: NIODeadline) -> NIODeadline? {
    fullAt <= now + oneTokenLeft ? nil : fullAt - oneTokenLeft
  }

  /// How long a bucket with one token takes to be full.
  private var oneTokenLeft: TimeAmount { .seconds(1) - interval }
}
