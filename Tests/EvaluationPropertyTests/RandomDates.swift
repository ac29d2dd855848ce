import EntitlementDomain
import TestSupport

/// Dates on a coarse grid, so that different facts often share a moment.
enum RandomDates {
  /// 2026-01-01T00:00:00Z and so many days.
  static func day(_ count: Int) -> Milliseconds {
    Milliseconds(1_767_225_600_000).advanced(by: Int64(count) * Milliseconds.dayLength)
  }

  /// Mostly a midnight of the days around; sometimes a moment in the midst of a day, and once in a
  /// while the end of all time, which may not overflow anything.
  static func near(_ days: ClosedRange<Int>, with random: inout SeededRandom) -> Milliseconds {
    if random.chance(400) {
      return random.pick([Milliseconds(.max), Milliseconds(.min), 0, Milliseconds(.max - 1)])
    }
    let date = day(random.number(days))
    return random.chance(6) ? date.advanced(by: Int64(random.number(-2...2))) : date
  }
}
