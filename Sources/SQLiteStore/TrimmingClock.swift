import EntitlementDomain
import EntitlementStore

/// The time that the embedded store trusts for trimming: a high-water mark, which is stored.
///
/// There is one node, so its clock has no witness but the time that it measured itself. A step of the
/// clock beyond ``TrimmingTime/bound(retention:)`` is not believed: from then on the mark only advances
/// by measured time. It cannot be told whether the clock was set wrong, or the server was off for
/// long, so the clock is believed again after the retention was measured: then all entries from before
/// the step are old enough by any clock. After a server was off for long, entries are thus kept for up
/// to twice the retention, and nothing is deleted early.
struct TrimmingClock: Hashable {
  /// The latest time that was trusted.
  var time: Milliseconds
  /// The mark when the clock stepped ahead; nil while the clock is trusted.
  var steppedAt: Milliseconds?

  mutating func advance(to clock: Milliseconds, elapsed: Duration, retention: Duration)
    -> TrimmingTime
  {
    let measured = time.advanced(by: max(0, elapsed.wholeMilliseconds))
    let bound = TrimmingTime.bound(retention: retention).wholeMilliseconds
    let steppedAt = steppedAt ?? time
    let isConfirmed = measured >= steppedAt.advanced(by: retention.wholeMilliseconds)
    if clock <= measured.advanced(by: bound) || (self.steppedAt != nil && isConfirmed) {
      self.steppedAt = nil
      // A clock that went back deletes less, which is harmless.
      time = max(time, clock)
      return TrimmingTime(now: clock)
    }
    self.steppedAt = steppedAt
    time = measured
    let (ahead, isTooLarge) = clock.rawValue.subtractingReportingOverflow(measured.rawValue)
    let seconds = (isTooLarge ? .max : ahead) / Milliseconds.secondsLength
    return TrimmingTime(
      now: measured,
      doubt: "the clock is \(seconds) s ahead of the time that was measured since the feed was last "
        + "trimmed; entries are deleted by the measured time. If the server was not off for so "
        + "long, correct the clock")
  }
}

extension SQLiteStore {
  package func trimmingTime(
    clock: Milliseconds, elapsed: Duration, retention: Duration
  ) async throws(StoreError) -> TrimmingTime {
    try await write { database in
      let stored = try database.row(.trimmingClock, [])
      let first: Int64? = try stored?[0] ?? database.row(.lastCommitTime, [])?[0]
      // Without an entry there is nothing to delete early.
      var trusted = TrimmingClock(
        time: first.map { Milliseconds($0) } ?? clock,
        steppedAt: (stored?[1] as Int64?).map { Milliseconds($0) })
      let time = trusted.advance(to: clock, elapsed: elapsed, retention: retention)
      try database.run(
        .setTrimmingClock, [trusted.time.rawValue, trusted.steppedAt?.rawValue])
      return time
    }
  }
}
