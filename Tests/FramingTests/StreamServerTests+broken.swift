import Framing
import NIOCore
import Testing
import Wire

/// The limit on frames that break the protocol.
extension StreamServerTests {
  @Test("A few broken frames are tolerated; one more within a second ends the connection")
  func tooManyBrokenFrames() throws {
    var streams = Self.machine(RPCLimits(brokenFrames: 3))
    let held = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    let later = Self.start + .seconds(2)
    for now in [Self.start, later] {
      for _ in 0..<3 {
        let action = streams.frameReceived(Self.request(2), now: now)
        #expect(Self.text(action) == "respond 2 INVALID_ARGUMENT")
        #expect(streams.hasFailed == false)
      }
    }
    // Other failures do not count as a broken protocol.
    let unknown = Self.request(3, "None")
    #expect(
      Self.text(streams.frameReceived(unknown, now: later)) == "respond 3 UNIMPLEMENTED")
    #expect(streams.hasFailed == false)
    guard case .end(held, let status) = streams.frameReceived(Self.request(1), now: later) else {
      Issue.record("the call whose id is used again goes on")
      return
    }
    #expect(status.code == .invalidArgument)
    #expect(status.message.contains("closing the connection"))
    #expect(streams.hasFailed == true)
    #expect(streams.isFinished == true)
    #expect(Self.text(streams.frameReceived(Self.request(5), now: later)) == "ignore")
  }

  @Test("A long broken frame is tolerated once, and costs a token for each 64 KiB")
  func longBrokenFrames() {
    func oversized(_ length: UInt32) -> DecodedFrame {
      .oversized(FrameHeader(dataLength: length, streamID: StreamID(rawValue: 2), type: .request))
    }
    var streams = Self.machine(RPCLimits(brokenFrames: 16))
    _ = streams.frameReceived(oversized(8 << 20), now: Self.start)
    #expect(streams.hasFailed == false)
    // The debt is at most the tokens of one second.
    _ = streams.frameReceived(oversized(8 << 20), now: Self.start + .milliseconds(1_001))
    #expect(streams.hasFailed == false)
    _ = streams.frameReceived(Self.request(2), now: Self.start + .milliseconds(1_500))
    #expect(streams.hasFailed == true)
  }

  @Test("Ignored frames do not break the protocol, however many and long they are")
  func ignoredFrames() {
    var streams = Self.machine(RPCLimits(brokenFrames: 3))
    let frame = Self.frame(7, .data, data: ByteBuffer(repeating: 0, count: 1_000))
    for _ in 0..<10_000 {
      #expect(Self.text(streams.frameReceived(frame, now: Self.start)) == "ignore")
    }
    #expect(streams.hasFailed == false)
  }

  @Test("A request with malformed first bytes is answered like any malformed request")
  func malformedBeginning() throws {
    var streams = Self.machine(RPCLimits(brokenFrames: 3))
    let held = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    func malformed(_ stream: UInt32) -> DecodedFrame {
      .malformed(
        FrameHeader(dataLength: 5_000, streamID: StreamID(rawValue: stream), type: .request),
        WireError(.notUTF8, "Request"))
    }
    guard
      case .respond(let stream, let status, _) = streams.frameReceived(
        malformed(3), now: Self.start)
    else {
      Issue.record("it is not answered")
      return
    }
    #expect(stream == StreamID(rawValue: 3))
    #expect(status.code == .invalidArgument)
    #expect(status.message == "malformed request envelope: Request: not UTF-8")
    #expect(
      Self.text(streams.frameReceived(malformed(2), now: Self.start))
        == "respond 2 INVALID_ARGUMENT")
    guard case .end(held, let end) = streams.frameReceived(malformed(1), now: Self.start) else {
      Issue.record("the call whose id is used again goes on")
      return
    }
    #expect(end.code == .invalidArgument)
    #expect(streams.hasFailed == false)
    _ = streams.frameReceived(malformed(3), now: Self.start)
    #expect(streams.hasFailed == true)
    // During a shutdown it is refused like any other request.
    var ending = Self.machine()
    _ = ending.shutdownStarted()
    #expect(
      Self.text(ending.frameReceived(malformed(3), now: Self.start)) == "respond 3 UNAVAILABLE")
  }
}
