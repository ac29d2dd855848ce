package import NIOCore

/// One complete ttrpc frame. `data` is a slice of the receive buffer, not a copy.
package struct Frame: Hashable, Sendable {
  package var header: FrameHeader
  package var data: ByteBuffer

  package init(header: FrameHeader, data: ByteBuffer) {
    self.header = header
    self.data = data
  }
}

/// The header of a ttrpc frame: data length, stream id, type and flags, big-endian.
package struct FrameHeader: Hashable, Sendable {
  /// Size of an encoded header, in bytes.
  package static let encodedSize = 10

  /// The length of the data after the header, in bytes.
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

  /// Reads the 10 bytes at `offset`. `bytes` must contain them.
  init(decoding bytes: UnsafeRawBufferPointer, at offset: Int) {
    let lengthAndStream = UInt64(
      bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    dataLength = UInt32(truncatingIfNeeded: lengthAndStream >> 32)
    streamID = StreamID(rawValue: UInt32(truncatingIfNeeded: lengthAndStream))
    type = FrameType(rawValue: bytes[offset + 8])
    flags = FrameFlags(rawValue: bytes[offset + 9])
  }

  /// Writes 10 bytes at `offset`. `bytes` must have room for them.
  func encode(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
    let lengthAndStream = UInt64(dataLength) << 32 | UInt64(streamID.rawValue)
    bytes.storeBytes(of: lengthAndStream.bigEndian, toByteOffset: offset, as: UInt64.self)
    bytes[offset + 8] = type.rawValue
    bytes[offset + 9] = flags.rawValue
  }
}

/// The type of a frame. Unknown types are allowed: a newer peer may send them.
package struct FrameType: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// A request envelope. It opens a stream.
  package static let request = FrameType(rawValue: 1)
  /// A response envelope. It ends a stream.
  package static let response = FrameType(rawValue: 2)
  /// One message of a stream, without an envelope.
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
  /// The frame contains no message. Without this flag, zero bytes of data are an empty message.
  package static let noData = FrameFlags(rawValue: 0x04)
}

/// Identifies a stream of one connection.
package struct StreamID: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Whether a client may open a stream with this id: clients use odd ids.
  package var isClientInitiated: Bool {
    rawValue % 2 == 1
  }
}

extension StreamID: CustomStringConvertible {
  package var description: String {
    String(rawValue)
  }
}
