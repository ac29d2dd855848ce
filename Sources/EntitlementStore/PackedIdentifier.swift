package import EntitlementDomain

/// Ids as the stores keep them, in about half the bytes of their text. Every text has one form, and no
/// two texts have the same.
///
/// | text | bytes |
/// |---|---|
/// | decimal digits, as Apple's ids are | two digits in a byte, so that hexadecimal output shows them; after an odd number of digits, `f` |
/// | a UUID in lower case | `fe` and its 16 bytes |
/// | any other | `ff` and its UTF-8 |
///
/// Bytes are ordered as the texts are where these are numbers with equally many digits, or UUIDs.
package enum PackedIdentifier {
  package static func bytes(of text: String) -> [UInt8] {
    var text = text
    return text.withUTF8 { utf8 in
      packedDigits(utf8) ?? packedUUID(utf8) ?? [Tag.text] + utf8
    }
  }

  /// - Throws: ``StoreError/Code/corrupt`` for bytes that ``bytes(of:)`` does not return.
  package static func text(of bytes: [UInt8]) throws(StoreError) -> String {
    try text(of: bytes[...])
  }

  /// As ``text(of:)``, for bytes after a prefix.
  package static func text(of bytes: ArraySlice<UInt8>) throws(StoreError) -> String {
    let text: String? =
      switch bytes.first {
      case Tag.text: String(validating: bytes.dropFirst(), as: UTF8.self)
      case Tag.uuid: uuid(bytes.dropFirst())
      default: digits(bytes)
      }
    guard let text else { throw StoreError(.corrupt, "a stored id is of an unknown form") }
    return text
  }

  /// The first byte of ids that are no numbers: higher than one of two digits.
  private enum Tag {
    static let uuid: UInt8 = 0xfe
    static let text: UInt8 = 0xff
  }

  // MARK: Numbers

  /// Follows the last digit where their number is odd.
  private static let end: UInt8 = 0xf

  private static func packedDigits(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard !text.isEmpty else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity((text.count + 1) / 2)
    var index = 0
    while index < text.count {
      guard let high = digit(text[index]) else { return nil }
      var low = end
      if index + 1 < text.count {
        guard let second = digit(text[index + 1]) else { return nil }
        low = second
      }
      bytes.append(high << 4 | low)
      index += 2
    }
    return bytes
  }

  private static func digit(_ character: UInt8) -> UInt8? {
    let digit = character &- UInt8(ascii: "0")
    return digit <= 9 ? digit : nil
  }

  private static func digits(_ bytes: ArraySlice<UInt8>) -> String? {
    guard !bytes.isEmpty else { return nil }
    var left = bytes.count
    var isValid = true
    let text = String(unsafeUninitializedCapacity: 2 * bytes.count) { characters in
      var count = 0
      for byte in bytes {
        left -= 1
        let (high, low) = (byte >> 4, byte & 0xf)
        guard high <= 9, low <= 9 || (low == end && left == 0) else {
          isValid = false
          return 0
        }
        characters[count] = UInt8(ascii: "0") + high
        count += 1
        if low != end {
          characters[count] = UInt8(ascii: "0") + low
          count += 1
        }
      }
      return count
    }
    return isValid ? text : nil
  }

  // MARK: UUIDs

  private static let uuidLength = 36

  private static func isHyphen(_ index: Int) -> Bool {
    index == 8 || index == 13 || index == 18 || index == 23
  }

  private static func packedUUID(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard text.count == uuidLength else { return nil }
    var bytes = [Tag.uuid]
    bytes.reserveCapacity(17)
    var high: UInt8?
    for (index, character) in text.enumerated() {
      if isHyphen(index) {
        guard character == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = hexDigit(character) else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return bytes
  }

  private static func hexDigit(_ character: UInt8) -> UInt8? {
    if let digit = digit(character) { return digit }
    guard character >= UInt8(ascii: "a"), character <= UInt8(ascii: "f") else { return nil }
    return character - UInt8(ascii: "a") + 10
  }

  private static func uuid(_ bytes: ArraySlice<UInt8>) -> String? {
    guard bytes.count == 16 else { return nil }
    let hexDigits: StaticString = "0123456789abcdef"
    return String(unsafeUninitializedCapacity: uuidLength) { characters in
      var count = 0
      for byte in bytes {
        if isHyphen(count) {
          characters[count] = UInt8(ascii: "-")
          count += 1
        }
        characters[count] = hexDigits.utf8Start[Int(byte >> 4)]
        characters[count + 1] = hexDigits.utf8Start[Int(byte & 0xf)]
        count += 2
      }
      return count
    }
  }
}

extension Identifier {
  /// Its form in the tables (``PackedIdentifier``).
  package var packedBytes: [UInt8] { PackedIdentifier.bytes(of: rawValue) }
}

extension FactKey {
  /// The form of its identifier in the tables (``PackedIdentifier``).
  package var packedIdentifier: [UInt8] { PackedIdentifier.bytes(of: identifier) }
}
