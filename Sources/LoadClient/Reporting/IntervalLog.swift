import EntitlementDomain
import Foundation
import Histogram

/// The interval log of HdrHistogram (version 1.3), written during the run. Other programs plot
/// latency over time from it, and merge runs. Each second has a line without a tag for all calls,
/// and a line for each kind with its name as the tag.
struct IntervalLog: Sendable {
  /// Writes whole lines.
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

  /// Values are in nanoseconds; the maximum is in milliseconds, as in other interval logs.
  private static func line(
    tag: String, _ latencies: LatencyHistogram, of interval: MeasuredInterval
  ) -> String {
    let fields = [interval.start, interval.length, latencies.maximum / 1e6].map(digits)
    return "\(tag)\(fields.joined(separator: ",")),\(HistogramEncoding.base64(latencies))\n"
  }

  private static func digits(_ value: Double) -> String { String(format: "%.3f", value) }
}

/// The latencies of one second, or of the shorter rest at the end of a run.
struct MeasuredInterval: Sendable {
  /// Start, in seconds from the start of the measurement.
  let start: Double
  let length: Double
  let all: LatencyHistogram
  let kinds: [CallKind: LatencyHistogram]
}

/// Encodes a histogram for the interval log: version 2 of the HdrHistogram encoding, compressed, in
/// base64. See `encodeIntoCompressedByteBuffer` of <https://github.com/HdrHistogram/HdrHistogram>.
enum HistogramEncoding {
  // Both have the flag for words of variable length, 0x10.
  private static let cookie: UInt32 = 0x1c84_9303 | 0x10
  private static let compressedCookie: UInt32 = 0x1c84_9304 | 0x10

  static func base64(_ histogram: LatencyHistogram) -> String {
    let compressed = zlib(encoded(histogram))
    var bytes: [UInt8] = []
    append(compressedCookie, to: &bytes)
    append(UInt32(compressed.count), to: &bytes)
    return Data(bytes + compressed).base64EncodedString()
  }

  /// The encoding without compression.
  private static func encoded(_ histogram: LatencyHistogram) -> [UInt8] {
    let counts = counts(histogram)
    var bytes: [UInt8] = []
    append(cookie, to: &bytes)
    append(UInt32(counts.count), to: &bytes)
    // The normalising index offset, which is for rotated counts.
    append(UInt32(0), to: &bytes)
    append(UInt32(histogram.values.numberOfSignificantValueDigits.rawValue), to: &bytes)
    append(histogram.values.lowestDiscernibleValue, to: &bytes)
    append(UInt64(LatencyHistogram.longest), to: &bytes)
    // The conversion ratio from integers to values.
    append((1.0).bitPattern, to: &bytes)
    return bytes + counts
  }

  /// The counts up to the last one that is not 0. A run of zeros is one negative number.
  private static func counts(_ histogram: LatencyHistogram) -> [UInt8] {
    var bytes: [UInt8] = []
    var zeros = 0
    var left = histogram.values.totalCount
    for value in histogram.values.allValues() where left > 0 {
      if value.count == 0 {
        zeros += 1
        continue
      }
      if zeros > 0 { appendZigZag(-zeros, to: &bytes) }
      zeros = 0
      appendZigZag(Int(value.count), to: &bytes)
      left -= value.count
    }
    return bytes
  }

  /// ZigZag and LEB128: groups of seven bits, the lowest first. The format has a special ninth
  /// byte, which counts do not reach.
  private static func appendZigZag(_ number: Int, to bytes: inout [UInt8]) {
    var rest = UInt64(bitPattern: Int64(number << 1 ^ number >> 63))
    while rest > 0x7f {
      bytes.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// A zlib stream (RFC 1950) of stored blocks (RFC 1951, section 3.2.4). Every reader accepts it,
  /// and the counts are small without compression.
  static func zlib(_ bytes: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(0xffff)
      rest = rest.dropFirst(block.count)
      let length = UInt16(block.count)
      stream.append(rest.isEmpty ? 1 : 0)
      for part in [length, ~length] { stream += [UInt8(part & 0xff), UInt8(part >> 8)] }
      stream += block
    } while !rest.isEmpty
    append(adler32(bytes), to: &stream)
    return stream
  }

  /// The Adler-32 checksum (RFC 1950, section 8.2).
  private static func adler32(_ bytes: [UInt8]) -> UInt32 {
    var (first, second): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      first = (first + UInt32(byte)) % 65_521
      second = (second + first) % 65_521
    }
    return second << 16 | first
  }

  private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
  }
}
