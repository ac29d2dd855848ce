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
    try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in
      try text(of: UnsafeRawBufferPointer(bytes))
    }
  }

  /// As ``text(of:)``, for bytes of a row.
  package static func text(of bytes: UnsafeRawBufferPointer) throws(StoreError) -> String {
    if bytes.first == Tag.text {
      // The initializer below would repair it.
      guard let text = String(validating: bytes.dropFirst(), as: UTF8.self) else {
        throw unknownForm
      }
      return text
    }
    var isValid = true
    let text = String(unsafeUninitializedCapacity: textLimit(of: bytes)) { output in
      guard let count = write(bytes, to: output) else {
        isValid = false
        return 0
      }
      return count
    }
    guard isValid else { throw unknownForm }
    return text
  }

  /// The most bytes that the text has in UTF-8.
  static func textLimit(of bytes: UnsafeRawBufferPointer) -> Int {
    switch bytes.first {
    case Tag.text: bytes.count - 1
    case Tag.uuid: uuidLength
    default: 2 * bytes.count
    }
  }

  /// Writes the text in UTF-8. Whether a text that is no number and no UUID is valid UTF-8 is not looked
  /// at.
  ///
  /// - Parameter output: has at least ``textLimit(of:)`` bytes.
  /// - Returns: the number of bytes; nil for bytes that ``bytes(of:)`` does not return.
  static func write(
    _ bytes: UnsafeRawBufferPointer, to output: UnsafeMutableBufferPointer<UInt8>
  ) -> Int? {
    switch bytes.first {
    case Tag.text: output.update(fromContentsOf: bytes.dropFirst())
    case Tag.uuid: writeUUID(bytes, to: output)
    default: writeDigits(bytes, to: output)
    }
  }

  static var unknownForm: StoreError {
    StoreError(.corrupt, "a stored id is of an unknown form")
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

  private static func writeDigits(
    _ bytes: UnsafeRawBufferPointer, to output: UnsafeMutableBufferPointer<UInt8>
  ) -> Int? {
    guard !bytes.isEmpty else { return nil }
    var count = 0
    for (index, byte) in bytes.enumerated() {
      let (high, low) = (byte >> 4, byte & 0xf)
      guard high <= 9, low <= 9 || (low == end && index == bytes.count - 1) else { return nil }
      output[count] = UInt8(ascii: "0") + high
      count += 1
      if low != end {
        output[count] = UInt8(ascii: "0") + low
        count += 1
      }
    }
    return count
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

  private static func writeUUID(
    _ bytes: UnsafeRawBufferPointer, to output: UnsafeMutableBufferPointer<UInt8>
  ) -> Int? {
    guard bytes.count == 17 else { return nil }
    let hexDigits: StaticString = "0123456789abcdef"
    var count = 0
    for byte in bytes.dropFirst() {
      if isHyphen(count) {
        output[count] = UInt8(ascii: "-")
        count += 1
      }
      output[count] = hexDigits.utf8Start[Int(byte >> 4)]
      output[count + 1] = hexDigits.utf8Start[Int(byte & 0xf)]
      count += 2
    }
    return count
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
