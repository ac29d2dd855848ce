package import NIOCore

/// The server's state machine for the streams of one connection (ttrpc 1.2, `PROTOCOL.md`). It
/// decides which frames start, end or refuse a call, and whether an answer is sent. No I/O and no
/// clock: the channel handler reports events and carries out the returned actions.
///
/// Each request gets exactly one answer. If a client reuses an id that is in flight, that call
/// ends, so that a late answer cannot be mistaken for the answer to the second request.
package struct ServerStreams: ~Copyable {
  fileprivate struct Stream {
    let id: CallID
    let kind: MethodKind
    let deadline: NIODeadline?
  }

  private let methods: MethodTable
  private let limits: RPCLimits
  private var streams = StreamTable<Stream>()
  private var nextSerial: UInt64 = 0
  private var inputIsClosed = false
  private var isShuttingDown = false
  /// Whether the connection is unusable: the client broke the protocol or disconnected.
  package private(set) var hasFailed = false
  private var brokenFrames: TokenBucket

  /// A lower bound of the deadlines of all calls in flight.
  package private(set) var earliestDeadline = NIODeadline.distantFuture

  package init(methods: MethodTable, limits: RPCLimits) {
    self.methods = methods
    self.limits = limits
    self.brokenFrames = TokenBucket(tokensPerSecond: limits.brokenFrames)
  }

  /// Whether calls are in flight.
  package var isBusy: Bool {
    !streams.isEmpty
  }

  /// Whether no more answers follow. The handler flushes pending writes and closes the connection.
  package var isFinished: Bool {
    hasFailed || ((inputIsClosed || isShuttingDown) && streams.isEmpty)
  }

  /// Whether the call is in flight, so that its answer can be sent.
  package func isInFlight(_ call: CallID) -> Bool {
    streams[call.streamID]?.id == call
  }

  // MARK: Input from the client

  /// Handles a decoded frame.
  ///
  /// - Parameters:
  ///   - arrival: When the frame arrived; nil is `now`. It is earlier than `now` if decoding was
  ///     paused. Timeouts count from it.
  ///   - now: A call whose deadline is not after `now` is not started.
  package mutating func frameReceived(
    _ decoded: DecodedFrame, arrivedAt arrival: NIODeadline? = nil, now: NIODeadline
  ) -> ServerAction {
    if hasFailed {
      return .ignore
    }
    let action = action(for: decoded, arrivedAt: arrival ?? now, now: now)
    guard Self.breaksProtocol(decoded, action),
      !brokenFrames.take(Self.cost(of: decoded), now: now)
    else { return action }
    hasFailed = true
    return switch action {
    case .respond(let streamID, let status, let method):
      .respond(streamID, Self.closingConnection(status), method: method)
    case .end(let call, let status): .end(call, Self.closingConnection(status))
    case .ignore, .start, .fail: action
    }
  }

  /// The tokens that a broken frame costs: one, and one more for each 64 KiB, which must be read.
  private static func cost(of decoded: DecodedFrame) -> Int {
    let header =
      switch decoded {
      case .frame(let frame): frame.header
      case .malformed(let header, _), .oversized(let header), .unskippable(let header): header
      }
    return 1 + Int(header.dataLength >> 16)
  }

  /// Whether a frame broke the protocol, as shown by the action it caused: it was too long, had a
  /// malformed envelope or an invalid stream id, or was an unexpected data frame.
  package static func breaksProtocol(_ decoded: DecodedFrame, _ action: ServerAction) -> Bool {
    switch (decoded, action) {
    case (.oversized, _), (.malformed, _), (.unskippable, _), (_, .end): true
    case (_, .respond(_, let status, _)): status.code == .invalidArgument
    default: false
    }
  }

  private mutating func action(
    for decoded: DecodedFrame, arrivedAt arrival: NIODeadline, now: NIODeadline
  ) -> ServerAction {
    switch decoded {
    case .frame(let frame):
      return switch frame.header.type {
      case .request: requestReceived(frame, arrivedAt: arrival, now: now)
      case .data: dataReceived(frame.header)
      default: .ignore
      }
    case .malformed(let header, let error):
      return refusal(of: header.streamID) ?? Self.malformed(header.streamID, error)
    case .oversized(let header):
      return oversizedFrameReceived(header)
    case .unskippable(let header):
      hasFailed = true
      let status = RPCStatus(
        .resourceExhausted,
        "a frame of \(header.dataLength) bytes was announced; at most "
          + "\(RPCLimits.maximumFrameData) are allowed; closing the connection")
      return .fail(header.streamID, status)
    }
  }

  /// Which requests would be started now. Valid until the next event of the connection.
  package var admission: Admission {
    let isOpen = !isShuttingDown && !hasFailed && streams.count < limits.streamsPerConnection
    return Admission(isOpen: isOpen, streams: streams.isEmpty ? StreamTable() : streams)
  }

  /// The value of ``ServerStreams/admission``. A call that is answered before the next event of the
  /// connection need not open a stream.
  package struct Admission {
    fileprivate let isOpen: Bool
    fileprivate let streams: StreamTable<Stream>

    /// Whether a request of a unary method in this frame would be started, provided that it is
    /// valid and its deadline has not passed.
    package func admits(_ header: FrameHeader) -> Bool {
      isOpen && header.type == .request && header.streamID.isClientInitiated
        && !header.flags.contains(.remoteOpen)
        && (streams.isEmpty || streams[header.streamID] == nil)
    }
  }

  private mutating func requestReceived(
    _ frame: Frame, arrivedAt arrival: NIODeadline, now: NIODeadline
  ) -> ServerAction {
    let streamID = frame.header.streamID
    if let refusal = refusal(of: streamID) {
      return refusal
    }
    let request: RequestEnvelope
    do {
      request = try RequestEnvelope(decoding: frame.data)
    } catch {
      return Self.malformed(streamID, error)
    }
    guard let method = methods.index(of: request) else {
      return .respond(
        streamID, RPCStatus(.unimplemented, "no such method; check service and method name"))
    }
    let kind = methods.methods[method].kind
    if let refusal = refusal(of: frame.header.flags, kind: kind) {
      return .respond(streamID, refusal, method: method)
    }
    let timeout = request.timeoutNanoseconds
    // The sum saturates at the distant future.
    let deadline: NIODeadline? = timeout == 0 ? nil : arrival + .nanoseconds(timeout)
    if timeout < 0 || (deadline.map { $0 <= now } ?? false) {
      return .respond(streamID, Self.deadlineExceeded, method: method)
    }
    if streams.count >= limits.streamsPerConnection {
      return .respond(streamID, tooManyStreams, method: method)
    }
    return .start(
      open(
        CallID(streamID: streamID, serial: takeSerial(), method: method, arrival: arrival),
        kind: kind, request: request, deadline: deadline))
  }

  /// Refuses a request for its stream id or a shutdown; nil if neither applies.
  private mutating func refusal(of streamID: StreamID) -> ServerAction? {
    guard streamID.isClientInitiated else {
      return .respond(
        streamID, RPCStatus(.invalidArgument, "stream id \(streamID) is not odd"))
    }
    if streams[streamID] != nil {
      return end(
        streamID, RPCStatus(.invalidArgument, "stream id \(streamID) is already in use"))
    }
    return isShuttingDown ? .respond(streamID, Self.shuttingDown) : nil
  }

  private static func malformed(_ streamID: StreamID, _ error: WireError) -> ServerAction {
    .respond(streamID, RPCStatus(.invalidArgument, "malformed request envelope: \(error)"))
  }

  private func refusal(of flags: FrameFlags, kind: MethodKind) -> RPCStatus? {
    if flags.contains(.remoteOpen) {
      return RPCStatus(.invalidArgument, "the method takes one request, not a stream of requests")
    }
    if kind == .serverStreaming, !flags.contains(.remoteClosed) {
      return RPCStatus(
        .invalidArgument, "the method is server-streaming; call it as a stream")
    }
    return nil
  }

  private mutating func takeSerial() -> UInt64 {
    defer { nextSerial &+= 1 }
    return nextSerial
  }

  private mutating func open(
    _ id: CallID, kind: MethodKind, request: RequestEnvelope, deadline: NIODeadline?
  ) -> ServerCall {
    if let deadline, deadline < earliestDeadline {
      earliestDeadline = deadline
    }
    streams.insert(Stream(id: id, kind: kind, deadline: deadline), id: id.streamID)
    return ServerCall(id: id, request: request, deadline: deadline)
  }

  private mutating func dataReceived(_ header: FrameHeader) -> ServerAction {
    if streams[header.streamID] == nil {
      return .ignore
    }
    return end(
      header.streamID,
      RPCStatus(.invalidArgument, "data was sent on a stream whose request is complete"))
  }

  private mutating func oversizedFrameReceived(_ header: FrameHeader) -> ServerAction {
    let status = RPCStatus(
      .resourceExhausted,
      "the frame has \(header.dataLength) bytes; at most \(RPCLimits.maximumFrameData) are allowed")
    if header.type != .request, header.type != .data {
      return .ignore
    }
    if streams[header.streamID] != nil {
      return end(header.streamID, status)
    }
    return header.type == .request ? .respond(header.streamID, status) : .ignore
  }

  /// A call had no valid credential. It costs as much as a broken frame, so that a client cannot try
  /// tokens at the speed of the network: without tokens left, the connection ends.
  package mutating func credentialRefused(now: NIODeadline) {
    if !brokenFrames.take(1, now: now) { hasFailed = true }
  }

  /// An incomplete frame was given up for lack of memory.
  package mutating func frameDropped(_ header: FrameHeader) -> ServerAction {
    guard !hasFailed, header.type == .request else {
      return .ignore
    }
    return refusal(of: header.streamID) ?? .respond(header.streamID, Self.memoryExhausted)
  }

  /// The client closed its sending side. Calls in flight are still answered.
  package mutating func inputClosed() {
    inputIsClosed = true
  }

  /// The connection closed.
  ///
  /// - Returns: The calls to cancel.
  package mutating func channelClosed() -> [CallID] {
    hasFailed = true
    return endAll { _ in true }
  }

  // MARK: Output of calls

  /// A unary call produced its answer.
  ///
  /// - Parameters:
  ///   - waiting: Bytes written that the client has not read.
  ///   - room: Bytes that the connection may hold in addition.
  package mutating func answerProduced(
    _ call: CallID, payloadLength: Int, waiting: Int, room: Int = .max
  ) -> AnswerAction {
    guard let stream = streams[call.streamID], stream.id == call,
      stream.kind == .unary
    else {
      return .ignore
    }
    close(call.streamID)
    let length = FrameEncoder.responseDataLength(payloadLength: payloadLength)
    if length > RPCLimits.maximumFrameData {
      return .sendFailure(Self.tooLarge(length))
    }
    if waiting + length > limits.writeBuffer {
      return .sendFailure(
        RPCStatus(.resourceExhausted, "too many unread answers on this connection"))
    }
    if length > room {
      return .sendFailure(Self.memoryExhausted)
    }
    return .send
  }

  /// A call of either kind failed.
  package mutating func failureProduced(_ call: CallID, _ status: RPCStatus) -> AnswerAction {
    guard isInFlight(call) else {
      return .ignore
    }
    close(call.streamID)
    // The client would take an OK code for success.
    return .sendFailure(status.code == .ok ? RPCStatus(.internal) : status)
  }

  /// A stream produced its next message.
  ///
  /// - Parameters:
  ///   - waiting: Bytes written that the client has not read.
  ///   - room: Bytes that the connection may hold in addition.
  ///   - lastCursor: Where a slow reader can resume, if the stream has cursors.
  package mutating func streamItemProduced(
    _ call: CallID, payloadLength: Int, waiting: Int, room: Int = .max, lastCursor: String? = nil
  ) -> AnswerAction {
    guard let stream = streams[call.streamID], stream.id == call,
      stream.kind == .serverStreaming
    else {
      return .ignore
    }
    if payloadLength > RPCLimits.maximumFrameData {
      close(call.streamID)
      return .sendFailure(Self.tooLarge(payloadLength))
    }
    if waiting + payloadLength + FrameHeader.encodedSize > limits.writeBuffer {
      close(call.streamID)
      return .sendFailure(Self.slowReader(lastCursor))
    }
    if payloadLength > room {
      close(call.streamID)
      return .sendFailure(Self.memoryExhausted(lastCursor))
    }
    return .send
  }

  /// A stream waited too long for the client to read earlier messages.
  ///
  /// - Parameter lastCursor: Where the reader can resume, if the stream has cursors.
  package mutating func streamStalled(
    _ call: CallID, lastCursor: String? = nil
  ) -> AnswerAction {
    guard isInFlight(call) else {
      return .ignore
    }
    close(call.streamID)
    return .sendFailure(Self.slowReader(lastCursor))
  }

  /// A stream produced its last message.
  package mutating func streamFinished(_ call: CallID) -> AnswerAction {
    guard let stream = streams[call.streamID], stream.id == call,
      stream.kind == .serverStreaming
    else {
      return .ignore
    }
    close(call.streamID)
    return .send
  }

  // MARK: Time and shutdown

  /// Ends the calls whose deadline has passed.
  ///
  /// - Returns: The calls to cancel and to answer with ``deadlineExceeded``.
  package mutating func deadlinesPassed(now: NIODeadline) -> [CallID] {
    if now < earliestDeadline {
      return []
    }
    let ended = endAll { stream in stream.deadline.map { $0 <= now } ?? false }
    earliestDeadline =
      streams.all.lazy.compactMap(\.stream.deadline).min() ?? .distantFuture
    return ended
  }

  /// Refuses new requests from now on. Unary calls may finish; streams end, as they may be endless.
  ///
  /// - Returns: The streams to cancel and to end with ``shuttingDown``.
  package mutating func shutdownStarted() -> [CallID] {
    isShuttingDown = true
    return endAll { $0.kind == .serverStreaming }
  }

  /// The shutdown timeout passed: ends all calls.
  ///
  /// - Returns: The calls to cancel and to answer with ``shuttingDown``.
  package mutating func shutdownTimePassed() -> [CallID] {
    isShuttingDown = true
    return endAll { _ in true }
  }

  // MARK: Failures

  package static let deadlineExceeded = RPCStatus(
    .deadlineExceeded, "the deadline passed before the call was done")
  package static let shuttingDown = RPCStatus(
    .unavailable, "the server is shutting down",
    errorInfo: RPCStatus.ErrorInfo(reason: RPCStatus.shuttingDownReason, domain: "entitle"),
    retryDelay: .seconds(1))

  /// The request, its work or its answer does not fit the connection's share of the memory.
  package static let memoryExhausted = memoryExhausted(nil)

  private static func memoryExhausted(_ lastCursor: String?) -> RPCStatus {
    RPCStatus(
      .resourceExhausted,
      "the server's memory for calls is in use, and this connection has its share of it",
      errorInfo: RPCStatus.ErrorInfo(
        reason: "MEMORY_LIMIT", domain: "entitle",
        metadata: lastCursor.map { ["cursor": $0] } ?? [:]),
      retryDelay: .milliseconds(200))
  }

  package static let protocolBroken = RPCStatus(
    .unavailable, "the connection was closed because the client broke the protocol")

  private static func closingConnection(_ status: RPCStatus) -> RPCStatus {
    var status = status
    status.message += "; too many frames broke the protocol; closing the connection"
    return status
  }

  private static func tooLarge(_ length: Int) -> RPCStatus {
    RPCStatus(
      .resourceExhausted,
      "the answer has \(length) bytes; at most \(RPCLimits.maximumFrameData) are allowed")
  }

  private static func slowReader(_ lastCursor: String?) -> RPCStatus {
    RPCStatus(
      .resourceExhausted, "the stream is not read fast enough; resume after the last message",
      errorInfo: RPCStatus.ErrorInfo(
        reason: "SLOW_READER", domain: "entitle",
        metadata: lastCursor.map { ["cursor": $0] } ?? [:]))
  }

  private var tooManyStreams: RPCStatus {
    RPCStatus(
      .resourceExhausted,
      "\(limits.streamsPerConnection) calls are in flight on this connection already",
      retryDelay: .milliseconds(50))
  }

  // MARK: Closing streams

  private mutating func end(_ streamID: StreamID, _ status: RPCStatus) -> ServerAction {
    guard let stream = streams[streamID] else {
      return .respond(streamID, status)
    }
    close(streamID)
    return .end(stream.id, status)
  }

  private mutating func endAll(where isOver: (Stream) -> Bool) -> [CallID] {
    let ended = streams.all.filter { isOver($0.stream) }
    for (id, _) in ended {
      close(id)
    }
    return ended.map { $0.stream.id }
  }

  private mutating func close(_ streamID: StreamID) {
    streams.remove(streamID)
    if streams.isEmpty {
      earliestDeadline = .distantFuture
    }
  }
}
