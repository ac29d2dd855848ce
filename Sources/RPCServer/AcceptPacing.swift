import NIOCore
import Synchronization
import Wire

/// Token bucket for short connections: leaves new ones in the system's queue while it is empty.
///
/// To accept and close a connection takes as long as a dozen calls. Clients that do nothing else would
/// take that time from those that stay connected. Only connections that were short take a token, when
/// they end: a fleet that reconnects and stays never waits.
final class AcceptPacing: Sendable {
  private struct State {
    var bucket: TokenBucket
    var pauses = 0
  }

  private let state: Mutex<State>

  init(limits: RPCLimits) {
    state = Mutex(State(bucket: TokenBucket(tokensPerSecond: limits.shortConnectionsPerSecond)))
  }

  /// How often the next connection was not accepted at once.
  var pauses: Int {
    state.withLock(\.pauses)
  }

  func connectionEnded(acceptedAt: NIODeadline, now: NIODeadline) {
    if now - acceptedAt < TimeAmount(RPCLimits.shortConnectionTime) {
      state.withLock { _ = $0.bucket.take(now: now) }
    }
  }

  func connectionRefused(now: NIODeadline) {
    state.withLock { _ = $0.bucket.take(now: now) }
  }

  /// When the next connection may be accepted; nil: now.
  fileprivate func nextAccept(now: NIODeadline) -> NIODeadline? {
    state.withLock { state in
      let moment = state.bucket.nextToken(now: now)
      if moment != nil { state.pauses += 1 }
      return moment
    }
  }
}

/// Has a listener accept as ``AcceptPacing`` allows.
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
