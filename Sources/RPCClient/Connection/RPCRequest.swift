import Framing
package import NIOCore

/// One request to one method.
package struct RPCRequest: Sendable {
  /// The full proto name.
  package var service: String
  package var method: String
  /// The encoded request message.
  package var payload: ByteBuffer
  /// Sent to the server, and enforced by the client too. Nil waits without limit.
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

  /// The timeout in nanoseconds, as it is sent: 0 for none, limited to the range of `Int64`.
  var timeoutNanoseconds: Int64 {
    guard let timeout else {
      return 0
    }
    let nanoseconds = timeout.nanoseconds
    // A timeout below one nanosecond must not be sent as 0, which means none.
    return nanoseconds == 0 ? (timeout > .zero ? 1 : -1) : nanoseconds
  }

  /// Writes the request as one frame.
  ///
  /// - Parameter others: metadata of the connection.
  /// - Returns: false when its data is too long for a frame; then nothing is written.
  func write(
    streamID: StreamID, kind: MethodKind, adding others: [(key: String, value: String)],
    into buffer: inout ByteBuffer
  ) -> Bool {
    let start = buffer.writerIndex
    var header = FrameHeader(
      dataLength: 0, streamID: streamID, type: .request,
      flags: kind == .serverStreaming ? .remoteClosed : [])
    FrameEncoder.writeHeader(header, into: &buffer)
    RequestEnvelope.write(
      service: service, method: method, payload: payload,
      timeoutNanoseconds: timeoutNanoseconds, metadata: metadata + others, into: &buffer)
    let length = buffer.writerIndex - start - FrameHeader.encodedSize
    guard length <= RPCLimits.maximumFrameData else {
      buffer.moveWriterIndex(to: start)
      return false
    }
    header.dataLength = UInt32(length)
    // The length is the first field of the header.
    buffer.setInteger(header.dataLength, at: start)
    return true
  }
}
