package import NIOCore

/// Writes whole frames, or all of a frame that stands in front of a payload, which the caller
/// then appends or sends after it without a copy.
package enum FrameEncoder {
  package static func writeHeader(_ header: FrameHeader, into buffer: inout ByteBuffer) {
    buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: FrameHeader.encodedSize) { bytes in
      header.encode(into: bytes, at: 0)
      return FrameHeader.encodedSize
    }
  }

  /// Length of a response's data with a payload of this many bytes; to compare with
  /// ``RPCLimits/maximumFrameData``.
  package static func responseDataLength(payloadLength: Int) -> Int {
    payloadLength == 0 ? 0 : 1 + ByteBuffer.varintSize(payloadLength) + payloadLength
  }

  /// Everything of an OK response but the payload. Its data length must be within the limit.
  package static func writeResponsePrefix(
    streamID: StreamID, payloadLength: Int, into buffer: inout ByteBuffer
  ) {
    let length = UInt32(responseDataLength(payloadLength: payloadLength))
    writeHeader(
      FrameHeader(dataLength: length, streamID: streamID, type: .response), into: &buffer)
    if payloadLength > 0 {
      buffer.writeFieldPrefix(2, length: payloadLength)
    }
  }

  /// An OK response with its payload, copied. Its data length must be within the limit.
  package static func writeResponse(
    streamID: StreamID, payload: ByteBuffer, into buffer: inout ByteBuffer
  ) {
    let payloadLength = payload.readableBytes
    let dataLength = responseDataLength(payloadLength: payloadLength)
    let header = FrameHeader(
      dataLength: UInt32(dataLength), streamID: streamID, type: .response)
    buffer.writeWithUnsafeMutableBytes(
      minimumWritableBytes: FrameHeader.encodedSize + dataLength
    ) { bytes in
      header.encode(into: bytes, at: 0)
      var position = FrameHeader.encodedSize
      if payloadLength > 0 {
        bytes[position] = 2 << 3 | 2
        position += 1
        var rest = payloadLength
        while rest >= 0x80 {
          bytes[position] = UInt8(truncatingIfNeeded: rest) | 0x80
          rest >>= 7
          position += 1
        }
        bytes[position] = UInt8(truncatingIfNeeded: rest)
        position += 1
        payload.withUnsafeReadableBytes {
          UnsafeMutableRawBufferPointer(rebasing: bytes[position...]).copyMemory(from: $0)
        }
      }
      return FrameHeader.encodedSize + dataLength
    }
  }

  /// A response that says why the call failed. A status too large for a frame loses its details.
  package static func writeResponse(
    streamID: StreamID, status: RPCStatus, into buffer: inout ByteBuffer
  ) {
    var encoded = status.encoded()
    if encoded.readableBytes + 16 > RPCLimits.maximumFrameData {
      encoded = RPCStatus(status.code).encoded()
    }
    let length = 1 + ByteBuffer.varintSize(encoded.readableBytes) + encoded.readableBytes
    writeHeader(
      FrameHeader(dataLength: UInt32(length), streamID: streamID, type: .response), into: &buffer)
    buffer.writeField(1, bytes: encoded)
  }

  /// The header of one message of a stream. Its length must be within the limit.
  package static func writeDataPrefix(
    streamID: StreamID, payloadLength: Int, into buffer: inout ByteBuffer
  ) {
    writeHeader(
      FrameHeader(dataLength: UInt32(payloadLength), streamID: streamID, type: .data),
      into: &buffer)
  }

  /// The frame that ends a stream well: no data follows, and none is in it.
  package static func writeEndOfStream(streamID: StreamID, into buffer: inout ByteBuffer) {
    writeHeader(
      FrameHeader(
        dataLength: 0, streamID: streamID, type: .data, flags: [.remoteClosed, .noData]),
      into: &buffer)
  }
}
