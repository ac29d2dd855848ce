import NIOCore
import Testing
import Wire

/// When a client's mistakes are too many.
extension StreamServerTests {
  @Test("A few broken frames are a mistake; one more within a second, and the connection is over")
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
    // What the client is told to be wrong with other frames is no sign of a broken protocol.
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

  @Test("One broken frame is a mistake, however long it is")
  func longBrokenFrame() {
    var streams = Self.machine()
    let data = ByteBuffer(repeating: 0xFF, count: RPCLimits.brokenFrameData + 1)
    let short = Self.frame(1, .request, data: ByteBuffer(bytes: [0xFF]))
    let long = Self.frame(1, .request, data: data)
    for frame in [short, long, short] {
      _ = streams.frameReceived(frame, now: Self.start)
      #expect(streams.hasFailed == false)
    }
    _ = streams.frameReceived(long, now: Self.start)
    #expect(streams.hasFailed == true)
  }

  @Test("Broken frames of any length are too many when their data is", arguments: [true, false])
  func tooMuchBrokenData(areTooLong: Bool) {
    var streams = Self.machine()
    let half = ByteBuffer(repeating: 0xFF, count: RPCLimits.brokenFrameData / 2)
    let frame = areTooLong ? Self.oversized(1, .data) : Self.frame(1, .request, data: half)
    var count = 0
    while !streams.hasFailed, count < 20 {
      _ = streams.frameReceived(frame, now: Self.start)
      count += 1
    }
    #expect(count == (areTooLong ? 2 : 4))
  }

  @Test("Ignored frames are no fault, but their data counts")
  func ignoredFrames() {
    var streams = Self.machine(RPCLimits(brokenFrames: 3))
    let empty = Self.frame(7, .data)
    for _ in 0..<10_000 {
      #expect(Self.text(streams.frameReceived(empty, now: Self.start)) == "ignore")
    }
    let half = Self.frame(
      7, .data, data: ByteBuffer(repeating: 0, count: RPCLimits.brokenFrameData / 2))
    let later = Self.start + .seconds(1)
    for now in [Self.start, later] {
      for _ in 0..<3 {
        #expect(Self.text(streams.frameReceived(half, now: now)) == "ignore")
      }
    }
    #expect(streams.hasFailed == false)
    #expect(Self.text(streams.frameReceived(half, now: later)) == "ignore")
    #expect(streams.hasFailed == true)
  }

  @Test("A request that begins as none can is answered like one that is malformed as a whole")
  func malformedBeginning() throws {
    var streams = Self.machine(RPCLimits(brokenFrames: 3))
    let held = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    func malformed(_ stream: UInt32) -> DecodedFrame {
      .malformed(
        FrameHeader(dataLength: 5_000, streamID: StreamID(rawValue: stream), type: .request),
        WireError(.notUTF8, "Request"))
    }
    guard
      case .respond(let stream, let status) = streams.frameReceived(malformed(3), now: Self.start)
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
    // One that comes too late is told so, like any other.
    var ending = Self.machine()
    _ = ending.shutdownStarted()
    #expect(
      Self.text(ending.frameReceived(malformed(3), now: Self.start)) == "respond 3 UNAVAILABLE")
  }
}
