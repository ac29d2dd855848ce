import EntitlementDomain
import TestSupport

/// Dates on a coarse grid, so that different facts often share a moment.
enum RandomDates {
  /// A number of days after 2026-01-01T00:00:00Z.
  static func day(_ count: Int) -> Milliseconds {
    Milliseconds(1_767_225_600_000).advanced(by: Int64(count) * Milliseconds.dayLength)
  }

  /// Mostly a midnight in the range; sometimes a moment within a day, and rarely the end of the
  /// range of moments, which must not overflow.
  static func near(_ days: ClosedRange<Int>, with random: inout SeededRandom) -> Milliseconds {
    if random.chance(400) {
      return random.pick([Milliseconds(.max), Milliseconds(.min), 0, Milliseconds(.max - 1)])
    }
    let date = day(random.number(days))
    return random.chance(6) ? date.advanced(by: Int64(random.number(-2...2))) : date
  }
}

extension SeededRandom {
  /// True with a probability of 1 in `outOf`.
  mutating func chance(_ outOf: UInt64) -> Bool {
    next() % outOf == 0
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + Int(next() % UInt64(range.upperBound - range.lowerBound + 1))
  }

  /// - Parameter values: at least one.
  mutating func pick<Value>(_ values: [Value]) -> Value {
    values[number(0...(values.count - 1))]
  }

  /// Each value with a probability of one half.
  mutating func some<Value>(of values: [Value]) -> [Value] {
    values.filter { _ in chance(2) }
  }
}
