/// What an account was given of others' purchases because it claimed them (R44), within 24 hours
/// from the first: published transactions get replayed, so a claim costs its claimer a rate.
package struct ClaimWindow: Hashable, Sendable {
  /// In milliseconds.
  package static let length = Milliseconds.dayLength

  /// Granted claims since `since`.
  package private(set) var count: Int
  /// When the first of them was granted; nil when there was none.
  package private(set) var since: Milliseconds?

  package init(count: Int = 0, since: Milliseconds? = nil) {
    self.count = count
    self.since = since
  }

  /// Whether one more claim may be granted.
  ///
  /// - Parameter limit: how many may be granted in one window.
  package func allowsClaim(at now: Milliseconds, limit: Int) -> Bool {
    !isOpen(at: now) || count < limit
  }

  package mutating func countClaim(at now: Milliseconds) {
    if isOpen(at: now) {
      count += 1
    } else {
      count = 1
      since = now
    }
  }

  /// Counts the claims of another window too: as if one account had made them all.
  package mutating func add(_ other: ClaimWindow, at now: Milliseconds) {
    guard other.isOpen(at: now), let otherSince = other.since else { return }
    guard isOpen(at: now), let since else {
      self = other
      return
    }
    count += other.count
    self.since = min(since, otherSince)
  }

  /// A window that lies more than its length ahead was opened by a clock that was wrong: it must
  /// not stay open until that moment comes.
  private func isOpen(at now: Milliseconds) -> Bool {
    guard let since else { return false }
    return now < since.advanced(by: Self.length) && since < now.advanced(by: Self.length)
  }
}
