/// A moment: integer milliseconds since the Unix epoch, as Apple sends it (R4).
public struct Milliseconds: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let rawValue: Int64

  public init(_ rawValue: Int64) {
    self.rawValue = rawValue
  }

  public var description: String { String(rawValue) }

  public static func < (left: Self, right: Self) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The moment `duration` milliseconds later, or the last or first representable one.
  public func advanced(by duration: Int64) -> Milliseconds {
    let (sum, overflow) = rawValue.addingReportingOverflow(duration)
    return Milliseconds(overflow ? (duration > 0 ? .max : .min) : sum)
  }

  public static let secondsLength: Int64 = 1_000
  public static let hourLength: Int64 = 3_600_000
  public static let dayLength: Int64 = 86_400_000
}

extension Milliseconds: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int64) {
    self.init(value)
  }
}
