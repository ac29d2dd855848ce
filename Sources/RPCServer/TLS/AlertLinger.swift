import Framing
import NIOCore
import Wire

/// Lets a client read why its handshake failed. Stands in front of the TLS handler until the
/// handshake is finished.
///
/// With TLS 1.3 a client is done before the server has seen its certificate, and sends its first
/// request. If the server closed the socket with that request unread, the kernel would reset the
/// connection, and the client would often lose the alert. So the server closes its output, drops
/// what arrives, and closes the socket when the client has closed, or after
/// ``RPCLimits/tlsClosingTime``.
final class AlertLinger: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer

  /// Whether the next close is immediate: there is no alert to read.
  var isSkipped = false
  private var timer: Scheduled<Void>?
  private var isLingering = false

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode == .all, !isSkipped, context.channel.isActive else {
      context.close(mode: mode, promise: promise)
      return
    }
    if isLingering {
      promise?.succeed()
      return
    }
    isLingering = true
    timer = context.eventLoop.assumeIsolated().scheduleTask(
      in: TimeAmount(RPCLimits.tlsClosingTime)
    ) {
      context.close(promise: nil)
    }
    context.close(mode: .output, promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if !isLingering {
      context.fireChannelRead(data)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if isLingering, case ChannelEvent.inputClosed = event {
      context.close(promise: nil)
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    timer?.cancel()
  }
}
