package import NIOCore
import Wire

/// What a caller sends: one request to one method.
package struct RPCRequest: Sendable {
  /// The full proto name.
  package var service: String
  package var method: String
  /// The encoded request message.
  package var payload: ByteBuffer
  /// How long to wait; sent to the server, and kept by the client too. Nil waits for ever.
  package var timeout: Duration?
  package var metadata: [(key: String, value: String)]

  package init(
    service: String, method: String, payload: ByteBuffer, timeout: Duration? = nil,
    metadata: [(key: String, value: String)] = []
  ) {
    self.service = service
    self.method = method
    self.payload = payload
    self.timeout = timeout
    self.metadata = metadata
  }

  /// The timeout in nanoseconds as the wire has it, 0 for none; held to what fits.
  var timeoutNanoseconds: Int64 {
    guard let timeout else {
      return 0
    }
    let nanoseconds = timeout.nanoseconds
    // Less than a nanosecond is still a timeout.
    return nanoseconds == 0 ? (timeout > .zero ? 1 : -1) : nanoseconds
  }

  /// Writes the frame, unless its data is too long for one.
  ///
  /// - Returns: Whether it was written.
  func write(streamID: StreamID, kind: MethodKind, into buffer: inout ByteBuffer) -> Bool {
    let start = buffer.writerIndex
    var header = FrameHeader(
      dataLength: 0, streamID: streamID, type: .request,
      flags: kind == .serverStreaming ? .remoteClosed : [])
    FrameEncoder.writeHeader(header, into: &buffer)
    RequestEnvelope.write(
      service: service, method: method, payload: payload,
      timeoutNanoseconds: timeoutNanoseconds, metadata: metadata, into: &buffer)
    let length = buffer.writerIndex - start - FrameHeader.encodedSize
    guard length <= RPCLimits.maximumFrameData else {
      buffer.moveWriterIndex(to: start)
      return false
    }
    header.dataLength = UInt32(length)
    // The length is the header's first field.
    buffer.setInteger(header.dataLength, at: start)
    return true
  }
}
