import NIOCore

/// Leaves connections in the system's queue for a while when too many have come and gone
/// (``AcceptPace``). Those that stay are not counted: a fleet that connects anew never waits.
///
/// To make and unmake a connection takes as long as a dozen calls. Clients that do nothing else would
/// take that time from those that are connected.
final class AcceptPacingHandler: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias OutboundIn = any Channel

  private let registry: ConnectionRegistry
  private var pausedRead: Scheduled<Void>?

  init(registry: ConnectionRegistry) {
    self.registry = registry
  }

  func read(context: ChannelHandlerContext) {
    guard pausedRead == nil else {
      return
    }
    guard let moment = registry.acceptPause(now: context.eventLoop.now) else {
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
