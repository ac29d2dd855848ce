import Foundation
package import Histogram

/// Latencies in nanoseconds, with three significant digits, up to an hour.
package struct LatencyHistogram: Sendable {
  package private(set) var values = Histogram<UInt64>(numberOfSignificantValueDigits: .three)

  /// Longer latencies are recorded as this one.
  static let longest: Int64 = 3_600_000_000_000

  package init() {}

  package mutating func record(nanoseconds: Int64) {
    values.record(UInt64(min(max(nanoseconds, 1), Self.longest)))
  }

  package mutating func add(_ other: LatencyHistogram) {
    values.add(other.values)
  }

  package var count: Int { Int(values.totalCount) }

  /// In nanoseconds; 0 when the histogram is empty.
  package var maximum: Double { Double(values.maxRecorded) }

  package var mean: Double { count == 0 ? 0 : values.mean }

  /// In nanoseconds; 0 when the histogram is empty.
  ///
  /// - Parameter percent: from 0 to 100.
  package func percentile(_ percent: Double) -> Double {
    count == 0 ? 0 : min(Double(values.valueAtPercentile(percent)), maximum)
  }
}

/// Latencies for people, with three significant digits: `8.31 µs`, `12.4 ms`, `1.20 s`.
enum LatencyText {
  static func of(_ nanoseconds: Double) -> String {
    switch nanoseconds {
    case ..<999.5: "\(Int(nanoseconds.rounded())) ns"
    case ..<999_500: digits(nanoseconds / 1e3) + " µs"
    case ..<999_500_000: digits(nanoseconds / 1e6) + " ms"
    default: digits(nanoseconds / 1e9) + " s"
    }
  }

  /// At least three significant digits, with at most two decimal places.
  static func digits(_ value: Double) -> String {
    let places = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
    return String(format: "%.\(places)f", value)
  }
}
