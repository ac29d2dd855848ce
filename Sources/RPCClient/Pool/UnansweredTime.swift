import NIOCore

/// For how long a connection with calls in flight has given no answer. While nothing is in flight, no
/// answer is owed, and the time stands still.
struct UnansweredTime: Sendable {
  private var passed = TimeAmount.zero
  /// Since when it goes on; nil while nothing is in flight.
  private var since: NIODeadline?

  func total(at now: NIODeadline) -> TimeAmount {
    passed + (since.map { now - $0 } ?? .zero)
  }

  mutating func callStarted(at now: NIODeadline) {
    since = since ?? now
  }

  mutating func answered(at now: NIODeadline) {
    passed = .zero
    since = now
  }

  mutating func lastCallEnded(at now: NIODeadline) {
    passed = total(at: now)
    since = nil
  }
}
