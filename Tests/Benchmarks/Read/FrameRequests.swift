import NIOCore
import Wire

/// Requests as the wire carries them, encoded once, to be sent in turn.
struct FrameRequests {
  /// What is called.
  let name: String
  private var bytes: [UInt8] = []
  /// Where each begins, and where the last one ends.
  private var bounds = [0]
  /// Bytes of the longest, its header included.
  private(set) var maximumLength = 0

  /// Long against a round, so that no call is over before it is answered.
  private static let timeout = Int64(10_000_000_000)

  /// - Parameter messages: one at least.
  init<Request, Response>(
    _ name: String, _ method: WireMethod<Request, Response>, _ messages: [Request]
  ) throws {
    precondition(!messages.isEmpty, "something has to be asked")
    self.name = name
    for message in messages {
      var data = ByteBuffer()
      RequestEnvelope.write(
        service: method.service, method: method.name, payload: try message.encoded(),
        timeoutNanoseconds: Self.timeout, metadata: [], into: &data)
      var frame = ByteBuffer()
      // The stream's number is written over the 0 with each call.
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

  /// Writes one frame to the beginning of `target`, which has room for ``maximumLength``.
  ///
  /// - Returns: its length.
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
