import Foundation
import Histogram

/// A histogram as the log of HdrHistogram has it: the compressed form of its version 2 encoding, in
/// base64. See `encodeIntoCompressedByteBuffer` of <https://github.com/HdrHistogram/HdrHistogram>.
enum HistogramEncoding {
  // Both with the mark of words of variable length.
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
    // The offset of rotated counts: there is none.
    append(UInt32(0), to: &bytes)
    append(UInt32(histogram.values.numberOfSignificantValueDigits.rawValue), to: &bytes)
    append(histogram.values.lowestDiscernibleValue, to: &bytes)
    append(UInt64(LatencyHistogram.longest), to: &bytes)
    // What whole numbers are multiplied with to become the values.
    append((1.0).bitPattern, to: &bytes)
    return bytes + counts
  }

  /// The counts up to the last one that is not 0; zeros that follow each other are one negative number.
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

  /// In groups of seven bits, the lowest first; small numbers of either sign are short. The form's
  /// ninth byte differs, which counts do not reach.
  private static func appendZigZag(_ number: Int, to bytes: inout [UInt8]) {
    var rest = UInt64(bitPattern: Int64(number << 1 ^ number >> 63))
    while rest > 0x7f {
      bytes.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// A zlib stream (RFC 1950) of stored blocks (RFC 1951, section 3.2.4): every reader takes it, and
  /// the counts are small as they are.
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

  /// RFC 1950, section 8.2.
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
