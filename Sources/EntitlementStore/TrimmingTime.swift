package import EntitlementDomain

/// The time by which a store trims its feed. No node's clock alone decides it: a clock that is a month
/// ahead would delete the entries of a month.
package struct TrimmingTime: Hashable, Sendable {
  /// Nil: nothing may be trimmed.
  package var now: Milliseconds?
  /// What is wrong with a clock, for the log; nil if nothing is.
  package var doubt: String?

  package init(now: Milliseconds?, doubt: String? = nil) {
    self.now = now
    self.doubt = doubt
  }

  /// The largest step of a clock that is plausible: a tenth of the retention, so 3 days of 30.
  ///
  /// Whatever a clock shows, at most a tenth of the promised feed is deleted early. Clocks that are
  /// synchronised differ by seconds, and a server that is restarted is seldom off for days.
  package static func bound(retention: Duration) -> Duration {
    retention / 10
  }
}

extension Duration {
  /// Whole milliseconds, rounded down, and clamped to the largest value.
  package var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000)
    let (sum, isSumTooLarge) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return isTooLarge || isSumTooLarge ? (seconds < 0 ? .min : .max) : sum
  }
}
