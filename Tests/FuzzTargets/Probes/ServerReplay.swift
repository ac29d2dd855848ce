import Framing
import NIOCore
import Wire

/// The server's side of a connection on which a peer sends arbitrary frames: each call starts once
/// and ends once, and no call is in flight after the end of the connection.
///
/// The bytes of the frames also choose the answers and the time that passes.
struct ServerReplay: ~Copyable {
  private static let methods = MethodTable([
    MethodTable.Method(service: ServiceNames.health, method: "Check", kind: .unary),
    MethodTable.Method(service: ServiceNames.health, method: "Watch", kind: .serverStreaming),
    MethodTable.Method(
      service: ServiceNames.submissions, method: "SubmitSignedTransactions", kind: .unary),
  ])
  /// Low, so that a short input can exceed it.
  private static let limits = RPCLimits(streamsPerConnection: 4)

  private var streams = ServerStreams(methods: methods, limits: limits)
  private var open: [StreamID: ServerCall] = [:]
  private var serials: Set<UInt64> = []
  private var now = NIODeadline.uptimeNanoseconds(1_000_000_000)

  static func run(_ frames: [DecodedFrame]) throws(BrokenInvariant) {
    var replay = ServerReplay()
    for frame in frames {
      try replay.receive(frame)
      try replay.passTime(frame)
      try replay.answer(frame)
    }
    try replay.finish()
  }

  private mutating func receive(_ frame: DecodedFrame) throws(BrokenInvariant) {
    let wasFinished = streams.isFinished
    switch streams.frameReceived(frame, now: now) {
    case .ignore:
      break
    case .start(let call):
      try require(!wasFinished, "no call starts on a connection that is over")
      try start(call)
    case .respond(let streamID, let status, _):
      try require(open[streamID] == nil, "a failure without a call is not sent to a call's stream")
      try require(status.code != .ok, "a refusal has another code than OK")
    case .end(let call, let status):
      try require(open.removeValue(forKey: call.streamID)?.id == call, "a call that ends was open")
      try require(status.code != .ok, "a call that is ended early has another code than OK")
      try require(!streams.isInFlight(call), "a call that has ended is not in flight")
    case .fail:
      try require(streams.isFinished, "a connection that has failed is over")
    }
    try require(streams.isBusy == !open.isEmpty, "a server is busy while calls are open")
  }

  private mutating func start(_ call: ServerCall) throws(BrokenInvariant) {
    try require(open[call.id.streamID] == nil, "a stream has one call at a time")
    try require(serials.insert(call.id.serial).inserted, "no two calls have one serial number")
    try require(streams.isInFlight(call.id), "a call that starts is in flight")
    try require(call.id.streamID.isClientInitiated, "a call has an odd stream id")
    try require(Self.methods.methods.indices.contains(call.method), "a call names a method")
    try require(
      call.deadline.map { $0 > now } ?? true, "a call does not start after its deadline")
    let method = Self.methods.methods[call.method]
    try require(
      call.request.service == method.service && call.request.method == method.method,
      "a call is one of the method that was named")
    open[call.id.streamID] = call
    try require(
      open.count <= Self.limits.streamsPerConnection, "no more calls are open than allowed")
  }

  private mutating func passTime(_ frame: DecodedFrame) throws(BrokenInvariant) {
    guard case .frame(let frame) = frame else { return }
    now = now + .milliseconds(Int64(frame.header.flags.rawValue))
    for call in streams.deadlinesPassed(now: now) {
      let ended = open.removeValue(forKey: call.streamID)
      try require(ended?.id == call, "a call that runs out of time was open")
      try require(
        ended?.deadline.map { $0 <= now } ?? false, "a call that runs out of time has a deadline")
    }
    for call in open.values {
      try require(
        call.deadline.map { $0 > now && streams.earliestDeadline <= $0 } ?? true,
        "no deadline is missed")
    }
  }

  /// One of the open calls answers. The header of the frame gives the length and the backlog.
  private mutating func answer(_ frame: DecodedFrame) throws(BrokenInvariant) {
    guard case .frame(let frame) = frame, frame.header.flags.rawValue & 0x10 != 0,
      let call = open.values.min(by: { $0.id.serial < $1.id.serial })
    else { return }
    let length = Int(frame.header.streamID.rawValue % 8_388_608)
    let waiting = Int(frame.header.streamID.rawValue >> 8)
    switch frame.header.type.rawValue % 4 {
    case 0:
      let action = streams.answerProduced(call.id, payloadLength: length, waiting: waiting)
      try check(action, of: call, ends: Self.methods.methods[call.method].kind == .unary)
    case 1:
      try check(streams.failureProduced(call.id, RPCStatus(.ok)), of: call, ends: true)
    case 2:
      let action = streams.streamItemProduced(call.id, payloadLength: length, waiting: waiting)
      var isOver = false
      if case .sendFailure = action { isOver = true }
      try check(action, of: call, ends: isOver)
    default:
      let action = streams.streamFinished(call.id)
      try check(
        action, of: call, ends: Self.methods.methods[call.method].kind == .serverStreaming)
    }
  }

  private mutating func check(
    _ action: AnswerAction, of call: ServerCall, ends: Bool
  ) throws(BrokenInvariant) {
    if case .sendFailure(let status) = action {
      try require(status.code != .ok, "a call that fails has another code than OK")
    }
    if ends { open[call.id.streamID] = nil }
    try require(streams.isInFlight(call.id) == !ends, "a call is in flight until it is answered")
    try require(
      !ends || streams.failureProduced(call.id, RPCStatus(.internal)) == .ignore,
      "a call has one answer")
  }

  private consuming func finish() throws(BrokenInvariant) {
    for call in streams.shutdownStarted() + streams.shutdownTimePassed() {
      try require(
        open.removeValue(forKey: call.streamID)?.id == call, "a call that is shut down was open")
    }
    try require(open.isEmpty && !streams.isBusy, "no call outlives a shutdown")
    try require(streams.isFinished, "a connection without calls is over after a shutdown")
    try require(streams.channelClosed().isEmpty, "nothing is left to cancel after a shutdown")
  }
}
