/// Converts the text of a JSON number to an integer, digit by digit. Nothing passes through
/// floating point, so no value is rounded except as documented.
package enum JSONNumber {
  /// Exponents beyond this are cut to it: 0 is the only number that they leave within 64 bits.
  private static let exponentLimit = 1 << 40

  /// The largest integer that is not above the number.
  ///
  /// - Parameter text: a number that ``JSONParser`` has validated (RFC 8259 section 6). Its length
  ///   bounds the work, whatever its exponent.
  /// - Returns: nil when the integer does not fit 64 bits.
  package static func floor(_ text: ArraySlice<UInt8>) -> Int64? {
    let isNegative = text.first == UInt8(ascii: "-")
    let mantissa = text.prefix { $0 | 0x20 != UInt8(ascii: "e") }.dropFirst(isNegative ? 1 : 0)
    let integerDigits = mantissa.prefix { $0 != UInt8(ascii: ".") }.count
    // The number of digits of the mantissa that stand before the point, once it is moved.
    let beforePoint = integerDigits + exponent(of: text[mantissa.endIndex...].dropFirst())
    var value: Int64 = 0
    var hasFraction = false
    var position = 0
    for byte in mantissa where byte != UInt8(ascii: ".") {
      let digit = Int64(byte - UInt8(ascii: "0"))
      if position >= beforePoint {
        hasFraction = hasFraction || digit != 0
      } else if !append(isNegative ? -digit : digit, to: &value) {
        return nil
      }
      position += 1
    }
    // A value other than 0 soon leaves 64 bits, so this ends early.
    while position < beforePoint, value != 0 {
      guard append(0, to: &value) else { return nil }
      position += 1
    }
    guard isNegative, hasFraction else { return value }
    let (below, overflowed) = value.subtractingReportingOverflow(1)
    return overflowed ? nil : below
  }

  /// Appends a decimal digit, which has the sign of the number: the minimum has no positive
  /// counterpart.
  ///
  /// - Returns: whether the result fits.
  private static func append(_ digit: Int64, to value: inout Int64) -> Bool {
    let (shifted, overflowed) = value.multipliedReportingOverflow(by: 10)
    let (sum, overflowedToo) = shifted.addingReportingOverflow(digit)
    value = sum
    return !overflowed && !overflowedToo
  }

  /// - Parameter text: an optional sign and digits; 0 if it is empty.
  private static func exponent(of text: ArraySlice<UInt8>) -> Int {
    var value = 0
    for byte in text where byte != UInt8(ascii: "-") && byte != UInt8(ascii: "+") {
      value = min(value * 10 + Int(byte - UInt8(ascii: "0")), exponentLimit)
    }
    return text.first == UInt8(ascii: "-") ? -value : value
  }
}
