import Framing
import NIOCore
import TestSupport
import Testing
import Wire

/// Transcripts of the server's state machine.
@Suite("The server's streams (protocol, section 2)")
struct StreamServerTests {
  private static let table = MethodTable([
    MethodTable.Method(service: "s", method: "Unary", kind: .unary),
    MethodTable.Method(service: "s", method: "Stream", kind: .serverStreaming),
  ])
  static let start = NIODeadline.uptimeNanoseconds(1_000_000)

  static func machine(_ limits: RPCLimits = RPCLimits()) -> ServerStreams {
    ServerStreams(methods: table, limits: limits)
  }

  static func request(
    _ stream: UInt32, _ method: String = "Unary", service: String = "s", flags: FrameFlags = [],
    timeout: Int64 = 0
  ) -> DecodedFrame {
    var data = ByteBuffer()
    RequestEnvelope.write(
      service: service, method: method, payload: ByteBuffer(string: "p"),
      timeoutNanoseconds: timeout, metadata: [], into: &data)
    return frame(stream, .request, flags: flags, data: data)
  }

  static func frame(
    _ stream: UInt32, _ type: FrameType, flags: FrameFlags = [], data: ByteBuffer = ByteBuffer()
  ) -> DecodedFrame {
    let header = FrameHeader(
      dataLength: UInt32(data.readableBytes), streamID: StreamID(rawValue: stream), type: type,
      flags: flags)
    return .frame(Frame(header: header, data: data))
  }

  static func oversized(_ stream: UInt32, _ type: FrameType) -> DecodedFrame {
    .oversized(
      FrameHeader(dataLength: 5_000_000, streamID: StreamID(rawValue: stream), type: type))
  }

  /// A short text for an action, for transcripts.
  static func text(_ action: ServerAction) -> String {
    switch action {
    case .ignore: "ignore"
    case .start(let call): "start \(call.id.streamID) \(table.methods[call.method].method)"
    case .respond(let stream, let status, _): "respond \(stream) \(status.code.name)"
    case .end(let call, let status): "end \(call.streamID) \(status.code.name)"
    case .fail(let stream, let status): "fail \(stream) \(status.code.name)"
    }
  }

  static func call(_ action: ServerAction) throws -> CallID {
    guard case .start(let call) = action else {
      throw NotStarted(action: text(action))
    }
    return call.id
  }

  private struct NotStarted: Error {
    let action: String
  }

  @Test("A unary call is started, answered once, and its id can be used again")
  func unary() throws {
    var streams = Self.machine()
    let first = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    #expect(streams.isBusy == true)
    #expect(streams.answerProduced(first, payloadLength: 10, waiting: 0) == .send)
    #expect(streams.isBusy == false)
    #expect(streams.answerProduced(first, payloadLength: 10, waiting: 0) == .ignore)
    let second = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    #expect(second != first)
    #expect(streams.answerProduced(first, payloadLength: 10, waiting: 0) == .ignore)
    #expect(streams.failureProduced(first, RPCStatus(.internal)) == .ignore)
    #expect(streams.answerProduced(second, payloadLength: 10, waiting: 0) == .send)
    #expect(streams.isFinished == false)
  }

