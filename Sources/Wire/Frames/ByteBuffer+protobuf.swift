import NIOCore

extension ByteBuffer {
  mutating func writeVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      writeInteger(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    writeInteger(UInt8(truncatingIfNeeded: rest))
  }

  /// Writes an `int64` or `int32` field, unless it is zero.
  mutating func writeField(_ number: UInt32, integer value: Int64) {
    if value == 0 {
      return
    }
    writeVarint(UInt64(number) << 3)
    writeVarint(UInt64(bitPattern: value))
  }

  /// Writes a `string` field, unless it is empty.
  mutating func writeField(_ number: UInt32, text: String) {
    if text.isEmpty {
      return
    }
    writeFieldPrefix(number, length: text.utf8.count)
    writeString(text)
  }

  /// Writes a `bytes` or message field, also when it is empty.
  mutating func writeField(_ number: UInt32, bytes: ByteBuffer) {
    writeFieldPrefix(number, length: bytes.readableBytes)
    writeImmutableBuffer(bytes)
  }

  mutating func writeFieldPrefix(_ number: UInt32, length: Int) {
    writeVarint(UInt64(number) << 3 | 2)
    writeVarint(UInt64(length))
  }

  static func varintSize(_ value: Int) -> Int {
    // Seven bits a byte; zero takes one byte too.
    max(1, (Int.bitWidth - value.leadingZeroBitCount + 6) / 7)
  }
}
