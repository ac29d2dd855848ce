package import NIOCore

extension ByteBuffer {
  /// Writes a base-128 varint of one to ten bytes.
  package mutating func writeVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      writeInteger(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    writeInteger(UInt8(truncatingIfNeeded: rest))
  }

  /// Writes an `int64` or `int32` field. Zero, the default, is not written.
  package mutating func writeField(_ number: UInt32, integer value: Int64) {
    if value == 0 {
      return
    }
    writeVarint(UInt64(number) << 3)
    writeVarint(UInt64(bitPattern: value))
  }

  /// Writes a `string` field. An empty string, the default, is not written.
  package mutating func writeField(_ number: UInt32, text: String) {
    if text.isEmpty {
      return
    }
    writeFieldPrefix(number, length: text.utf8.count)
    writeString(text)
  }

  /// Writes a `bytes` or message field, even if it is empty.
  package mutating func writeField(_ number: UInt32, bytes: ByteBuffer) {
    writeFieldPrefix(number, length: bytes.readableBytes)
    writeImmutableBuffer(bytes)
  }

  /// Writes the tag and length of a length-delimited field. Its content must follow.
  package mutating func writeFieldPrefix(_ number: UInt32, length: Int) {
    writeVarint(UInt64(number) << 3 | 2)
    writeVarint(UInt64(length))
  }

  /// The number of bytes in the varint of a non-negative number.
  package static func varintSize(_ value: Int) -> Int {
    // Each byte has seven bits. Zero takes one byte too.
    max(1, (Int.bitWidth - value.leadingZeroBitCount + 6) / 7)
  }
}
