// Elements of JSON texts: strings, base64 and decimal numbers.

extension [UInt8] {
  /// Appends a text in UTF-8 as a JSON string (RFC 8259, section 7). Only characters that must be
  /// escaped are escaped.
  package mutating func appendJSONString(_ text: UnsafeRawBufferPointer) {
    append(UInt8(ascii: "\""))
    var start = 0
    for (index, byte) in text.enumerated() {
      let escape: UInt8?
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): escape = byte
      case 0x08: escape = UInt8(ascii: "b")
      case 0x09: escape = UInt8(ascii: "t")
      case 0x0A: escape = UInt8(ascii: "n")
      case 0x0C: escape = UInt8(ascii: "f")
      case 0x0D: escape = UInt8(ascii: "r")
      case 0..<0x20: escape = nil
      default: continue
      }
      append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start..<index]))
      start = index + 1
      append(UInt8(ascii: "\\"))
      if let escape {
        append(escape)
      } else {
        append(contentsOf: "u00".utf8)
        append(Self.hexadecimalDigits[Int(byte >> 4)])
        append(Self.hexadecimalDigits[Int(byte & 0xF)])
      }
    }
    append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start...]))
    append(UInt8(ascii: "\""))
  }

  private static let hexadecimalDigits = [UInt8]("0123456789abcdef".utf8)

  /// Appends a number in decimal, without a string in between.
  package mutating func appendDecimal(_ number: some FixedWidthInteger) {
    if number < 0 { append(UInt8(ascii: "-")) }
    var first = count
    var rest = UInt64(number.magnitude)
    repeat {
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    // The last digit was written first.
    var last = count - 1
    while first < last {
      swapAt(first, last)
      first += 1
      last -= 1
    }
  }

  /// Appends bytes in base64 (RFC 4648, section 4), padded.
  package mutating func appendBase64(_ bytes: UnsafeRawBufferPointer) {
    let alphabet = Self.base64Alphabet
    var index = 0
    while index < bytes.count {
      let count = Swift.min(3, bytes.count - index)
      var group: UInt32 = 0
      for offset in 0..<3 {
        group = group << 8 | (offset < count ? UInt32(bytes[index + offset]) : 0)
      }
      for digit in 0..<4 {
        append(
          digit <= count
            ? alphabet[Int(group >> UInt32(18 - 6 * digit) & 0x3F)] : UInt8(ascii: "="))
      }
      index += count
    }
  }

  private static let base64Alphabet = [UInt8](
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Decodes base64 of either alphabet (RFC 4648, sections 4 and 5), padded or not. Nil for any
  /// other text, and when unused bits are set.
  package init?(base64 text: [UInt8]) {
    var digits = text[...]
    if text.count.isMultiple(of: 4) {
      for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
    }
    guard digits.count % 4 != 1 else { return nil }
    self = []
    reserveCapacity(digits.count / 4 * 3 + 2)
    var group: UInt32 = 0
    var bits = 0
    for digit in digits {
      let value: UInt8
      switch digit {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = digit - UInt8(ascii: "A")
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = digit - UInt8(ascii: "a") + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0") + 52
      case UInt8(ascii: "+"), UInt8(ascii: "-"): value = 62
      case UInt8(ascii: "/"), UInt8(ascii: "_"): value = 63
      default: return nil
      }
      group = group << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
      }
    }
    guard group & (1 << UInt32(bits) - 1) == 0 else { return nil }
  }
}

/// A number in the grammar of JSON (RFC 8259, section 6), without rounding.
struct JSONDecimal {
  enum Integer<Number> {
    case exactly(Number)
    case fraction
    case outOfRange
  }

  private var isNegative = false
  /// Significant digits: neither the first nor the last is zero. Empty for zero.
  private var digits: [UInt8] = []
  /// The power of ten that multiplies the digits.
  private var exponent = 0

  /// Nil when the text is not such a number.
  init?(_ text: ArraySlice<UInt8>) {
    var rest = text
    isNegative = Self.skip(UInt8(ascii: "-"), &rest)
    let integer = Self.digits(&rest)
    guard let first = integer.first, integer.count == 1 || first != UInt8(ascii: "0") else {
      return nil
    }
    var fraction: ArraySlice<UInt8> = []
    if Self.skip(UInt8(ascii: "."), &rest) {
      fraction = Self.digits(&rest)
      guard !fraction.isEmpty else { return nil }
    }
    var power = 0
    if Self.skip(UInt8(ascii: "e"), &rest) || Self.skip(UInt8(ascii: "E"), &rest) {
      let isSmall = Self.skip(UInt8(ascii: "-"), &rest)
      if !isSmall { _ = Self.skip(UInt8(ascii: "+"), &rest) }
      let digits = Self.digits(&rest)
      guard !digits.isEmpty else { return nil }
      // Clamped to a value that no number of digits can compensate.
      for digit in digits { power = min(power * 10 + Int(digit - UInt8(ascii: "0")), 1 << 40) }
      if isSmall { power = -power }
    }
    guard rest.isEmpty else { return nil }
    digits = Array(integer + fraction)
    exponent = power - fraction.count
    let zeros = digits.reversed().prefix { $0 == UInt8(ascii: "0") }.count
    digits.removeLast(zeros)
    exponent += zeros
    digits.removeFirst(digits.prefix { $0 == UInt8(ascii: "0") }.count)
  }

  func integer<Number: FixedWidthInteger>(as type: Number.Type) -> Integer<Number> {
    if digits.isEmpty { return .exactly(0) }
    guard exponent >= 0 else { return .fraction }
    // No integer of 64 bits has more than 20 digits.
    guard digits.count + exponent <= 20 else { return .outOfRange }
    let text = (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self)
    return Number(text + String(repeating: "0", count: exponent)).map { .exactly($0) }
      ?? .outOfRange
  }

  private static func skip(_ byte: UInt8, _ text: inout ArraySlice<UInt8>) -> Bool {
    guard text.first == byte else { return false }
    text.removeFirst()
    return true
  }

  private static func digits(_ text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = text.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    text.removeFirst(digits.count)
    return digits
  }
}
