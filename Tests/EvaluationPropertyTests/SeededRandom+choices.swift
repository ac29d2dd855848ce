import TestSupport

extension SeededRandom {
  /// True once in so many times.
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

  /// Each with even odds.
  mutating func some<Value>(of values: [Value]) -> [Value] {
    values.filter { _ in chance(2) }
  }
}
