extension JSONParser {
  /// Reads a string, starting at its opening quote and ending after its closing quote.
  mutating func readString(isName: Bool) throws(JSONError) -> JSONNode {
    position += 1
    let start = position
    var hasEscapes = false
    while true {
      skipPlainText()
      guard position < bytes.count else { throw malformed("a string does not end") }
      switch bytes[position] {
      case UInt8(ascii: "\""):
        let content = UnsafeBufferPointer(rebasing: bytes[start..<position])
        let string = node(
          .string, start: start, end: position, hasEscapes: hasEscapes,
          hash: isName ? hash(ofName: content, hasEscapes: hasEscapes) : 0)
        position += 1
        return string
      case UInt8(ascii: "\\"):
        hasEscapes = true
        try skipEscape()
      case 0..<0x20:
        throw malformed("a string contains a control character")
      case 0x80...:
        try skipMultibyteCharacter()
      default:
        position += 1
      }
    }
  }

  private func hash(ofName content: UnsafeBufferPointer<UInt8>, hasEscapes: Bool) -> UInt32 {
    guard hasEscapes else { return JSONName.hash(of: content) }
    return JSONText.unescaped(content).withUnsafeBufferPointer { JSONName.hash(of: $0) }
  }

  /// Skips eight bytes at a time while all are plain ASCII characters. Signed payloads inside a
  /// payload are strings of thousands of such characters.
  private mutating func skipPlainText() {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highBits = ones << 7
    // Sets the high bit of each byte below the bound: the subtraction borrows into it. Valid for
    // bytes below 0x80.
    func marksBelow(_ bound: UInt8, in word: UInt64) -> UInt64 {
      (word &- ones &* UInt64(bound)) & ~word & highBits
    }
    let start = UnsafeRawPointer(bytes.baseAddress)
    while let start, position + 8 <= bytes.count {
      let word = start.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
      let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
      let marks =
        word & highBits | marksBelow(0x20, in: word) | marksBelow(1, in: quotes)
        | marksBelow(1, in: backslashes)
      guard marks == 0 else { return }
      position += 8
    }
  }

  private mutating func skipEscape() throws(JSONError) {
    position += 1
    guard position < bytes.count else { throw malformed("an escape does not end") }
    switch bytes[position] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 1
    case UInt8(ascii: "u"):
      position += 1
      let unit = try readHexadecimal()
      switch unit {
      case 0xD800..<0xDC00:
        guard position + 2 <= bytes.count, bytes[position] == UInt8(ascii: "\\"),
          bytes[position + 1] == UInt8(ascii: "u")
        else { throw loneSurrogate() }
        position += 2
        guard (0xDC00..<0xE000).contains(try readHexadecimal()) else { throw loneSurrogate() }
      case 0xDC00..<0xE000: throw loneSurrogate()
      default: break
      }
    default:
      throw malformed("an escape is unknown")
    }
  }

  private mutating func readHexadecimal() throws(JSONError) -> UInt32 {
    guard position + 4 <= bytes.count,
      let value = JSONText.hexadecimal(
        UnsafeBufferPointer(rebasing: bytes[position..<position + 4]))
    else { throw malformed("an escape lacks its four digits") }
    position += 4
    return value
  }

  /// Skips one character of two to four bytes. It must be well formed (RFC 3629 section 4): not
  /// overlong, not a surrogate, and not above U+10FFFF.
  private mutating func skipMultibyteCharacter() throws(JSONError) {
    let following: Int
    // The range of the second byte depends on the first byte. The other bytes have this range.
    var bounds: ClosedRange<UInt8> = 0x80...0xBF
    switch bytes[position] {
    case 0xC2...0xDF: following = 1
    case 0xE0: (following, bounds) = (2, 0xA0...0xBF)
    case 0xED: (following, bounds) = (2, 0x80...0x9F)
    case 0xE1...0xEF: following = 2
    case 0xF0: (following, bounds) = (3, 0x90...0xBF)
    case 0xF1...0xF3: following = 3
    case 0xF4: (following, bounds) = (3, 0x80...0x8F)
    default: throw invalidText()
    }
    guard position + following < bytes.count else { throw invalidText() }
    for offset in 1...following {
      guard bounds.contains(bytes[position + offset]) else { throw invalidText() }
      bounds = 0x80...0xBF
    }
    position += following + 1
  }

  private func invalidText() -> JSONError {
    JSONError(.invalidText, "a string is not UTF-8 at byte \(position)")
  }

  private func loneSurrogate() -> JSONError {
    JSONError(.invalidText, "a string contains a lone surrogate at byte \(position)")
  }
}
