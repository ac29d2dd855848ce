/// The identifier of a device in a legacy receipt: the 16 bytes of Apple's `identifierForVendor`,
/// or on a Mac the 6 bytes of the primary network address.
package struct DeviceIdentifier: Hashable, Sendable, CustomStringConvertible {
  package let bytes: [UInt8]

  /// In bytes; four times the length of any device's identifier.
  private static let maximumLength = 64

  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Parses a UUID, or hexadecimal digits with or without colons. Nil for any other text.
  package init?(text: String) {
    let digits = text.filter { $0 != "-" && $0 != ":" }
    let values = digits.compactMap { $0.isASCII ? $0.hexDigitValue : nil }
    guard values.count == digits.count, values.count.isMultiple(of: 2),
      (1...Self.maximumLength).contains(values.count / 2)
    else { return nil }
    bytes = stride(from: 0, to: values.count, by: 2).map {
      UInt8(values[$0] << 4 | values[$0 + 1])
    }
  }

  /// The bytes in lower-case hexadecimal digits.
  package var description: String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
