import Framing
import NIOCore
import Wire

/// Encoded requests, sent in turn.
struct FrameRequests {
  /// The method.
  let name: String
  private var bytes: [UInt8] = []
  /// The start of each request, and the end of the last one.
  private var bounds = [0]
  /// The length of the longest request in bytes, with its header.
  private(set) var maximumLength = 0

  /// Long compared with a round, so that no deadline passes before the answer.
  private static let timeout = Int64(10_000_000_000)

  /// - Parameters:
  ///   - messages: at least one.
  ///   - metadata: sent with each.
  init<Request, Response>(
    _ name: String, _ method: WireMethod<Request, Response>, _ messages: [Request],
    metadata: [(key: String, value: String)] = []
  ) throws {
    precondition(!messages.isEmpty, "there must be a request")
    self.name = name
    for message in messages {
      var data = ByteBuffer()
      RequestEnvelope.write(
        service: method.service, method: method.name, payload: try message.encoded(),
        timeoutNanoseconds: Self.timeout, metadata: metadata, into: &data)
      var frame = ByteBuffer()
      // Each call replaces the stream number 0.
      FrameEncoder.writeHeader(
        FrameHeader(
          dataLength: UInt32(data.readableBytes), streamID: StreamID(rawValue: 0), type: .request),
        into: &frame)
      frame.writeBuffer(&data)
      bytes += frame.readableBytesView
      bounds.append(bytes.count)
      maximumLength = max(maximumLength, frame.readableBytes)
    }
  }

  var count: Int { bounds.count - 1 }

  /// Writes one frame to the start of `target`, which has room for ``maximumLength``.
  ///
  /// - Returns: the length of the frame.
  func write(_ index: Int, stream: UInt32, to target: UnsafeMutableRawBufferPointer) -> Int {
    let length = bounds[index + 1] - bounds[index]
    bytes.withUnsafeBytes { source in
      target.copyMemory(
        from: UnsafeRawBufferPointer(rebasing: source[bounds[index]...].prefix(length)))
    }
    target.storeBytes(of: stream.bigEndian, toByteOffset: 4, as: UInt32.self)
    return length
  }
}
