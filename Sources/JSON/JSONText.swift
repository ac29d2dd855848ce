/// Decodes and compares the strings of a validated JSON text.
enum JSONText {
  /// The unescaped content of a string node, in UTF-8.
  static func content(of node: JSONNode, in bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    let raw = UnsafeBufferPointer(rebasing: bytes[Int(node.start)..<Int(node.end)])
    return node.hasEscapes ? unescaped(raw) : Array(raw)
  }

  static func areEqual(
    _ left: JSONNode, _ right: JSONNode, in bytes: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    if left.hasEscapes || right.hasEscapes {
      return content(of: left, in: bytes) == content(of: right, in: bytes)
    }
    return areEqual(
      UnsafeBufferPointer(rebasing: bytes[Int(left.start)..<Int(left.end)]),
      UnsafeBufferPointer(rebasing: bytes[Int(right.start)..<Int(right.end)]))
  }

  static func matches(
    _ node: JSONNode, _ name: UnsafeBufferPointer<UInt8>, in bytes: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    if node.hasEscapes { return content(of: node, in: bytes).elementsEqual(name) }
    return areEqual(UnsafeBufferPointer(rebasing: bytes[Int(node.start)..<Int(node.end)]), name)
  }

  // Compares eight bytes at a time: a sender may choose long names that differ only at the end.
  private static func areEqual(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    guard left.count == right.count else { return false }
    let (left, right) = (UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
    var position = 0
    while position + 8 <= left.count {
      guard
        left.loadUnaligned(fromByteOffset: position, as: UInt64.self)
          == right.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      else { return false }
      position += 8
    }
    while position < left.count {
      guard left[position] == right[position] else { return false }
      position += 1
    }
    return true
  }

  /// Replaces the escapes of a string.
  ///
  /// - Parameter raw: the bytes between the quotes. ``JSONParser`` has validated the escapes.
  static func unescaped(_ raw: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(raw.count)
    var index = 0
    while index < raw.count {
      guard raw[index] == UInt8(ascii: "\\"), index + 1 < raw.count else {
        result.append(raw[index])
        index += 1
        continue
      }
      switch raw[index + 1] {
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0C)
      case UInt8(ascii: "n"): result.append(0x0A)
      case UInt8(ascii: "r"): result.append(0x0D)
      case UInt8(ascii: "t"): result.append(0x09)
      case UInt8(ascii: "u"):
        let (scalar, length) = unicodeEscape(raw, at: index)
        result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        index += length
        continue
      case let character: result.append(character)
      }
      index += 2
    }
    return result
  }

  /// The character of one `\uXXXX` escape or of a surrogate pair, and the length in bytes.
  private static func unicodeEscape(
    _ raw: UnsafeBufferPointer<UInt8>, at index: Int
  ) -> (Unicode.Scalar, length: Int) {
    let unit = codeUnit(raw, at: index)
    if (0xD800..<0xDC00).contains(unit) {
      let value = 0x10000 + (unit - 0xD800) << 10 + (codeUnit(raw, at: index + 6) & 0x3FF)
      return (Unicode.Scalar(value) ?? "\u{FFFD}", 12)
    }
    return (Unicode.Scalar(unit) ?? "\u{FFFD}", 6)
  }

  private static func codeUnit(_ raw: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt32 {
    guard index + 6 <= raw.count else { return 0xFFFD }
    return hexadecimal(UnsafeBufferPointer(rebasing: raw[index + 2..<index + 6])) ?? 0xFFFD
  }

  /// The value of at most eight hexadecimal digits, in upper or lower case.
  ///
  /// - Returns: nil when a byte is not a hexadecimal digit.
  static func hexadecimal(_ digits: UnsafeBufferPointer<UInt8>) -> UInt32? {
    var value: UInt32 = 0
    for digit in digits {
      let nibble: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): nibble = digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): nibble = digit - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): nibble = digit - UInt8(ascii: "A") + 10
      default: return nil
      }
      value = value << 4 | UInt32(nibble)
    }
    return value
  }
}
