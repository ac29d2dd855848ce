import Framing
import Glibc
import Logging
import NIOCore
import Traces
import Wire

/// Carries out the actions of ``ServerStreams`` for one connection, on its event loop.
///
/// Answers that are produced while frames are handled are written in one batch and flushed after
/// the read. Later answers are flushed once in each turn of the event loop. While the client does
/// not read its answers, no more of its requests are handled.
///
/// A flush may detect a closed connection and end all calls in the same call stack. A method's body
/// may hold a lock while it sends. Therefore nothing that a body calls flushes, and cancellation
/// handlers run in a later turn of the event loop.
final class ServerConnectionHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let router: RPCRouter
  let immediates: ImmediateMethods?
  let peer: RPCPeer
  let registry: ConnectionRegistry
  let logger: Logger

  var streams: ServerStreams
  var access: ConnectionAccess
  /// Of the message of the frame that comes next; nil unless a front sent one.
  var conversion: RequestConversion?
  /// When a credential of a stream expires.
  var credentialCheck = NIODeadline.distantFuture
  var decoder = FrameDecoder()
  /// Calls with handlers to run when they end.
  var openCalls: [CallID: OpenCall] = [:]
  /// Streams that wait for the client to read, longest wait first. Some may have ended.
  var sendQueue: CircularBuffer<CallID> = []
  /// When the channel last became writable.
  var lastRead = NIODeadline.distantPast
  let slowReaderTime: TimeAmount
  /// Answers that are not yet written to the channel.
  var batch = ByteBuffer()
  /// The initial capacity of a new batch, in bytes.
  var batchCapacity = 0
  var statistics = RPCServerStatistics()
  var finishedCalls = FinishedCalls()
  /// Nil: no call is traced.
  var tracing: ConnectionTracing?

  let memory: ConnectionMemory
  /// Bytes written to the channel that may not be sent yet: those that the channel had when it was
  /// last asked, and all that were written since.
  var channelBytes = 0
  /// When ``checkMemory(now:)`` is due.
  var memoryCheck = NIODeadline.distantFuture
  /// Whether the budget knows this connection.
  var isMemoryRegistered = false

  private(set) var context: ChannelHandlerContext?
  /// The socket's file descriptor; nil unless TCP.
  private var tcpSocket: CInt?
  var isHandlingFrames = false
  var isFlushScheduled = false
  /// Data was written to the channel and not flushed.
  var isFlushDue = false
  var isFlushing = false
  var hasFlushedSinceRead = false
  /// Whether the client reads its answers. Cached from the channel's writability events, as each
  /// query of the channel is comparatively slow.
  private(set) var isWritable = true
  /// Whether decoding is paused because the client does not read its answers.
  var isPaused = false
  /// When the oldest undecoded bytes arrived; nil if decoding is not paused.
  var undecodedSince: NIODeadline?
  var isReadDeferred = false
  private(set) var isInputClosed = false

  /// When the connection is closed unless a known caller has used it; nil: one has, or there is no
  /// access control.
  var unknownUntil: NIODeadline?
  /// Until then, the connection gives its place to a new one.
  var unknownWait: WaitingConnections.Wait?
  let unknownTime: TimeAmount
  /// Calls without a valid credential whose answers wait (`RPCLimits.refusalsPerSecond`). A connection
  /// without a known caller is not read meanwhile.
  var heldRefusals = 0

  var timing: ConnectionTiming
  var timer: Scheduled<Void>?
  var timerDeadline = NIODeadline.distantFuture

  init(
    router: RPCRouter, methods: MethodTable, immediates: ImmediateMethods?, limits: RPCLimits,
    gate: AccessGate, peer: RPCPeer, registry: ConnectionRegistry, tracer: CallTracer?,
    logger: Logger
  ) {
    self.tracing = peer.front == .notifications ? nil : tracer.map { ConnectionTracing($0) }
    self.access = ConnectionAccess(gate: gate, peer: peer)
    self.router = router
    self.immediates = immediates
    self.peer = peer
    self.registry = registry
    self.logger = logger
    self.memory = ConnectionMemory(registry.memory)
    self.slowReaderTime = TimeAmount(limits.slowReaderTime)
    self.unknownTime = TimeAmount(limits.unknownTime)
    self.timing = ConnectionTiming(limits: limits, now: peer.eventLoop.now)
    self.streams = ServerStreams(methods: methods, limits: limits)
  }

  // MARK: Channel events

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    expectCaller(channel: context.channel)
    switch peer.address {
    case .v4, .v6:
      tcpSocket = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
        of: CInt.self
      ) { $0 }
    default:
      break
    }
    // Behind TLS the handler is added to an active channel.
    if context.channel.isActive {
      settle()
    }
  }

  func channelActive(context: ChannelHandlerContext) {
    settle()
    context.fireChannelActive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // A read inside a flush drains the socket of a client that has disconnected.
    if timing.isClosing || isFlushing {
      return
    }
    let now = peer.eventLoop.now
    timing.wasActive(now: now, isWritable: isWritable)
    hasFlushedSinceRead = false
    decoder.append(unwrapInboundIn(data))
    handleFrames(receivedAt: now)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    settle()
    if !hasFlushedSinceRead {
      acknowledge()
    }
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    guard isWritable, !streams.hasFailed, !isHoldingRefusals else {
      isReadDeferred = true
      return
    }
    guard !memory.isOverShare else {
      isReadDeferred = true
      awaitMemory()
      return
    }
    context.read()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    let now = peer.eventLoop.now
    isWritable = context.channel.isWritable
    timing.writabilityChanged(now: now)
    if isWritable {
      clientHasRead(now: now)
      if isPaused {
        isPaused = false
        handleFrames(receivedAt: now)
        settle()
      }
      resumeReading()
    }
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed:
      isInputClosed = true
      if timing.isLingering {
        context.close(promise: nil)
        return
      }
      settle()
      if streams.isBusy {
        watchHalfClosedClient()
      }
    case let event as RequestConversion:
      conversion = event
    case let event as ShutdownStarted:
      shutDown(event)
    case is CredentialsReplaced:
      endRevokedStreams()
      settle()
    case is UnknownEvicted:
      // At once: the place is taken already.
      if unknownUntil != nil { context.close(promise: nil) }
    default:
      context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Usually a reset by the client. The connection is unusable after any error.
    logger.debug(
      "connection failed",
      metadata: ["connection": .stringConvertible(peer.connectionID), "error": "\(error)"])
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    peer.markClosed()
    callerIsKnown()
    abandonCalls()
    timer?.cancel()
    timer = nil
    releaseMemory()
    publishStatistics()
    context.fireChannelInactive()
  }

  func publishStatistics() {
    registry.take(&statistics, &finishedCalls, of: peer.front)
  }

  /// Makes the kernel acknowledge received data immediately, if no answer has carried the
  /// acknowledgement. Clients that write header and body separately, or send a call while another
  /// is in flight, would otherwise wait 40 ms for it. The kernel resets the option, so it is set
  /// each time.
  private func acknowledge() {
    setTCPOption(TCP_QUICKACK, 1)
  }

  /// Over TCP, a client that has closed its socket looks like one that has closed only its sending
  /// side and waits for answers. Its kernel acknowledges probes for a minute (`tcp_fin_timeout`)
  /// and resets the connection at the next probe. Frequent probes detect this soon after that
  /// minute, so that an idle stream does not outlive its client for longer. Unix sockets report the
  /// difference.
  private func watchHalfClosedClient() {
    setTCPOption(TCP_KEEPIDLE, RPCLimits.halfClosedKeepAliveSeconds)
    setTCPOption(TCP_KEEPINTVL, RPCLimits.halfClosedKeepAliveSeconds)
  }

  private func setTCPOption(_ name: CInt, _ value: Int) {
    guard let tcpSocket, context?.channel.isActive == true else {
      return
    }
    var value = CInt(value)
    // If this fails, the connection is only slower.
    _ = setsockopt(
      tcpSocket, CInt(IPPROTO_TCP), name, &value, socklen_t(MemoryLayout<CInt>.size))
  }
}
