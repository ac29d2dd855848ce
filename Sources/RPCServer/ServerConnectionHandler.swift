import Glibc
import Logging
import NIOCore
import Wire

/// Carries out what ``ServerStreams`` decides, for one connection, on its event loop.
///
/// Answers given while frames are being handled are written together and flushed when the read is
/// done; answers from elsewhere are flushed once a turn of the loop. While the client does not read
/// its answers, no more of its requests are handled.
///
/// A flush can find that the client is gone and end every call on the same stack. Nothing that a
/// method's body calls flushes, therefore, and what calls have asked to be told about their end
/// is told in a turn of its own: a body may hold a lock while it sends.
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
  var decoder = FrameDecoder()
  /// Calls that someone must be told about when they end.
  var openCalls: [CallID: OpenCall] = [:]
  /// Those that wait for the client to read, in the order of their turns; some may have ended.
  var turns: CircularBuffer<CallID> = []
  /// When the client had last read so much that more could be sent.
  var lastRead = NIODeadline.distantPast
  let slowReaderTime: TimeAmount
  /// Answers that are not yet handed to the channel.
  var batch = ByteBuffer()
  /// Memory that a new batch gets, in bytes.
  var batchCapacity = 0
  var statistics = RPCServerStatistics()

  private(set) var context: ChannelHandlerContext?
  /// The socket's descriptor, only for TCP.
  private var tcpSocket: CInt?
  var isHandlingFrames = false
  var isFlushScheduled = false
  /// The channel has something that it was not yet told to send.
  var isFlushDue = false
  var isFlushing = false
  var hasFlushedSinceRead = false
  /// Whether the client reads what is sent: the channel's own word, which it gives with an event when it
  /// changes; asking it costs as much as a look-up.
  private(set) var isWritable = true
  /// The client does not read: its frames stay undecoded.
  var isPaused = false
  /// When the oldest of the bytes arrived that stay undecoded.
  var heldBackSince: NIODeadline?
  private var isReadHeld = false
  private(set) var isInputClosed = false

  var timing: ConnectionTiming
  var alarm: Scheduled<Void>?
  var alarmTime = NIODeadline.distantFuture

  init(
    router: RPCRouter, methods: MethodTable, immediates: ImmediateMethods?, limits: RPCLimits,
    peer: RPCPeer, registry: ConnectionRegistry, logger: Logger
  ) {
    self.router = router
    self.immediates = immediates
    self.peer = peer
    self.registry = registry
    self.logger = logger
    self.slowReaderTime = TimeAmount(limits.slowReaderTime)
    self.timing = ConnectionTiming(limits: limits, now: peer.eventLoop.now)
    self.streams = ServerStreams(methods: methods, limits: limits)
  }

  // MARK: Channel events

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    switch peer.address {
    case .v4, .v6:
      tcpSocket = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
        of: CInt.self
      ) { $0 }
    default:
      break
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
    // What arrives inside a flush is what the socket still holds of a client that is gone.
    if timing.isClosing || isFlushing {
      return
    }
    let now = peer.eventLoop.now
    timing.wasActive(now: now, isWritable: isWritable)
    hasFlushedSinceRead = false
    decoder.append(unwrapInboundIn(data))
    handleFrames(now: now)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    settle()
    if !hasFlushedSinceRead {
      acknowledge()
    }
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    if isWritable, !streams.hasFailed {
      context.read()
    } else {
      isReadHeld = true
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    let now = peer.eventLoop.now
    isWritable = context.channel.isWritable
    timing.writabilityChanged(now: now)
    if isWritable {
      clientHasRead(now: now)
      if isPaused {
        isPaused = false
        handleFrames(now: now)
        settle()
      }
      if isReadHeld, isWritable, !streams.hasFailed {
        isReadHeld = false
        context.read()
      }
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
    case let event as ShutdownStarted:
      shutDown(event)
    default:
      context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Mostly a reset by the client; the connection is of no use after any of them.
    logger.debug(
      "connection failed",
      metadata: ["connection": "\(peer.connectionID)", "error": "\(error)"])
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    peer.markClosed()
    abandonCalls()
    alarm?.cancel()
    alarm = nil
    publishStatistics()
    context.fireChannelInactive()
  }

  func publishStatistics() {
    registry.take(&statistics)
  }

  /// Has the kernel acknowledge at once what was received, if no answer has carried the
  /// acknowledgement. Clients that write header and body apart, or send the next call while one is
  /// in flight, would otherwise wait 40 ms for it. The option wears off, so that it is set anew.
  private func acknowledge() {
    setTCPOption(TCP_QUICKACK, 1)
  }

  /// Over TCP, a client that has closed everything looks like one that has closed its sending
  /// side and waits for answers. Its kernel acknowledges probes for a minute (`tcp_fin_timeout`),
  /// then resets the connection at the next one. Probing often keeps a quiet stream from outliving
  /// its client for longer. Unix sockets tell the two apart by themselves.
  private func watchHalfClosedClient() {
    setTCPOption(TCP_KEEPIDLE, RPCLimits.halfClosedKeepAliveSeconds)
    setTCPOption(TCP_KEEPINTVL, RPCLimits.halfClosedKeepAliveSeconds)
  }

  private func setTCPOption(_ name: CInt, _ value: Int) {
    guard let tcpSocket, context?.channel.isActive == true else {
      return
    }
    var value = CInt(value)
    // A refusal costs time, nothing else.
    _ = setsockopt(
      tcpSocket, CInt(IPPROTO_TCP), name, &value, socklen_t(MemoryLayout<CInt>.size))
  }
}
