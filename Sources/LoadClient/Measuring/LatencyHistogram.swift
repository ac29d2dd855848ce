package import Histogram

/// Latencies in nanoseconds, to three digits, up to an hour.
package struct LatencyHistogram: Sendable {
  package private(set) var values = Histogram<UInt64>(numberOfSignificantValueDigits: .three)

  /// What takes longer counts as so much.
  static let longest: Int64 = 3_600_000_000_000

  package init() {}

  package mutating func record(nanoseconds: Int64) {
    values.record(UInt64(min(max(nanoseconds, 1), Self.longest)))
  }

  package mutating func add(_ other: LatencyHistogram) {
    values.add(other.values)
  }

  package var count: Int { Int(values.totalCount) }

  /// In nanoseconds; 0 when there is nothing.
  package var maximum: Double { Double(values.maxRecorded) }

  package var mean: Double { count == 0 ? 0 : values.mean }

  /// In nanoseconds; 0 when there is nothing.
  ///
  /// - Parameter percent: from 0 to 100.
  package func percentile(_ percent: Double) -> Double {
    count == 0 ? 0 : min(Double(values.valueAtPercentile(percent)), maximum)
  }
}
