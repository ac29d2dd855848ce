package import NIOCore

/// An encoded message, and the value that one of its numbers gets when the message is sent. Answers
/// that differ in this number alone share their bytes.
package struct StampedMessage: Sendable {
  package let bytes: ByteBuffer
  /// Nil: the bytes are sent as they are.
  package let stamp: Stamp?

  package init(_ bytes: ByteBuffer, stamp: Stamp? = nil) {
    self.bytes = bytes
    self.stamp = stamp
  }

  package var readableBytes: Int { bytes.readableBytes }

  /// The message with its stamp. Copies the bytes if there is one.
  package func stamped() -> ByteBuffer {
    guard let stamp else { return bytes }
    var copy = bytes
    copy.set(stamp, ofMessageAt: copy.readerIndex)
    return copy
  }

  /// A varint field's new value. It has as many bytes as the value that it replaces, so that no
  /// length changes.
  package struct Stamp: Sendable {
    /// Length of the varint of milliseconds from 1971 to 2109.
    package static let length = 6

    /// Offset of the varint in the message.
    package let offset: Int
    private let value: UInt64

    /// - Parameter offset: Where the message has a varint of ``length`` bytes.
    /// - Returns: Nil if the varint of `value` has another length.
    package init?(at offset: Int, _ value: Int64) {
      guard value >= 1 << 35, value < 1 << 42 else { return nil }
      self.offset = offset
      self.value = UInt64(value)
    }

    /// Writes the varint into a message that begins at `start`.
    func write(into bytes: UnsafeMutableRawBufferPointer, messageAt start: Int) {
      let place = start + offset
      for index in 0..<Self.length - 1 {
        bytes[place + index] = UInt8(truncatingIfNeeded: value >> (7 * UInt64(index))) | 0x80
      }
      bytes[place + Self.length - 1] = UInt8(truncatingIfNeeded: value >> 35)
    }
  }
}

extension ByteBuffer {
  /// Sets the stamp of a message that this buffer contains from index `start` on.
  package mutating func set(_ stamp: StampedMessage.Stamp, ofMessageAt start: Int) {
    let position = start - readerIndex
    withUnsafeMutableReadableBytes { stamp.write(into: $0, messageAt: position) }
  }

  /// Writes a message field with its stamp, even if it is empty.
  package mutating func writeField(_ number: UInt32, message: StampedMessage) {
    writeFieldPrefix(number, length: message.readableBytes)
    let start = writerIndex
    writeImmutableBuffer(message.bytes)
    if let stamp = message.stamp { set(stamp, ofMessageAt: start) }
  }
}
