/// Waits that double from one attempt to the next, at random, so that many who failed together do
/// not come again together.
struct Backoff: Hashable, Sendable {
  var initial: Duration
  var maximum: Duration

  /// The longest wait after this many failures in a row.
  func limit(after failures: Int) -> Duration {
    // More doublings than these exceed any maximum that makes sense.
    min(maximum, initial * (1 << min(max(failures - 1, 0), 30)))
  }

  /// Anything up to the limit: "full jitter".
  func delay(after failures: Int) -> Duration {
    limit(after: failures) * Double.random(in: 0...1)
  }

  /// At least half of the limit, where coming too early is no use.
  func longDelay(after failures: Int) -> Duration {
    limit(after: failures) * Double.random(in: 0.5...1)
  }
}
