import Framing
import NIOCore
import Testing
import Wire

@Suite("The client's streams")
struct StreamClientTests {
  private static func id(_ number: UInt32) -> StreamID {
    StreamID(rawValue: number)
  }

  private static func response(_ stream: UInt32, _ payload: String) -> DecodedFrame {
    let bytes = ByteBuffer(string: payload)
    var buffer = ByteBuffer()
    FrameEncoder.writeResponsePrefix(
      streamID: id(stream), payloadLength: bytes.readableBytes, into: &buffer)
    buffer.writeImmutableBuffer(bytes)
    return decoded(buffer)
  }

  private static func failure(_ stream: UInt32, _ status: RPCStatus) -> DecodedFrame {
    var buffer = ByteBuffer()
    FrameEncoder.writeResponse(streamID: id(stream), status: status, into: &buffer)
    return decoded(buffer)
  }

  private static func data(
    _ stream: UInt32, _ payload: String, flags: FrameFlags = []
  ) -> DecodedFrame {
    let bytes = ByteBuffer(string: payload)
    let header = FrameHeader(
      dataLength: UInt32(bytes.readableBytes), streamID: id(stream), type: .data, flags: flags)
    return .frame(Frame(header: header, data: bytes))
  }

  private static func decoded(_ buffer: ByteBuffer) -> DecodedFrame {
    var decoder = FrameDecoder()
    decoder.append(buffer)
    return decoder.next()
      ?? .unskippable(FrameHeader(dataLength: 0, streamID: id(0), type: .request))
  }

  @Test("Answers reach their calls in any order, and each call gets one")
  func unary() {
    var streams = ClientStreams()
    #expect(streams.callStarted(kind: .unary, deadline: nil) == Self.id(1))
    #expect(streams.callStarted(kind: .unary, deadline: nil) == Self.id(3))
    #expect(
      streams.frameReceived(Self.response(3, "b")) == .succeed(Self.id(3), ByteBuffer(string: "b")))
    let status = RPCStatus(.notFound, "no", retryDelay: .seconds(2))
    #expect(streams.frameReceived(Self.failure(1, status)) == .fail(Self.id(1), status))
    #expect(streams.frameReceived(Self.response(1, "late")) == .ignore)
    #expect(streams.frameReceived(Self.response(99, "unknown")) == .ignore)
  }

  @Test("A stream delivers its messages, also empty ones, until it ends")
  func stream() {
    var streams = ClientStreams()
    let id = Self.id(1)
    #expect(streams.callStarted(kind: .serverStreaming, deadline: nil) == id)
    #expect(
      streams.frameReceived(Self.data(1, "a")) == .deliver(id, ByteBuffer(string: "a")))
    #expect(streams.frameReceived(Self.data(1, "")) == .deliver(id, ByteBuffer()))
    #expect(streams.frameReceived(Self.data(1, "", flags: .noData)) == .ignore)
    #expect(
      streams.frameReceived(Self.data(1, "", flags: [.remoteClosed, .noData])) == .finish(id))
    #expect(streams.frameReceived(Self.data(1, "late")) == .ignore)
  }

  @Test("A stream may end with its last message, with an OK response, or with a failure")
  func streamEnds() {
    var streams = ClientStreams()
    for _ in 0..<4 {
      _ = streams.callStarted(kind: .serverStreaming, deadline: nil)
    }
    #expect(
      streams.frameReceived(Self.data(1, "z", flags: .remoteClosed))
        == .deliverLast(Self.id(1), ByteBuffer(string: "z")))
    #expect(streams.frameReceived(Self.response(3, "")) == .finish(Self.id(3)))
    #expect(
      streams.frameReceived(Self.response(5, "z"))
        == .deliverLast(Self.id(5), ByteBuffer(string: "z")))
    let status = RPCStatus(.unavailable, "later")
    #expect(streams.frameReceived(Self.failure(7, status)) == .fail(Self.id(7), status))
  }

  @Test("An invalid answer fails only its call")
  func wrongAnswers() {
    var streams = ClientStreams()
    for _ in 0..<3 {
      _ = streams.callStarted(kind: .unary, deadline: nil)
    }
    let header = FrameHeader(dataLength: 1, streamID: Self.id(1), type: .response)
    let malformed = DecodedFrame.frame(Frame(header: header, data: ByteBuffer(bytes: [0x0B])))
    for (frame, id, code) in [
      (malformed, 1, .internal), (Self.data(3, "a"), 3, .internal),
      (
        .oversized(
          FrameHeader(dataLength: 5_000_000, streamID: Self.id(5), type: .response)), 5,
        .resourceExhausted
      ),
    ] as [(DecodedFrame, UInt32, RPCCode)] {
      guard case .fail(let failed, let status) = streams.frameReceived(frame) else {
        Issue.record("\(id) did not fail")
        continue
      }
      #expect(failed == Self.id(id))
      #expect(status.code == code)
    }
    #expect(streams.channelClosed() == [])
  }

  @Test("An abandoned call keeps its id until the server has answered")
  func abandoned() {
    var streams = ClientStreams()
    _ = streams.callStarted(kind: .unary, deadline: nil)
    _ = streams.callStarted(kind: .serverStreaming, deadline: nil)
    streams.callAbandoned(Self.id(1))
    streams.callAbandoned(Self.id(3))
    streams.callAbandoned(Self.id(99))
    #expect(streams.frameReceived(Self.response(1, "late")) == .ignore)
    #expect(streams.frameReceived(Self.data(3, "late")) == .ignore)
    #expect(streams.frameReceived(Self.failure(3, RPCStatus(.internal))) == .ignore)
    #expect(streams.channelClosed() == [])
  }

  @Test("Deadlines end their calls")
  func deadlines() {
    var streams = ClientStreams()
    let now = NIODeadline.uptimeNanoseconds(1000)
    _ = streams.callStarted(kind: .unary, deadline: now + .nanoseconds(20))
    _ = streams.callStarted(kind: .unary, deadline: now + .nanoseconds(10))
    #expect(streams.earliestDeadline == now + .nanoseconds(10))
    #expect(streams.deadlinesPassed(now: now) == [])
    #expect(streams.deadlinesPassed(now: now + .nanoseconds(10)) == [Self.id(3)])
    #expect(streams.earliestDeadline == now + .nanoseconds(20))
    #expect(streams.frameReceived(Self.response(3, "late")) == .ignore)
  }

  @Test("A closed connection ends its calls, and starts no new ones")
  func closed() {
    var streams = ClientStreams()
    _ = streams.callStarted(kind: .unary, deadline: nil)
    _ = streams.callStarted(kind: .serverStreaming, deadline: nil)
    #expect(streams.channelClosed() == [Self.id(1), Self.id(3)])
    #expect(streams.callStarted(kind: .unary, deadline: nil) == nil)
    #expect(streams.frameReceived(Self.response(1, "late")) == .ignore)
  }

  @Test("An invalid frame closes the connection")
  func unskippable() {
    var streams = ClientStreams()
    let header = FrameHeader(dataLength: .max, streamID: Self.id(1), type: .response)
    guard case .close = streams.frameReceived(.unskippable(header)) else {
      Issue.record("not closed")
      return
    }
    #expect(streams.callStarted(kind: .unary, deadline: nil) == nil)
  }
}
