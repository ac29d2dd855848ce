import Framing
import NIOCore
import Wire

/// Frames as a client sends them, valid and invalid.
enum Frames {
  static func request<Request, Response>(
    _ stream: UInt32, _ method: WireMethod<Request, Response>, _ payload: ByteBuffer,
    metadata: [(key: String, value: String)] = []
  ) -> ByteBuffer {
    request(
      stream, service: method.service, method: method.name, payload, metadata: metadata)
  }

  static func request(
    _ stream: UInt32, service: String, method: String, _ payload: ByteBuffer,
    metadata: [(key: String, value: String)] = []
  ) -> ByteBuffer {
    var data = ByteBuffer()
    RequestEnvelope.write(
      service: service, method: method, payload: payload, timeoutNanoseconds: 0,
      metadata: metadata,
      into: &data)
    return frame(stream, data: data)
  }

  static func frame(
    _ stream: UInt32, type: FrameType = .request, data: ByteBuffer
  ) -> ByteBuffer {
    var buffer = header(stream, type: type, length: data.readableBytes)
    buffer.writeImmutableBuffer(data)
    return buffer
  }

  static func header(
    _ stream: UInt32, type: FrameType = .request, length: Int
  ) -> ByteBuffer {
    var buffer = ByteBuffer()
    FrameEncoder.writeHeader(
      FrameHeader(
        dataLength: UInt32(length), streamID: StreamID(rawValue: stream), type: type),
      into: &buffer)
    return buffer
  }
}
