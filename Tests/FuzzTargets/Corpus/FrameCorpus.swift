import Framing
import NIOCore
import Wire

/// Seeds of ``FrameProbe``: conversations, each cut at other positions.
enum FrameCorpus {
  static func seeds() -> [FuzzSeed] {
    let conversations: [(name: String, bytes: ByteBuffer)] = [
      ("unary", requests([("Check", 1, [.remoteClosed])])),
      ("stream", requests([("Watch", 1, [.remoteClosed])])),
      ("many", requests((0..<6).map { ("Check", 2 * $0 + 1, [.remoteClosed]) })),
      ("id-again", requests([("Check", 1, []), ("Check", 1, [])])),
      ("even-id", requests([("Check", 2, [])])),
      ("no-such-method", requests([("Ask", 1, [])])),
      ("open", requests([("Check", 1, [.remoteOpen]), ("Watch", 3, [])])),
      ("deadline", requests([("Check", 1, [])], timeout: 1_000_000)),
      ("deadline-over", requests([("Check", 1, [])], timeout: -1)),
      ("metadata", requests([("Check", 1, [])], metadata: [("a", "1"), ("a", "2"), ("", "")])),
      ("answers", answers()),
      ("data", frames([(3, .data, [], [1, 2, 3]), (3, .data, [.remoteClosed, .noData], [])])),
      ("unknown-type", frames([(1, FrameType(rawValue: 9), [], [0])])),
      (
        "long",
        requests([("Check", 1, [])], metadata: [("a", String(repeating: "1", count: 4_096))])
      ),
      ("malformed", frames([(1, .request, [], Array(repeating: 0xFF, count: 4_097))])),
      ("oversized", headers(dataLength: 4_194_305)),
      ("unskippable", headers(dataLength: 0x4745_5420)),
      ("partial", requests([("Check", 1, [])]).prefix(15)),
    ]
    return conversations.enumerated().map { index, conversation in
      FuzzSeed(conversation.name, [UInt8(index)] + conversation.bytes.readableBytesView)
    }
  }

  private static func requests(
    _ calls: [(method: String, stream: UInt32, flags: FrameFlags)], timeout: Int64 = 0,
    metadata: [(key: String, value: String)] = []
  ) -> ByteBuffer {
    frames(
      calls.map { call in
        var envelope = ByteBuffer()
        RequestEnvelope.write(
          service: ServiceNames.health, method: call.method,
          payload: (try? HealthCheckRequest(service: "a").encoded()) ?? ByteBuffer(),
          timeoutNanoseconds: timeout, metadata: metadata, into: &envelope)
        return (call.stream, .request, call.flags, Array(envelope.readableBytesView))
      })
  }

  /// Bytes from a server: an answer, the messages of a stream, and a failure with all its details.
  private static func answers() -> ByteBuffer {
    var buffer = ByteBuffer()
    FrameEncoder.writeResponsePrefix(
      streamID: StreamID(rawValue: 1), payloadLength: 2, into: &buffer)
    buffer.writeBytes([8, 1])
    FrameEncoder.writeDataPrefix(streamID: StreamID(rawValue: 7), payloadLength: 2, into: &buffer)
    buffer.writeBytes([8, 1])
    FrameEncoder.writeEndOfStream(streamID: StreamID(rawValue: 7), into: &buffer)
    FrameEncoder.writeResponse(
      streamID: StreamID(rawValue: 5),
      status: RPCStatus(
        .resourceExhausted, "too much",
        errorInfo: RPCStatus.ErrorInfo(
          reason: "SLOW_READER", domain: "entitle", metadata: ["cursor": "1", "b": ""]),
        retryDelay: .milliseconds(1_500),
        fieldViolations: [RPCStatus.FieldViolation(field: "customer", description: "é")]),
      into: &buffer)
    return buffer
  }

  private static func frames(
    _ frames: [(stream: UInt32, type: FrameType, flags: FrameFlags, data: [UInt8])]
  ) -> ByteBuffer {
    var buffer = ByteBuffer()
    for frame in frames {
      FrameEncoder.writeHeader(
        FrameHeader(
          dataLength: UInt32(frame.data.count), streamID: StreamID(rawValue: frame.stream),
          type: frame.type, flags: frame.flags), into: &buffer)
      buffer.writeBytes(frame.data)
    }
    return buffer
  }

  /// A header that announces more bytes than follow, between two correct ones.
  private static func headers(dataLength: UInt32) -> ByteBuffer {
    var buffer = requests([("Check", 1, [])])
    FrameEncoder.writeHeader(
      FrameHeader(dataLength: dataLength, streamID: StreamID(rawValue: 1), type: .request),
      into: &buffer)
    buffer.writeImmutableBuffer(requests([("Check", 3, [])]))
    return buffer
  }
}

extension ByteBuffer {
  fileprivate func prefix(_ count: Int) -> ByteBuffer {
    ByteBuffer(readableBytesView.prefix(count))
  }
}
