/// Counts the claims that one account was granted, in windows of 24 hours from the first claim
/// (R44). The limit is needed because anybody can submit a transaction that was published.
package struct ClaimWindow: Hashable, Sendable {
  /// In milliseconds.
  package static let length = Milliseconds.dayLength

  /// The number of claims granted since ``since``.
  package private(set) var count: Int
  /// The moment of the first granted claim of the window; nil when there was none.
  package private(set) var since: Milliseconds?

  package init(count: Int = 0, since: Milliseconds? = nil) {
    self.count = count
    self.since = since
  }

  /// Whether one more claim may be granted.
  ///
  /// - Parameter limit: the largest number of granted claims in one window.
  package func allowsClaim(at now: Milliseconds, limit: Int) -> Bool {
    !isOpen(at: now) || count < limit
  }

  /// Counts one granted claim.
  package mutating func countClaim(at now: Milliseconds) {
    if isOpen(at: now) {
      count += 1
    } else {
      count = 1
      since = now
    }
  }

  /// Adds the claims of another account's window, for an account merge.
  package mutating func add(_ other: ClaimWindow, at now: Milliseconds) {
    guard other.isOpen(at: now), let otherSince = other.since else { return }
    guard isOpen(at: now), let since else {
      self = other
      return
    }
    count += other.count
    self.since = min(since, otherSince)
  }

  /// Whether the window counts at `now`. A window that begins more than its length in the future
  /// was opened under a wrong clock, and does not count.
  private func isOpen(at now: Milliseconds) -> Bool {
    guard let since else { return false }
    return now < since.advanced(by: Self.length) && since < now.advanced(by: Self.length)
  }
}
