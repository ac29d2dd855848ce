/// Exponential backoff with jitter, so that clients that failed together do not retry together.
struct Backoff: Hashable, Sendable {
  var initial: Duration
  var maximum: Duration

  /// The longest wait after this many failures in a row.
  func limit(after failures: Int) -> Duration {
    // Bounds the shift. 30 doublings exceed any useful maximum.
    min(maximum, initial * (1 << min(max(failures - 1, 0), 30)))
  }

  /// A random time from zero to the limit ("full jitter").
  func delay(after failures: Int) -> Duration {
    limit(after: failures) * Double.random(in: 0...1)
  }

  /// A random time from half of the limit to the limit, for retries that gain nothing by being
  /// early.
  func longDelay(after failures: Int) -> Duration {
    limit(after: failures) * Double.random(in: 0.5...1)
  }
}
