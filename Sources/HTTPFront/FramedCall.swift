import Framing
package import NIOCore
package import RPCServer
package import Wire

/// A call of the framed front.
package struct FramedCall: Sendable {
  package let service: String
  package let method: String
  package let isServerStreaming: Bool
  package var payload: ByteBuffer
  /// Of a message in another encoding, in place of the payload.
  package var conversion: RequestConversion?
  /// 0: none; negative: it has passed.
  package var timeoutNanoseconds: Int64
  package var metadata: [(key: String, value: String)]

  package init(
    _ method: MethodDescription, payload: ByteBuffer = ByteBuffer(), timeoutNanoseconds: Int64 = 0,
    metadata: [(key: String, value: String)] = []
  ) {
    service = method.service
    self.method = method.name
    isServerStreaming = method.isServerStreaming
    self.payload = payload
    self.timeoutNanoseconds = timeoutNanoseconds
    self.metadata = metadata
  }

  package init<Request, Response>(
    _ method: WireMethod<Request, Response>, payload: ByteBuffer = ByteBuffer(),
    metadata: [(key: String, value: String)] = []
  ) {
    service = method.service
    self.method = method.name
    isServerStreaming = false
    self.payload = payload
    timeoutNanoseconds = 0
    self.metadata = metadata
  }

  /// The frame that opens the call; nil if it would be longer than a frame may be.
  func frame(_ id: StreamID) -> ByteBuffer? {
    var data = ByteBuffer()
    RequestEnvelope.write(
      service: service, method: method, payload: payload, timeoutNanoseconds: timeoutNanoseconds,
      metadata: metadata, into: &data)
    guard data.readableBytes <= RPCLimits.maximumFrameData else { return nil }
    var frame = ByteBuffer()
    frame.reserveCapacity(FrameHeader.encodedSize + data.readableBytes)
    FrameEncoder.writeHeader(
      FrameHeader(
        dataLength: UInt32(data.readableBytes), streamID: id, type: .request,
        flags: isServerStreaming ? .remoteClosed : []), into: &frame)
    frame.writeImmutableBuffer(data)
    return frame
  }
}
