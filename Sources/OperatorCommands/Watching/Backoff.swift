/// How long to wait before the next attempt: twice as long each time, up to a limit, and never as
/// long as others do, so that not all come back at once.
struct Backoff: Sendable {
  private static let first = Duration.milliseconds(500)
  /// Long enough for a server that is down for hours, short enough for whoever waits for it.
  private static let longest = Duration.seconds(30)

  private var limit = first

  /// - Returns: between half of the present limit and all of it.
  mutating func next() -> Duration {
    var generator = SystemRandomNumberGenerator()
    return next(using: &generator)
  }

  mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
    defer { limit = min(limit * 2, Self.longest) }
    return limit * Double.random(in: 0.5...1, using: &generator)
  }

  /// After a success.
  mutating func reset() {
    limit = Self.first
  }
}
