import Framing
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
