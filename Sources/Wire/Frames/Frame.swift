package import NIOCore

/// One complete frame. `data` is a slice of what was received, not a copy.
package struct Frame: Hashable, Sendable {
  package var header: FrameHeader
  package var data: ByteBuffer

  package init(header: FrameHeader, data: ByteBuffer) {
    self.header = header
    self.data = data
  }
}

package struct FrameHeader: Hashable, Sendable {
  /// Size of an encoded header, in bytes.
  package static let encodedSize = 10

  /// Length of the data that follows, in bytes, the header not counted.
  package var dataLength: UInt32
  package var streamID: StreamID
  package var type: FrameType
  package var flags: FrameFlags

  package init(
    dataLength: UInt32, streamID: StreamID, type: FrameType, flags: FrameFlags = []
  ) {
    self.dataLength = dataLength
    self.streamID = streamID
    self.type = type
    self.flags = flags
  }

  /// Reads the 10 bytes at `offset`, which must be there.
  init(decoding bytes: UnsafeRawBufferPointer, at offset: Int) {
    let lengthAndStream = UInt64(
      bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    dataLength = UInt32(truncatingIfNeeded: lengthAndStream >> 32)
    streamID = StreamID(rawValue: UInt32(truncatingIfNeeded: lengthAndStream))
    type = FrameType(rawValue: bytes[offset + 8])
    flags = FrameFlags(rawValue: bytes[offset + 9])
  }

  /// Writes the 10 bytes at `offset`, where there must be room.
  func encode(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
    let lengthAndStream = UInt64(dataLength) << 32 | UInt64(streamID.rawValue)
    bytes.storeBytes(of: lengthAndStream.bigEndian, toByteOffset: offset, as: UInt64.self)
    bytes[offset + 8] = type.rawValue
    bytes[offset + 9] = flags.rawValue
  }
}

/// What a frame carries. Open: a peer may send types that this version does not know.
package struct FrameType: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// A request envelope; opens a stream.
  package static let request = FrameType(rawValue: 1)
  /// A response envelope; ends a stream.
  package static let response = FrameType(rawValue: 2)
  /// One bare message of a stream.
  package static let data = FrameType(rawValue: 3)
}

/// The flag bits of a frame.
package struct FrameFlags: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The sender sends nothing more on this stream.
  package static let remoteClosed = FrameFlags(rawValue: 0x01)
  /// The sender will send data frames on this stream.
  package static let remoteOpen = FrameFlags(rawValue: 0x02)
  /// The frame carries no message; without it, zero bytes are an empty message.
  package static let noData = FrameFlags(rawValue: 0x04)
}

package struct StreamID: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Whether a client may open a stream with this id.
  package var isClientInitiated: Bool {
    rawValue % 2 == 1
  }
}

extension StreamID: CustomStringConvertible {
  package var description: String {
    String(rawValue)
  }
}
