import Framing
import NIOCore

/// Sends the calls of one connection and delivers their answers, on its event loop. The requests of
/// one event loop tick share one flush.
final class ClientConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let eventLoop: any EventLoop
  /// Sent with each request, after its own.
  private let metadata: [(key: String, value: String)]
  private let token: ClientToken?
  /// The metadata and the token, as of the current batch.
  private var common: [(key: String, value: String)]
  private var context: ChannelHandlerContext?
  private var streams = ClientStreams()
  private var decoder = FrameDecoder()
  private var receivers: [StreamID: PendingCall.Receiver] = [:]
  private var batch = ByteBuffer()
  private var isFlushScheduled = false
  private var timer: Scheduled<Void>?
  private var timerDeadline = NIODeadline.distantFuture
  private var hasReceived = false
  /// Why calls fail when the connection is closed.
  private var failure = RPCClientError.closed

  init(
    eventLoop: any EventLoop, metadata: [(key: String, value: String)], token: ClientToken?
  ) {
    self.metadata = metadata
    self.token = token
    common = metadata
    self.eventLoop = eventLoop
  }

  // MARK: Calls

  /// Sends one request.
  ///
  /// - Parameter call: the call of a caller on another thread, which may cancel it; nil for a
  ///   caller on this event loop.
  func start(_ call: PendingCall?, _ request: RPCRequest, _ receiver: PendingCall.Receiver) {
    let kind = receiver.kind
    let timeout = request.timeoutNanoseconds
    if let call, call.isAbandoned {
      receiver.fail(.cancelled.unsent)
      return
    }
    if timeout < 0 {
      receiver.fail(.deadlineExceeded.unsent)
      return
    }
    // Once for all requests of a batch.
    if let token, !isFlushScheduled {
      do throws(RPCClientError) {
        common = metadata + (try token.metadata())
      } catch {
        receiver.fail(error)
        return
      }
    }
    let deadline: NIODeadline? = timeout == 0 ? nil : .now() + .nanoseconds(timeout)
    guard let streamID = streams.callStarted(kind: kind, deadline: deadline) else {
      receiver.fail(failure.unsent)
      return
    }
    guard request.write(streamID: streamID, kind: kind, adding: common, into: &batch) else {
      streams.callNotSent(streamID)
      receiver.fail(.tooLarge.unsent)
      return
    }
    receivers[streamID] = receiver
    scheduleFlush()
    armTimer()
    if let call, !call.started(as: streamID) {
      abandon(streamID)
    }
  }

  func abandon(_ streamID: StreamID) {
    streams.callAbandoned(streamID)
    receivers.removeValue(forKey: streamID)?.fail(.cancelled)
  }

  func close() {
    context?.close(promise: nil)
  }

  // MARK: Channel events

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    if !hasReceived {
      hasReceived = true
      // The alert of a TLS server (RFC 8446 section 5.1) is shorter than the header of a frame.
      if bytes.getInteger(at: bytes.readerIndex, as: UInt16.self) == 0x1503 {
        failure = .serverSpeaksTLS
        context.close(promise: nil)
        return
      }
    }
    decoder.append(bytes)
    while let decoded = decoder.next() {
      perform(streams.frameReceived(decoded))
    }
    decoder.compact()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Calls in flight fail when the connection is closed.
    if !hasReceived, let fault = TLSFault(error) {
      failure = .refused(fault)
    }
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    for streamID in streams.channelClosed() {
      receivers.removeValue(forKey: streamID)?.fail(failure)
    }
    timer?.cancel()
    timer = nil
    context.fireChannelInactive()
  }

  // MARK: Answers

  private func perform(_ action: ClientAction) {
    switch action {
    case .ignore:
      return
    case .succeed(let streamID, let payload):
      receivers.removeValue(forKey: streamID)?.succeed(payload)
    case .fail(let streamID, let status):
      if status.code == .unauthenticated { token?.refused() }
      receivers.removeValue(forKey: streamID)?.fail(RPCClientError(status))
    case .deliver(let streamID, let message):
      deliver(message, to: streamID)
    case .deliverLast(let streamID, let message):
      deliver(message, to: streamID)
      finish(streamID)
    case .finish(let streamID):
      finish(streamID)
    case .close(let status):
      for streamID in streams.channelClosed() {
        receivers.removeValue(forKey: streamID)?.fail(RPCClientError(status))
      }
      context?.close(promise: nil)
    }
  }

  private func deliver(_ message: ByteBuffer, to streamID: StreamID) {
    guard case .stream(let queue)? = receivers[streamID] else {
      return
    }
    if !queue.deliver(message) {
      streams.callAbandoned(streamID)
      receivers.removeValue(forKey: streamID)?.fail(.slowReader)
    }
  }

  private func finish(_ streamID: StreamID) {
    if case .stream(let queue)? = receivers.removeValue(forKey: streamID) {
      queue.end(nil)
    }
  }

  // MARK: Flushing and deadlines

  private func scheduleFlush() {
    if isFlushScheduled {
      return
    }
    isFlushScheduled = true
    eventLoop.assumeIsolated().execute {
      self.isFlushScheduled = false
      let batch = exchange(&self.batch, with: ByteBuffer())
      self.context?.writeAndFlush(self.wrapOutboundOut(batch), promise: nil)
    }
  }

  private func armTimer() {
    let next = streams.earliestDeadline
    guard next < timerDeadline else {
      return
    }
    timer?.cancel()
    timerDeadline = next
    timer = eventLoop.assumeIsolated().scheduleTask(deadline: next) {
      self.timer = nil
      self.timerDeadline = .distantFuture
      for streamID in self.streams.deadlinesPassed(now: .now()) {
        self.receivers.removeValue(forKey: streamID)?.fail(.deadlineExceeded)
      }
      self.armTimer()
    }
  }
}