  @Test("Ids need not increase")
  func outOfOrder() {
    var streams = Self.machine()
    for id in [5, 3, 4_294_967_295, 1] as [UInt32] {
      #expect(
        Self.text(streams.frameReceived(Self.request(id), now: Self.start)) == "start \(id) Unary")
    }
  }

  @Test("An id in use ends its call, once")
  func idInUse() throws {
    var streams = Self.machine()
    let call = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    let other = try Self.call(streams.frameReceived(Self.request(3), now: Self.start))
    #expect(
      Self.text(streams.frameReceived(Self.request(1), now: Self.start))
        == "end 1 INVALID_ARGUMENT")
    #expect(streams.answerProduced(call, payloadLength: 1, waiting: 0) == .ignore)
    #expect(streams.answerProduced(other, payloadLength: 1, waiting: 0) == .send)
  }

  @Test(
    "Frames that start nothing",
    arguments: [
      (request(0), "respond 0 INVALID_ARGUMENT"),
      (request(2), "respond 2 INVALID_ARGUMENT"),
      (request(1, "Nothing"), "respond 1 UNIMPLEMENTED"),
      (request(1, service: "t"), "respond 1 UNIMPLEMENTED"),
      (request(1, flags: .remoteOpen), "respond 1 INVALID_ARGUMENT"),
      (request(1, flags: [.remoteOpen, .noData]), "respond 1 INVALID_ARGUMENT"),
      (request(1, "Stream"), "respond 1 INVALID_ARGUMENT"),
      (request(1, "Stream", flags: .remoteOpen), "respond 1 INVALID_ARGUMENT"),
      (request(1, timeout: -1), "respond 1 DEADLINE_EXCEEDED"),
      (request(1, timeout: .min), "respond 1 DEADLINE_EXCEEDED"),
      (frame(1, .request, data: ByteBuffer(bytes: [0x0A, 1, 0xFF])), "respond 1 INVALID_ARGUMENT"),
      (frame(1, .request, data: ByteBuffer(bytes: [0x0B])), "respond 1 INVALID_ARGUMENT"),
      (frame(1, .request), "respond 1 UNIMPLEMENTED"),
      (frame(1, .data), "ignore"),
      (frame(1, .response), "ignore"),
      (frame(1, FrameType(rawValue: 9)), "ignore"),
      (oversized(1, .request), "respond 1 RESOURCE_EXHAUSTED"),
      (oversized(1, .data), "ignore"),
      (oversized(1, FrameType(rawValue: 9)), "ignore"),
    ] as [(DecodedFrame, String)])
  func refused(frame: DecodedFrame, expected: String) {
    var streams = Self.machine()
    #expect(Self.text(streams.frameReceived(frame, now: Self.start)) == expected)
    #expect(streams.isBusy == false)
    #expect(streams.isFinished == false)
  }

  @Test(
    "Unary methods may be called with the stream already closed by the client",
    arguments: [FrameFlags.remoteClosed, [.remoteClosed, .noData]])
  func unaryRemoteClosed(flags: FrameFlags) {
    var streams = Self.machine()
    #expect(
      Self.text(streams.frameReceived(Self.request(1, flags: flags), now: Self.start))
        == "start 1 Unary")
  }

  @Test(
    "Data for a call in flight ends it",
    arguments: ["Unary", "Stream"],
    [frame(1, .data), frame(1, .data, flags: [.remoteClosed, .noData])])
  func dataForCall(method: String, data: DecodedFrame) throws {
    var streams = Self.machine()
    let call = try Self.call(
      streams.frameReceived(Self.request(1, method, flags: .remoteClosed), now: Self.start))
    #expect(
      Self.text(streams.frameReceived(data, now: Self.start)) == "end 1 INVALID_ARGUMENT")
    #expect(streams.failureProduced(call, RPCStatus(.internal)) == .ignore)
    #expect(Self.text(streams.frameReceived(data, now: Self.start)) == "ignore")
  }

  @Test("An oversized frame on an id in use ends that call")
  func oversizedInUse() throws {
    var streams = Self.machine()
    _ = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    #expect(
      Self.text(streams.frameReceived(Self.oversized(1, .data), now: Self.start))
        == "end 1 RESOURCE_EXHAUSTED")
  }

  @Test("A frame that is too large to skip fails the connection")
  func unskippable() throws {
    var streams = Self.machine()
    let call = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    let header = FrameHeader(dataLength: .max, streamID: StreamID(rawValue: 9), type: .request)
    #expect(
      Self.text(streams.frameReceived(.unskippable(header), now: Self.start))
        == "fail 9 RESOURCE_EXHAUSTED")
    #expect(streams.isFinished == true)
    #expect(streams.channelClosed() == [call])
    #expect(Self.text(streams.frameReceived(Self.request(3), now: Self.start)) == "ignore")
  }

  @Test("A stream sends any number of messages and ends successfully")
  func serverStreaming() throws {
    var streams = Self.machine()
    let call = try Self.call(
      streams.frameReceived(Self.request(1, "Stream", flags: .remoteClosed), now: Self.start))
    #expect(streams.answerProduced(call, payloadLength: 1, waiting: 0) == .ignore)
    #expect(streams.streamItemProduced(call, payloadLength: 0, waiting: 0) == .send)
    #expect(streams.streamItemProduced(call, payloadLength: 9, waiting: 0) == .send)
    #expect(streams.streamFinished(call) == .send)
    #expect(streams.streamFinished(call) == .ignore)
    #expect(streams.streamItemProduced(call, payloadLength: 9, waiting: 0) == .ignore)
    #expect(streams.isBusy == false)
  }

  @Test("A unary call cannot send stream messages")
  func unaryAsStream() throws {
    var streams = Self.machine()
    let call = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    #expect(streams.streamItemProduced(call, payloadLength: 0, waiting: 0) == .ignore)
    #expect(streams.streamFinished(call) == .ignore)
    #expect(streams.answerProduced(call, payloadLength: 1, waiting: 0) == .send)
  }

  @Test("A failure ends a stream, and one without a code is INTERNAL")
  func failures() throws {
    var streams = Self.machine()
    let stream = try Self.call(
      streams.frameReceived(Self.request(1, "Stream", flags: .remoteClosed), now: Self.start))
    let status = RPCStatus(.notFound, "gone")
    #expect(streams.failureProduced(stream, status) == .sendFailure(status))
    #expect(streams.failureProduced(stream, status) == .ignore)
    let unary = try Self.call(streams.frameReceived(Self.request(3), now: Self.start))
    #expect(streams.failureProduced(unary, RPCStatus(.ok)) == .sendFailure(RPCStatus(.internal)))
  }

  @Test("The largest answer passes; a larger one is RESOURCE_EXHAUSTED on that stream only")
  func tooLarge() throws {
    var streams = Self.machine()
    let first = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    let second = try Self.call(streams.frameReceived(Self.request(3), now: Self.start))
    let stream = try Self.call(
      streams.frameReceived(Self.request(5, "Stream", flags: .remoteClosed), now: Self.start))
    // One byte of tag and four bytes of length precede the payload.
    let largest = RPCLimits.maximumFrameData - 5
    #expect(streams.answerProduced(first, payloadLength: largest, waiting: 0) == .send)
    Self.expectExhausted(streams.answerProduced(second, payloadLength: largest + 1, waiting: 0))
    #expect(
      streams.streamItemProduced(
        stream, payloadLength: RPCLimits.maximumFrameData, waiting: 0) == .send)
    Self.expectExhausted(
      streams.streamItemProduced(
        stream, payloadLength: RPCLimits.maximumFrameData + 1, waiting: 0))
    #expect(streams.isFinished == false)
  }

  private static func expectExhausted(
    _ action: AnswerAction, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    guard case .sendFailure(let status) = action else {
      Issue.record("\(action)", sourceLocation: sourceLocation)
      return
    }
    #expect(status.code == .resourceExhausted, sourceLocation: sourceLocation)
  }

  @Test("Unread answers are limited in bytes; a stream ends with its last cursor")
  func writeBuffer() throws {
    var streams = Self.machine(RPCLimits(writeBuffer: 1000))
    let unary = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    Self.expectExhausted(streams.answerProduced(unary, payloadLength: 500, waiting: 600))
    let stream = try Self.call(
      streams.frameReceived(Self.request(3, "Stream", flags: .remoteClosed), now: Self.start))
    #expect(streams.streamItemProduced(stream, payloadLength: 490, waiting: 500) == .send)
    let action = streams.streamItemProduced(
      stream, payloadLength: 491, waiting: 500, lastCursor: "17")
    guard case .sendFailure(let status) = action else {
      Issue.record("\(action)")
      return
    }
    #expect(status.code == .resourceExhausted)
    #expect(
      status.errorInfo
        == RPCStatus.ErrorInfo(
          reason: "SLOW_READER", domain: "entitle", metadata: ["cursor": "17"]))
    #expect(streams.isBusy == false)
  }

  @Test("Calls in flight are limited in number")
  func streamLimit() throws {
    var streams = Self.machine(RPCLimits(streamsPerConnection: 2))
    let first = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    _ = try Self.call(streams.frameReceived(Self.request(3), now: Self.start))
    #expect(
      Self.text(streams.frameReceived(Self.request(5), now: Self.start))
        == "respond 5 RESOURCE_EXHAUSTED")
    #expect(streams.answerProduced(first, payloadLength: 1, waiting: 0) == .send)
    #expect(
      Self.text(streams.frameReceived(Self.request(5), now: Self.start)) == "start 5 Unary")
  }

  @Test("Deadlines count from the arrival of the request, and end only their calls")
  func deadlines() throws {
    var streams = Self.machine()
    let never = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    let late = try Self.call(
      streams.frameReceived(Self.request(3, timeout: 200), now: Self.start))
    let early = try Self.call(
      streams.frameReceived(
        Self.request(5, "Stream", flags: .remoteClosed, timeout: 100), now: Self.start))
    _ = try Self.call(streams.frameReceived(Self.request(7, timeout: .max), now: Self.start))
    #expect(streams.earliestDeadline == Self.start + .nanoseconds(100))
    #expect(streams.deadlinesPassed(now: Self.start + .nanoseconds(99)) == [])
    #expect(streams.deadlinesPassed(now: Self.start + .nanoseconds(100)) == [early])
    #expect(streams.earliestDeadline == Self.start + .nanoseconds(200))
    #expect(streams.deadlinesPassed(now: Self.start + .nanoseconds(300)) == [late])
    #expect(streams.answerProduced(late, payloadLength: 1, waiting: 0) == .ignore)
    #expect(streams.answerProduced(never, payloadLength: 1, waiting: 0) == .send)
  }

  @Test("A delayed request is not started after its deadline")
  func heldBack() throws {
    var streams = Self.machine()
    let now = Self.start + .nanoseconds(100)
    for (timeout, expected) in [
      (99, "respond 1 DEADLINE_EXCEEDED"), (100, "respond 1 DEADLINE_EXCEEDED"),
      (101, "start 1 Unary"),
    ] as [(Int64, String)] {
      let frame = Self.request(1, timeout: timeout)
      let action = streams.frameReceived(frame, arrivedAt: Self.start, now: now)
      #expect(Self.text(action) == expected)
    }
    #expect(streams.earliestDeadline == now + .nanoseconds(1))
    let endless = streams.frameReceived(Self.request(3), arrivedAt: Self.start, now: now)
    #expect(Self.text(endless) == "start 3 Unary")
  }

  @Test("After the client's half-close, calls are answered, then the connection is finished")
  func halfClose() throws {
    var streams = Self.machine()
    let first = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    let second = try Self.call(streams.frameReceived(Self.request(3), now: Self.start))
    streams.inputClosed()
    #expect(streams.isFinished == false)
    #expect(streams.answerProduced(second, payloadLength: 1, waiting: 0) == .send)
    #expect(streams.isFinished == false)
    #expect(streams.answerProduced(first, payloadLength: 1, waiting: 0) == .send)
    #expect(streams.isFinished == true)
  }

  @Test("The calls of a closed connection are cancelled, and late answers are dropped")
  func closed() throws {
    var streams = Self.machine()
    let first = try Self.call(streams.frameReceived(Self.request(5), now: Self.start))
    let second = try Self.call(
      streams.frameReceived(Self.request(3, "Stream", flags: .remoteClosed), now: Self.start))
    #expect(streams.channelClosed() == [second, first])
    #expect(streams.channelClosed() == [])
    #expect(streams.answerProduced(first, payloadLength: 1, waiting: 0) == .ignore)
    #expect(streams.streamItemProduced(second, payloadLength: 1, waiting: 0) == .ignore)
  }

  @Test("Shutdown ends streams, lets calls finish, and refuses new ones")
  func shutdown() throws {
    var streams = Self.machine()
    let unary = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    let stream = try Self.call(
      streams.frameReceived(Self.request(3, "Stream", flags: .remoteClosed), now: Self.start))
    #expect(streams.shutdownStarted() == [stream])
    #expect(streams.isFinished == false)
    #expect(
      Self.text(streams.frameReceived(Self.request(5), now: Self.start))
        == "respond 5 UNAVAILABLE")
    #expect(streams.answerProduced(unary, payloadLength: 1, waiting: 0) == .send)
    #expect(streams.isFinished == true)
  }

  @Test("When the shutdown timeout passes, the remaining calls are ended")
  func shutdownTime() throws {
    var streams = Self.machine()
    let unary = try Self.call(streams.frameReceived(Self.request(1), now: Self.start))
    #expect(streams.shutdownStarted() == [])
    #expect(streams.shutdownTimePassed() == [unary])
    #expect(streams.isFinished == true)
  }

  @Test("An idle connection is finished as soon as shutdown starts")
  func idleShutdown() {
    var streams = Self.machine()
    #expect(streams.shutdownStarted() == [])
    #expect(streams.isFinished == true)
  }

  @Test("Any order of steps answers every call at most once")
  func randomSteps() {
    var random = SeededRandom(for: "random steps")
    for _ in 0..<300 {
      var streams = Self.machine(RPCLimits(streamsPerConnection: 4, brokenFrames: .max))
      var started: [CallID] = []
      var answered: Set<CallID> = []
      for step in 0..<100 {
        let now = Self.start + .nanoseconds(Int64(step) * 10)
        switch Int.random(in: 0..<8, using: &random) {
        case 0...3:
          let frame = Self.request(
            UInt32.random(in: 0...9, using: &random),
            ["Unary", "Stream"].randomElement(using: &random) ?? "",
            flags: FrameFlags(rawValue: UInt8.random(in: 0...7, using: &random)),
            timeout: Int64.random(in: -10...200, using: &random))
          switch streams.frameReceived(frame, now: now) {
          case .start(let call): started.append(call.id)
          case .end(let call, _): #expect(answered.insert(call).inserted)
          default: break
          }
        case 4:
          let frame = Self.frame(UInt32.random(in: 0...9, using: &random), .data)
          if case .end(let call, _) = streams.frameReceived(frame, now: now) {
            #expect(answered.insert(call).inserted)
          }
        case 5:
          for call in streams.deadlinesPassed(now: now) {
            #expect(answered.insert(call).inserted)
          }
        default:
          guard let call = started.randomElement(using: &random) else {
            continue
          }
          if streams.failureProduced(call, RPCStatus(.aborted)) != .ignore {
            #expect(answered.insert(call).inserted)
          }
        }
      }
      let left = streams.channelClosed()
      #expect(answered.isDisjoint(with: left))
      #expect(answered.union(left) == Set(started))
    }
  }
}
