package import NIOCore

/// Writes complete frames, or the part of a frame before its payload. The caller then appends the
/// payload, or sends it separately without a copy.
package enum FrameEncoder {
  package static func writeHeader(_ header: FrameHeader, into buffer: inout ByteBuffer) {
    buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: FrameHeader.encodedSize) { bytes in
      header.encode(into: bytes, at: 0)
      return FrameHeader.encodedSize
    }
  }

  /// The length of a response's data for a payload of this many bytes. It must not exceed
  /// ``RPCLimits/maximumFrameData``.
  package static func responseDataLength(payloadLength: Int) -> Int {
    payloadLength == 0 ? 0 : 1 + ByteBuffer.varintSize(payloadLength) + payloadLength
  }

  /// Writes an OK response up to its payload. The data length must be within the limit.
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

  /// Writes an OK response with a copy of its payload. The data length must be within the limit.
  package static func writeResponse(
    streamID: StreamID, payload: StampedMessage, into buffer: inout ByteBuffer
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
        payload.bytes.withUnsafeReadableBytes {
          UnsafeMutableRawBufferPointer(rebasing: bytes[position...]).copyMemory(from: $0)
        }
        payload.stamp?.write(into: bytes, messageAt: position)
      }
      return FrameHeader.encodedSize + dataLength
    }
  }

  /// Writes a response with the status of a failed call. If the status is too large for a frame,
  /// only its code is sent.
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

  /// Writes the header of one message of a stream. The length must be within the limit.
  package static func writeDataPrefix(
    streamID: StreamID, payloadLength: Int, into buffer: inout ByteBuffer
  ) {
    writeHeader(
      FrameHeader(dataLength: UInt32(payloadLength), streamID: streamID, type: .data),
      into: &buffer)
  }

  /// Writes the frame that ends a stream successfully. It contains no message.
  package static func writeEndOfStream(streamID: StreamID, into buffer: inout ByteBuffer) {
    writeHeader(
      FrameHeader(
        dataLength: 0, streamID: streamID, type: .data, flags: [.remoteClosed, .noData]),
      into: &buffer)
  }
}
