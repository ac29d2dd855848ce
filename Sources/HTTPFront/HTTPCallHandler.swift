import Framing
import NIOCore
import NIOHTTP1
import RPCServer

/// Turns requests into frames and frames into responses, one request after the other: it stands
/// between the codec of HTTP and the handler of frames.
///
/// The handler of frames must not be entered from within its own writes. A response may end in one, and
/// the next request may have been read already. It is handled in a later turn of the event loop.
final class HTTPCallHandler: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = HTTPServerResponsePart

  /// What is known of a request from its head.
  struct Request {
    let version: HTTPVersion
    let isKeptAlive: Bool
    /// Whether the response has no body, whatever its length (RFC 9110 section 9.3.2).
    let isHead: Bool
    let commonFields: [(String, String)]
  }

  enum State {
    /// Between two requests.
    case idle
    /// A body arrives, into ``HTTPCallHandler/body``.
    case receiving(Request, any RequestTranslation)
    /// A body arrives that is not needed; then this is answered.
    case skipping(Request, HTTPAnswer, bodyLength: Int)
    /// A frame was sent to the handler of frames.
    case calling(Request, any RequestTranslation, StreamID)

    var isCalling: Bool { if case .calling = self { true } else { false } }
  }

  let front: HTTPFront
  let peer: RPCPeer
  let bytes: RequestBytes
  var context: ChannelHandlerContext?
  var state = State.idle
  var decoder = FrameDecoder()
  private var lastStreamID: UInt32 = 0
  private var callers: CallerLookup
  /// Nil unless one arrives.
  private var body: RequestBody?
  /// Tokens for refused requests.
  var penalties = TokenBucket(tokensPerSecond: HTTPFrontLimits.refusedRequests)

  /// Parts of requests that came before the answer to an earlier one.
  private var waiting = CircularBuffer<HTTPServerRequestPart>()
  private var waitingRequests = 0
  /// Whether what arrives is dropped: the connection closes after the answers to waiting requests.
  private var isDropping = false
  private var isInputClosed = false
  private var isReadDeferred = false
  var isShuttingDown = false

  /// Whether the handler of frames is writing.
  private var isWriting = false
  /// Whether something was written outside of its writes.
  var needsFlush = false

  /// When the present request began; nil between requests.
  private var requestBegan: NIODeadline?
  /// Nil during a call.
  private var wait: WaitingConnections.Wait?
  /// When the last response ended.
  var idleSince: NIODeadline
  private var timer: Scheduled<Void>?
  private var timerDeadline = NIODeadline.distantFuture

  init(front: HTTPFront, peer: RPCPeer, bytes: RequestBytes) {
    self.front = front
    self.peer = peer
    self.bytes = bytes
    callers = peer.callers
    idleSince = peer.eventLoop.now
  }

  // MARK: Channel events

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    beginWait()
    scheduleTimer()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    timer?.cancel()
    endWait()
    takeBody()
    front.connectionClosed()
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    if isDropping || bytes.isClosing { return }
    guard state.isCalling || !waiting.isEmpty else {
      handle(part)
      return
    }
    if case .head = part {
      waitingRequests += 1
      if waitingRequests > HTTPFrontLimits.pipelinedRequests {
        isDropping = true
        return
      }
    }
    waiting.append(part)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    flushIfNeeded()
  }

  /// No more requests are read while an earlier one is answered and another one waits.
  func read(context: ChannelHandlerContext) {
    if state.isCalling, !waiting.isEmpty {
      isReadDeferred = true
    } else {
      context.read()
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed where !waiting.isEmpty:
      // Told when they are handled: the handler of frames closes when nothing is in flight.
      isInputClosed = true
    case is ShutdownStarted:
      isShuttingDown = true
      switch state {
      case .receiving, .skipping: refuse(.shuttingDown)
      case .idle, .calling: break
      }
      context.fireUserInboundEventTriggered(event)
    default:
      context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // What follows an error cannot be decoded either; the answers to earlier requests are sent first.
    if error is ByteToMessageDecoderError, isDropping || bytes.isClosing { return }
    guard let error = error as? HTTPParserError else {
      context.fireErrorCaught(error)
      return
    }
    if state.isCalling || !waiting.isEmpty {
      isDropping = true
    } else if !bytes.isClosing, requestBegan != nil {
      refuse(error == .headerOverflow ? .headerTooLong : .malformed)
    }
  }

  // MARK: Requests

  /// Bytes arrived from the socket, and are decoded next.
  func bytesArrived() {
    guard case .idle = state, requestBegan == nil else { return }
    requestBegan = peer.eventLoop.now
    scheduleTimer()
  }

  private func handle(_ part: HTTPServerRequestPart) {
    switch (part, state) {
    case (.head(let head), .idle): begin(head)
    case (.body(let part), .receiving): receive(part)
    case (.body(let part), .skipping(let request, let answer, let length)):
      let length = length + part.readableBytes
      if length > front.limits.body {
        refuse(.bodyTooLong(limit: front.limits.body))
      } else {
        state = .skipping(request, answer, bodyLength: length)
      }
    case (.end, .receiving(let request, let translation)):
      let body = takeBody()
      call(request, translation, body?.isWithheld == true ? nil : body?.bytes)
    case (.end, .skipping(let request, let answer, _)):
      write(answer, to: request)
    default:
      // The rest of a request that was refused.
      break
    }
  }

  private func begin(_ head: HTTPRequestHead) {
    if requestBegan == nil { requestBegan = peer.eventLoop.now }
    guard head.isUnambiguous else {
      refuse(.malformed)
      return
    }
    // After a request to upgrade, the decoder reads nothing more.
    let isLast = head.method == .CONNECT || head.headers.contains(name: "upgrade")
    let request = Request(
      version: head.version, isKeptAlive: head.isKeepAlive && !isLast,
      isHead: head.method == .HEAD,
      commonFields: front.site.commonFields(for: head))
    let route = front.site.route(head, now: peer.eventLoop.now)
    let isAwaiting = head.headers["expect"].contains { $0.lowercased() == "100-continue" }
    let translation: any RequestTranslation
    switch route {
    case .unary(let unary): translation = unary
    case .stream(let stream): translation = stream
    case .answer(var answer):
      // Costs the connection something, as a broken frame does.
      if answer.status.code >= 400, answer.penalty == 0 { answer.penalty = 1 }
      // The client waits with its body, and cannot be told to send none.
      if isAwaiting { answer.closes = true }
      if answer.closes {
        write(answer, to: request)
      } else {
        state = .skipping(request, answer, bodyLength: 0)
      }
      return
    }
    state = .receiving(request, translation)
    let source = callers.source(
      of: head.headers.first(name: RequestEnvelope.authorizationName))
    body = RequestBody(of: source, front.limits, front.bodies)
    if let length = head.headers.first(name: "content-length").flatMap(Int.init),
      length > front.limits.body
    {
      refuse(.bodyTooLong(limit: front.limits.body))
    } else if isAwaiting, head.version.hasChunks {
      bytes.write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
      needsFlush = true
    }
  }

  private func receive(_ part: ByteBuffer) {
    if let problem = body?.append(part) { refuse(problem) }
  }

  /// Gives up what has arrived of the body.
  @discardableResult
  private func takeBody() -> RequestBody? {
    let taken = exchange(&body, with: nil)
    taken?.release()
    return taken
  }

  private func call(
    _ request: Request, _ translation: any RequestTranslation, _ body: ByteBuffer?
  ) {
    let call: FramedCall
    lastStreamID &+= lastStreamID == 0 ? 1 : 2
    let id = StreamID(rawValue: lastStreamID)
    do throws(HTTPAnswer) {
      call = try translation.call(from: body, peer: peer, now: peer.eventLoop.now)
    } catch {
      write(error, to: request)
      return
    }
    guard let frame = call.frame(id) else {
      write(translation.answer(to: .bodyTooLong(limit: front.limits.body)), to: request)
      return
    }
    requestBegan = nil
    state = .calling(request, translation, id)
    endWait()
    if let stream = translation as? any StreamTranslation {
      writeHead(.ok, stream.fields, bodyLength: nil, of: request, closes: false)
    }
    emit(frame, call.conversion)
  }

  /// Passes a frame to the handler of frames.
  ///
  /// - Parameter conversion: of its message.
  private func emit(_ frame: ByteBuffer, _ conversion: RequestConversion?) {
    guard !isWriting else {
      peer.eventLoop.assumeIsolated().execute {
        self.emit(frame, conversion)
        self.context?.fireChannelReadComplete()
        self.flushIfNeeded()
      }
      return
    }
    if let conversion { context?.fireUserInboundEventTriggered(conversion) }
    context?.fireChannelRead(wrapInboundOut(frame))
  }

  /// Ends the present request and the connection with it.
  private func refuse(_ problem: RequestProblem) {
    let answer: HTTPAnswer
    let request: Request
    switch state {
    case .receiving(let present, let translation):
      request = present
      answer = translation.answer(to: problem)
    case .skipping(let present, _, _):
      request = present
      answer = front.site.answer(to: problem)
    case .idle, .calling:
      request = Request(
        version: .http1_1, isKeptAlive: false, isHead: false, commonFields: [])
      answer = front.site.answer(to: problem)
    }
    var closing = answer
    closing.closes = true
    takeBody()
    write(closing, to: request)
    if !isWriting { flushIfNeeded() }
  }

  // MARK: Limit of connections

  /// The connection is in no call, and may be closed for a new one.
  private func beginWait() {
    guard let waiting = front.waiting, wait == nil, let context else { return }
    wait = waiting.begin(context.channel)
  }

  private func endWait() {
    if let wait { front.waiting?.end(wait) }
    wait = nil
  }

  // MARK: Waiting requests

  /// A response has ended: handles the requests that came before it, or what comes next.
  func responseEnded(keepsAlive: Bool) {
    state = .idle
    requestBegan = nil
    idleSince = peer.eventLoop.now
    beginWait()
    guard keepsAlive, !(waiting.isEmpty && isDropping) else {
      waiting.removeAll()
      bytes.closeAfterWrites(within: TimeAmount(front.limits.requestTime))
      return
    }
    scheduleTimer()
    if !waiting.isEmpty || isReadDeferred {
      peer.eventLoop.assumeIsolated().execute { self.handleWaiting() }
    }
  }

  private func handleWaiting() {
    while !state.isCalling, !bytes.isClosing, let part = waiting.popFirst() {
      if case .head = part { waitingRequests -= 1 }
      handle(part)
    }
    guard let context else { return }
    context.fireChannelReadComplete()
    flushIfNeeded()
    guard waiting.isEmpty else { return }
    if isInputClosed {
      isInputClosed = false
      context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }
    if isReadDeferred {
      isReadDeferred = false
      context.read()
    }
  }

  // MARK: Responses

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let frames = unwrapOutboundIn(data)
    if frames.readableBytes > 0 {
      isWriting = true
      handleFrames(frames)
      isWriting = false
    }
    // The handler of frames closes the output when this is sent.
    if let promise { bytes.write(ByteBuffer(), promise: promise) }
  }

  func flush(context: ChannelHandlerContext) {
    isWriting = true
    context.flush()
    isWriting = false
    needsFlush = false
  }

  private func flushIfNeeded() {
    guard needsFlush, !isWriting else { return }
    needsFlush = false
    context?.flush()
  }

  // MARK: Time

  private func scheduleTimer() {
    let next = nextDeadline
    guard next < timerDeadline else { return }
    timer?.cancel()
    timerDeadline = next
    timer = peer.eventLoop.assumeIsolated().scheduleTask(deadline: next) { self.timerFired() }
  }

  private var nextDeadline: NIODeadline {
    if state.isCalling || bytes.isClosing { return .distantFuture }
    if let requestBegan { return requestBegan + TimeAmount(front.limits.requestTime) }
    return idleSince + TimeAmount(front.limits.keepAliveTime)
  }

  private func timerFired() {
    timer = nil
    timerDeadline = .distantFuture
    guard let context, context.channel.isActive else { return }
    guard nextDeadline <= peer.eventLoop.now else {
      scheduleTimer()
      return
    }
    if requestBegan != nil {
      refuse(.tooSlow)
    } else {
      context.close(promise: nil)
    }
  }
}

extension HTTPRequestHead {
  /// Whether it names one host, as HTTP/1.1 must (RFC 9112 section 3.2), and gives the length of its
  /// body in one way: a proxy may prefer another one, and see other requests than this server (section
  /// 11.2).
  fileprivate var isUnambiguous: Bool {
    let hosts = headers["host"].count
    guard hosts == 1 || hosts == 0 && !version.hasChunks else { return false }
    let codings = headers["transfer-encoding"]
    if codings.isEmpty { return true }
    return version.hasChunks && codings.count == 1 && codings[0].lowercased() == "chunked"
      && !headers.contains(name: "content-length")
  }
}
