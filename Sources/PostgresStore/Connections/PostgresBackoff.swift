/// How long to wait before the next attempt to connect: exponential, with full jitter, so that many
/// processes do not come back at once.
struct PostgresBackoff {
  private let first: Duration
  private let longest: Duration
  private var failures = 0

  init(first: Duration, longest: Duration) {
    self.first = first
    self.longest = longest
  }

  /// - Returns: a random time from zero to the present bound.
  mutating func failed(using random: inout some RandomNumberGenerator) -> Duration {
    var bound = first
    for _ in 0..<failures where bound < longest { bound *= 2 }
    failures += 1
    return min(bound, longest) * Double.random(in: 0...1, using: &random)
  }

  mutating func succeeded() { failures = 0 }
}
