/// How often, and when, a call that failed is made again.
///
/// Made again is what a server refused for now (UNAVAILABLE, or RESOURCE_EXHAUSTED with a hint when
/// to come again), and what was cut off by the end of its connection: reads, and the changes of
/// which a second one changes nothing more. Any other call only when no server saw it.
public struct RetryPolicy: Hashable, Sendable {
  /// The first one included.
  public var maximumAttempts: Int
  /// The wait before an attempt is a random part of this, doubled with each attempt; what the server
  /// asks for comes before it.
  public var initialBackoff: Duration
  public var maximumBackoff: Duration
  /// Attempts beyond the first of each call, for all calls of the client together: an outage is not
  /// to be made worse by them. Each call adds this many hundredths of one.
  public var percentOfCalls: Int
  /// How many may be made in a row after a quiet time.
  public var burst: Int

  public init(
    maximumAttempts: Int = 4, initialBackoff: Duration = .milliseconds(50),
    maximumBackoff: Duration = .seconds(2), percentOfCalls: Int = 10, burst: Int = 20
  ) {
    self.maximumAttempts = maximumAttempts
    self.initialBackoff = initialBackoff
    self.maximumBackoff = maximumBackoff
    self.percentOfCalls = percentOfCalls
    self.burst = burst
  }

  /// Every call is made once.
  public static let off = RetryPolicy(maximumAttempts: 1)

  var backoff: Backoff {
    Backoff(initial: initialBackoff, maximum: maximumBackoff)
  }
}
