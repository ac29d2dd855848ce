/// The two base64 forms of a JWS. Decoding is strict, so each value has exactly one encoding: it
/// rejects wrong padding, non-zero trailing bits, and characters outside the alphabet, white space
/// included (RFC 4648 sections 3.3 and 3.5).
package enum Base64Form: Sendable {
  /// `A–Z a–z 0–9 - _` without padding. Used for the segments of a JWS (RFC 7515 section 2).
  case urlWithoutPadding
  /// `A–Z a–z 0–9 + /` with padding. Used for the certificates of `x5c` (RFC 7515 section 4.1.6).
  case standard

  /// - Throws: ``CryptographyError/Code/malformedBase64``.
  package func decode(_ text: UnsafeRawBufferPointer) throws(CryptographyError) -> [UInt8] {
    let characters = try unpadded(text)
    guard characters.count % 4 != 1 else { throw Self.malformed("the length is not possible") }
    let count = characters.count / 4 * 3 + max(characters.count % 4 - 1, 0)
    var isValid = true
    let decoded = [UInt8](unsafeUninitializedCapacity: count) { output, written in
      isValid = decodeTable.withUnsafeBufferPointer { table in
        Self.decode(characters, into: output, table: table)
      }
      // The output is incomplete when a character is not valid.
      written = isValid ? count : 0
    }
    guard isValid else { throw Self.malformed("a character is not valid here") }
    return decoded
  }

  /// - Throws: ``CryptographyError/Code/malformedBase64``.
  package func decode(_ text: some Sequence<UInt8>) throws(CryptographyError) -> [UInt8] {
    let bytes = Array(text)
    return try bytes.withUnsafeBufferPointer { (buffer) throws(CryptographyError) in
      try decode(UnsafeRawBufferPointer(buffer))
    }
  }

  package func encode(_ bytes: [UInt8]) -> [UInt8] {
    let alphabet = self == .standard ? Self.standardAlphabet : Self.urlAlphabet
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let taken = min(3, bytes.count - index)
      let first = UInt32(bytes[index])
      let second = taken > 1 ? UInt32(bytes[index + 1]) : 0
      let third = taken > 2 ? UInt32(bytes[index + 2]) : 0
      let group = first << 16 | second << 8 | third
      for position in 0...taken {
        text.append(alphabet[Int(group >> UInt32(18 - 6 * position) & 63)])
      }
      if self == .standard {
        for _ in taken..<3 { text.append(Self.padding) }
      }
      index += 3
    }
    return text
  }

  private static let padding = UInt8(ascii: "=")
  private static let urlAlphabet = alphabet(lastTwo: "-_")
  private static let standardAlphabet = alphabet(lastTwo: "+/")
  private static let urlTable = table(of: urlAlphabet)
  private static let standardTable = table(of: standardAlphabet)

  private var decodeTable: [UInt8] { self == .standard ? Self.standardTable : Self.urlTable }

  private static func alphabet(lastTwo: String) -> [UInt8] {
    Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
      + Array(lastTwo.utf8)
  }

  /// The value of each byte; 255 for a byte outside the alphabet.
  private static func table(of alphabet: [UInt8]) -> [UInt8] {
    var table = [UInt8](repeating: 255, count: 256)
    for (value, character) in alphabet.enumerated() {
      table[Int(character)] = UInt8(truncatingIfNeeded: value)
    }
    return table
  }

  private func unpadded(
    _ text: UnsafeRawBufferPointer
  ) throws(CryptographyError) -> UnsafeRawBufferPointer {
    guard self == .standard else { return text }
    guard text.count % 4 == 0 else { throw Self.malformed("the padding is missing") }
    guard text.last == Self.padding else { return text }
    let paddingLength = text[text.count - 2] == Self.padding ? 2 : 1
    return UnsafeRawBufferPointer(rebasing: text[..<(text.count - paddingLength)])
  }

  /// Returns false for a character outside the alphabet and for non-zero trailing bits.
  private static func decode(
    _ text: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>,
    table: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    var read = 0
    var written = 0
    // Values have six bits. A character outside the alphabet (255) sets the upper two.
    var seen: UInt8 = 0
    while read + 4 <= text.count {
      let first = table[Int(text[read])]
      let second = table[Int(text[read + 1])]
      let third = table[Int(text[read + 2])]
      let fourth = table[Int(text[read + 3])]
      seen |= first | second | third | fourth
      output[written] = first << 2 | second >> 4
      output[written + 1] = second << 4 | third >> 2
      output[written + 2] = third << 6 | fourth
      read += 4
      written += 3
    }
    guard seen < 64 else { return false }
    switch text.count - read {
    case 2:
      let first = table[Int(text[read])]
      let second = table[Int(text[read + 1])]
      guard first | second < 64, second & 15 == 0 else { return false }
      output[written] = first << 2 | second >> 4
    case 3:
      let first = table[Int(text[read])]
      let second = table[Int(text[read + 1])]
      let third = table[Int(text[read + 2])]
      guard first | second | third < 64, third & 3 == 0 else { return false }
      output[written] = first << 2 | second >> 4
      output[written + 1] = second << 4 | third >> 2
    default:
      break
    }
    return true
  }

  private static func malformed(_ reason: String) -> CryptographyError {
    CryptographyError(.malformedBase64, "not canonical base64: \(reason)")
  }
}
