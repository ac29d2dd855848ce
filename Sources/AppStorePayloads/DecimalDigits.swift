/// Integers as decimal digits, eight at a time: a receipt with 187 purchases has 1,500 numbers of up to 16
/// digits.
package enum DecimalDigits {
  /// The bytes that ``write(_:to:)`` may write: a sign and three times eight digits. The longest number
  /// has a sign and 19 digits.
  package static let room = 1 + 3 * 8

  /// The digits, after a minus sign for a negative number; as of `String.init(_:)`.
  package static func text(_ number: Int64) -> String {
    // On the stack first: a string with room for the longest number would allocate memory also for 15
    // digits, which fit a string itself.
    withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { buffer in
      // It has `room` bytes, so it has an address.
      guard let start = buffer.baseAddress else { return "" }
      let length = write(number, to: start)
      return String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
    }
  }

  /// - Parameter output: has ``room`` bytes.
  /// - Returns: the number of bytes up to the last digit. More may have been written.
  package static func write(_ number: Int64, to output: UnsafeMutableRawPointer) -> Int {
    var magnitude = number.magnitude
    var end = 0
    if number < 0 {
      output.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self)
      end = 1
    }
    guard magnitude >= base else { return end + writeFirst(magnitude, to: output + end) }
    let last = magnitude % base
    magnitude /= base
    if magnitude < base {
      end += writeFirst(magnitude, to: output + end)
    } else {
      end += writeFirst(magnitude / base, to: output + end)
      writeAll(magnitude % base, to: output + end)
      end += 8
    }
    writeAll(last, to: output + end)
    return end + 8
  }

  /// Eight digits.
  private static let base: UInt64 = 100_000_000
  private static let zeros: UInt64 = 0x3030_3030_3030_3030

  /// Writes a number below ``base`` without leading zeros.
  ///
  /// - Returns: the number of its digits, at least one. Eight bytes are written.
  private static func writeFirst(_ number: UInt64, to output: UnsafeMutableRawPointer) -> Int {
    let digits = digits(of: number)
    // The number 0 has one digit.
    let leading = min(digits.trailingZeroBitCount / 8, 7)
    output.storeBytes(of: ((digits | zeros) &>> UInt64(8 * leading)).littleEndian, as: UInt64.self)
    return 8 - leading
  }

  /// Writes a number below ``base`` with leading zeros.
  private static func writeAll(_ number: UInt64, to output: UnsafeMutableRawPointer) {
    output.storeBytes(of: (digits(of: number) | zeros).littleEndian, as: UInt64.self)
  }

  /// The eight digits of a number below ``base``, the first one in the lowest byte. Each step halves the
  /// parts of the number, which are side by side: to four digits, two, and one.
  private static func digits(of number: UInt64) -> UInt64 {
    let fours = number / 10_000 | (number % 10_000) << 32
    // Of a part below 10,000, times 5,243 over 2^19 is a hundredth.
    let hundredths = (fours &* 5_243) >> 19 & 0x0000_007F_0000_007F
    let pairs = hundredths | (fours &- hundredths &* 100) << 16
    // Of a part below 100, times 103 over 2^10 is a tenth.
    let tenths = (pairs &* 103) >> 10 & 0x000F_000F_000F_000F
    return tenths | (pairs &- tenths &* 10) << 8
  }
}
