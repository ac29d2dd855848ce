import Framing
import NIOCore
import Wire

/// Frames as a client sends them.
enum Frames {
  static func request(
    _ stream: UInt32, _ method: String, _ payload: String = "", service: String = "test.Service",
    flags: FrameFlags = [], timeout: Int64 = 0, metadata: [(key: String, value: String)] = []
  ) -> ByteBuffer {
    var data = ByteBuffer()
    RequestEnvelope.write(
      service: service, method: method, payload: ByteBuffer(string: payload),
      timeoutNanoseconds: timeout, metadata: metadata, into: &data)
    return frame(stream, .request, flags: flags, data: data)
  }

  static func frame(
    _ stream: UInt32, _ type: FrameType, flags: FrameFlags = [], data: ByteBuffer = ByteBuffer()
  ) -> ByteBuffer {
    var buffer = header(stream, type, length: data.readableBytes, flags: flags)
    buffer.writeImmutableBuffer(data)
    return buffer
  }

  static func header(
    _ stream: UInt32, _ type: FrameType, length: Int, flags: FrameFlags = []
  ) -> ByteBuffer {
    var buffer = ByteBuffer()
    FrameEncoder.writeHeader(
      FrameHeader(
        dataLength: UInt32(length), streamID: StreamID(rawValue: stream), type: type,
        flags: flags),
      into: &buffer)
    return buffer
  }

  static func joined(_ frames: [ByteBuffer]) -> ByteBuffer {
    var buffer = ByteBuffer()
    for frame in frames {
      buffer.writeImmutableBuffer(frame)
    }
    return buffer
  }
}
