import Framing
import Logging
import NIOCore
import Synchronization
import Wire

/// Token bucket for short-lived connections. While it is empty, new connections wait in the
/// kernel's queue.
///
/// Accepting and closing a connection takes as long as a dozen calls. Clients that only connect and
/// close would take that time from clients that stay connected. Only short-lived connections take a
/// token, when they end: clients that reconnect and stay never wait.
final class AcceptPacing: Sendable {
  private struct State {
    var bucket: TokenBucket
    var pauses = 0
  }

  private let state: Mutex<State>

  init(limits: RPCLimits) {
    state = Mutex(State(bucket: TokenBucket(tokensPerSecond: limits.shortConnectionsPerSecond)))
  }

  /// How often an accept was delayed.
  var pauses: Int {
    state.withLock(\.pauses)
  }

  /// Takes a token if the connection was short-lived.
  func connectionEnded(acceptedAt: NIODeadline, now: NIODeadline) {
    if now - acceptedAt < TimeAmount(RPCLimits.shortConnectionTime) {
      state.withLock { _ = $0.bucket.take(now: now) }
    }
  }

  /// Takes the tokens of a TLS connection if it was short-lived or its handshake was not finished.
  func handshakeEnded(acceptedAt: NIODeadline, isFinished: Bool, now: NIODeadline) {
    if !isFinished || now - acceptedAt < TimeAmount(RPCLimits.shortConnectionTime) {
      state.withLock { _ = $0.bucket.take(RPCLimits.tokensPerHandshake, now: now) }
    }
  }

  /// Takes a token.
  func connectionRefused(now: NIODeadline) {
    state.withLock { _ = $0.bucket.take(now: now) }
  }

  /// When the next connection may be accepted; nil if now. Counts a pause.
  fileprivate func nextAccept(now: NIODeadline) -> NIODeadline? {
    state.withLock { state in
      let moment = state.bucket.nextToken(now: now)
      if moment != nil { state.pauses += 1 }
      return moment
    }
  }
}

/// Delays the accepts of a listener as ``AcceptPacing`` demands.
final class AcceptPacingHandler: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias OutboundIn = any Channel

  private let pacing: AcceptPacing
  private var pausedRead: Scheduled<Void>?

  init(_ pacing: AcceptPacing) {
    self.pacing = pacing
  }

  func read(context: ChannelHandlerContext) {
    guard pausedRead == nil else {
      return
    }
    guard let moment = pacing.nextAccept(now: context.eventLoop.now) else {
      context.read()
      return
    }
    pausedRead = context.eventLoop.assumeIsolated().scheduleTask(deadline: moment) {
      self.pausedRead = nil
      context.read()
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    pausedRead?.cancel()
    pausedRead = nil
    context.fireChannelInactive()
  }
}

/// Counts and logs accepts that failed for lack of a file descriptor. For all listeners of a server.
final class AcceptFailures: Sendable {
  private let total = Atomic(0)
  private let log = ShortageLog()
  private let logger: Logger

  init(logger: Logger) {
    self.logger = logger
  }

  var count: Int {
    total.load(ordering: .relaxed)
  }

  func occurred(_ error: IOError) {
    let count = total.add(1, ordering: .relaxed).newValue
    guard log.isDue(now: .now()) else {
      return
    }
    logger.error(
      "no connection can be accepted; accepting pauses",
      metadata: ["error": "\(error)", "failures": .stringConvertible(count)])
  }
}

/// Stops accepting for ``RPCLimits/acceptFailurePause`` after an accept failed. Usually no file
/// descriptor is left (EMFILE, ENFILE), and the next attempt would fail immediately.
///
/// After a failed accept the channel stays registered for readable events, even if no handler asks
/// for the next read. As the connection still waits, the event loop would not rest. Only without
/// `autoRead` is the channel unregistered. Therefore swift-nio's `AcceptBackoffHandler` does not
/// suffice.
final class AcceptFailureHandler: ChannelInboundHandler {
  typealias InboundIn = any Channel

  private let failures: AcceptFailures
  private var pause: Scheduled<Void>?

  init(_ failures: AcceptFailures) {
    self.failures = failures
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? IOError else {
      context.fireErrorCaught(error)
      return
    }
    failures.occurred(error)
    guard pause == nil else {
      return
    }
    let options = context.channel.syncOptions
    // Fails only if the listener is closed.
    try? options?.setOption(.autoRead, value: false)
    pause = context.eventLoop.assumeIsolated().scheduleTask(
      in: TimeAmount(RPCLimits.acceptFailurePause)
    ) {
      self.pause = nil
      try? options?.setOption(.autoRead, value: true)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    pause?.cancel()
    pause = nil
    context.fireChannelInactive()
  }
}
