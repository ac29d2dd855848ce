import NIOCore

/// How many connections may come to nothing in which time: a burst at once, and from then on so many a
/// second. No clock and no I/O. What was not used is there again later, up to the burst.
struct AcceptPace {
  private let interval: TimeAmount
  /// How far ahead of the clock ``paidUntil`` may be.
  private let burstTime: TimeAmount
  /// How long a pause may be, however many came to nothing at once: others want to be served too.
  private let longestPause: TimeAmount
  /// Each connection takes an interval of time, one after the other: when the last one's ends.
  private var paidUntil = NIODeadline.uptimeNanoseconds(0)

  /// - Parameters:
  ///   - rate: connections a second; at least 1.
  ///   - burst: connections after a quiet time before there is a pause; at least 1.
  init(rate: Int, burst: Int) {
    let interval = 1_000_000_000 / Int64(max(1, rate))
    self.interval = .nanoseconds(interval)
    burstTime = .nanoseconds(interval * Int64(max(1, burst) - 1))
    longestPause = max(self.interval, .seconds(1))
  }

  /// A connection came to nothing.
  mutating func spent(now: NIODeadline) {
    paidUntil = min(max(paidUntil, now) + interval, now + burstTime + longestPause)
  }

  /// When the next one may be accepted; nil: now.
  func pause(now: NIODeadline) -> NIODeadline? {
    paidUntil <= now + burstTime ? nil : paidUntil - burstTime
  }
}
