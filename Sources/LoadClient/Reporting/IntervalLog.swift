import EntitlementDomain
import Foundation

/// The log of HdrHistogram (version 1.3), written while a run goes on, from which others draw latency
/// over time and merge runs: a line without a tag for all calls of each second, and one for each
/// kind with its name as the tag.
struct IntervalLog: Sendable {
  /// Takes whole lines.
  let write: @Sendable (_ lines: String) throws -> Void

  func begin(at start: Milliseconds) throws {
    try write(
      """
      #[Histogram log format version 1.3]
      #[StartTime: \(Self.digits(Double(start.rawValue) / 1e3)) (seconds since epoch), \
      \(start.rfc3339)]
      "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"

      """)
  }

  func add(_ interval: MeasuredInterval) throws {
    var lines = Self.line(tag: "", interval.all, of: interval)
    for kind in CallKind.allCases {
      guard let latencies = interval.kinds[kind] else { continue }
      lines += Self.line(tag: "Tag=\(kind.name),", latencies, of: interval)
    }
    try write(lines)
  }

  /// Values are in nanoseconds, the maximum is in milliseconds, as is usual.
  private static func line(
    tag: String, _ latencies: LatencyHistogram, of interval: MeasuredInterval
  ) -> String {
    let fields = [interval.start, interval.length, latencies.maximum / 1e6].map(digits)
    return "\(tag)\(fields.joined(separator: ",")),\(HistogramEncoding.base64(latencies))\n"
  }

  private static func digits(_ value: Double) -> String { String(format: "%.3f", value) }
}
