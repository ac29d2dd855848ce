/// When a failed call is attempted again, and how often.
///
/// Reads and idempotent calls are attempted again after UNAVAILABLE, after RESOURCE_EXHAUSTED with
/// a retry delay, and when the connection ended before the answer arrived. All other calls are
/// attempted again only when no server received the request. See <doc:ErrorsAndRetries>.
public struct RetryPolicy: Hashable, Sendable {
  /// Attempts of one call, the first one included. At 1 or less, each call is made once.
  public var maximumAttempts: Int
  /// The longest wait before the second attempt. It doubles with each further attempt. The wait is
  /// random between zero and this limit ("full jitter"), and is added to the delay that the server
  /// asks for.
  public var initialBackoff: Duration
  /// The limit at which ``initialBackoff`` stops doubling.
  public var maximumBackoff: Duration
  /// The size of the retry budget that all calls of a client share, in percent of its calls. At 10,
  /// ten calls allow one attempt beyond the first. During an outage it bounds the additional load.
  public var percentOfCalls: Int
  /// Attempts that an unused retry budget allows in a row.
  public var burst: Int

  /// Makes a policy. The defaults are up to 4 attempts with a backoff of 50 ms to 2 s, and a budget
  /// of 10 percent of the calls with a burst of 20.
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

  /// No retries: each call is made once.
  public static let off = RetryPolicy(maximumAttempts: 1)

  var backoff: Backoff {
    Backoff(initial: initialBackoff, maximum: maximumBackoff)
  }
}
