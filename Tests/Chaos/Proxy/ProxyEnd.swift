import NIOCore

/// One end of a proxied connection. It reads only while the other end can write.
final class ProxyEnd: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer

  enum Side: Sendable {
    case client
    case database
  }

  private let relay: ProxyRelay
  private let side: Side

  init(relay: ProxyRelay, side: Side) {
    self.relay = relay
    self.side = side
  }

  func handlerAdded(context: ChannelHandlerContext) {
    relay.opened(side, context.channel)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    relay.received(unwrapInboundIn(data), from: side)
  }

  func read(context: ChannelHandlerContext) {
    if relay.hasRoom(beyond: side) { context.read() }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { relay.gainedRoom(side) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    relay.closed()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // For example a reset by a killed process: the connection has ended.
    relay.closed()
  }
}
