/// A moment: integer milliseconds since the Unix epoch, as Apple sends it (R4).
package struct Milliseconds: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let rawValue: Int64

  package init(_ rawValue: Int64) {
    self.rawValue = rawValue
  }

  package var description: String { String(rawValue) }

  package static func < (left: Self, right: Self) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The moment `duration` milliseconds later, or the last or first representable one.
  package func advanced(by duration: Int64) -> Milliseconds {
    let (sum, overflow) = rawValue.addingReportingOverflow(duration)
    return Milliseconds(overflow ? (duration > 0 ? .max : .min) : sum)
  }

  package static let secondsLength: Int64 = 1_000
  package static let hourLength: Int64 = 3_600_000
  package static let dayLength: Int64 = 86_400_000
}

extension Milliseconds: ExpressibleByIntegerLiteral {
  package init(integerLiteral value: Int64) {
    self.init(value)
  }
}
