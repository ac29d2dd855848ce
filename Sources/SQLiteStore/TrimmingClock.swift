package import EntitlementDomain
package import EntitlementStore
import GRDB

/// The time that the embedded store trusts for trimming: a high-water mark, which is stored.
///
/// There is one node, so its clock has no witness but the time that it measured itself. A step of the
/// clock beyond ``TrimmingTime/bound(retention:)`` is not believed: from then on the mark only advances
/// by measured time. It cannot be told whether the clock was set wrong, or the server was off for
/// long, so the clock is believed again after the retention was measured: then all entries from before
/// the step are old enough by any clock. After a server was off for long, entries are thus kept for up
/// to twice the retention, and nothing is deleted early.
struct TrimmingClock: Hashable {
  /// A step of the clock that is not believed yet.
  struct Step: Hashable {
    /// The mark when the step was seen.
    var at: Milliseconds
    /// By how much the clock was ahead of measured time.
    var length: Int64
  }

  /// The latest time that was trusted.
  var time: Milliseconds
  /// Nil while the clock is trusted.
  var step: Step?

  mutating func advance(to clock: Milliseconds, elapsed: Duration, retention: Duration)
    -> TrimmingTime
  {
    let measured = time.advanced(by: max(0, elapsed.wholeMilliseconds))
    let bound = TrimmingTime.bound(retention: retention).wholeMilliseconds
    let (difference, isTooLarge) = clock.rawValue.subtractingReportingOverflow(measured.rawValue)
    let ahead = isTooLarge ? (clock < measured ? .min : .max) : difference
    var step = step ?? Step(at: time, length: ahead)
    // Another step: the measuring begins again.
    if ahead > step.length.addingClamped(bound) { step = Step(at: time, length: ahead) }
    let isConfirmed = measured >= step.at.advanced(by: retention.wholeMilliseconds)
    if ahead <= bound || (self.step != nil && isConfirmed) {
      self.step = nil
      // A clock that went back deletes less, which is harmless.
      time = max(time, clock)
      return TrimmingTime(now: clock)
    }
    self.step = step
    time = measured
    return TrimmingTime(
      now: measured,
      doubt: "the clock is \(ahead / Milliseconds.secondsLength) s ahead of the time that was "
        + "measured since the feed was last trimmed; entries are deleted by the measured time. If the "
        + "server was not off for so long, correct the clock")
  }
}

extension Int64 {
  fileprivate func addingClamped(_ other: Int64) -> Int64 {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? (other < 0 ? .min : .max) : sum
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
        step: (stored?[1] as Int64?).map { at in
          TrimmingClock.Step(at: Milliseconds(at), length: stored?[2] ?? 0)
        })
      let time = trusted.advance(to: clock, elapsed: elapsed, retention: retention)
      try database.run(
        .setTrimmingClock,
        [trusted.time.rawValue, trusted.step?.at.rawValue, trusted.step?.length])
      return time
    }
  }
}
