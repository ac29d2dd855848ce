import NIOCore

/// Stands in front of the codec of HTTP: notices the first byte of a request, writes what is no
/// response, and closes so that the client can read the last answer.
///
/// A socket that is closed with unread input makes the kernel reset the connection, and the client
/// would often lose the answer. So the output is closed first, input is dropped, and the socket is
/// closed when the client has closed, or after ``HTTPFrontLimits/lingerTime``.
final class RequestBytes: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  weak var calls: HTTPCallHandler?
  private var context: ChannelHandlerContext?
  private var timer: Scheduled<Void>?
  private var isInputClosed = false
  private var isOutputClosed = false
  /// Whether the connection ends after what is written, and input is dropped.
  private(set) var isClosing = false

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    timer?.cancel()
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isClosing { return }
    calls?.bytesArrived()
    context.fireChannelRead(data)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed = event {
      isInputClosed = true
      if isOutputClosed, isClosing {
        context.close(promise: nil)
        return
      }
    }
    context.fireUserInboundEventTriggered(event)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode == .output {
      if isOutputClosed {
        promise?.succeed()
        return
      }
      isOutputClosed = true
    }
    context.close(mode: mode, promise: promise)
  }

  /// Writes bytes behind the codec. The promise is completed when all that was written before is sent.
  func write(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>? = nil) {
    guard let context else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    context.write(wrapOutboundOut(bytes), promise: promise)
  }

  /// Closes when all that was written before is sent, or after `time`.
  func closeAfterWrites(within time: TimeAmount) {
    guard !isClosing, let context else { return }
    isClosing = true
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
      self.context?.close(promise: nil)
    }
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.assumeIsolated().whenComplete { result in
      if case .success = result { self.closeOutput() } else { self.context?.close(promise: nil) }
    }
    write(ByteBuffer(), promise: sent)
  }

  private func closeOutput() {
    guard let context else { return }
    if isInputClosed {
      context.close(promise: nil)
      return
    }
    if !isOutputClosed {
      isOutputClosed = true
      context.close(mode: .output, promise: nil)
    }
    timer?.cancel()
    timer = context.eventLoop.assumeIsolated().scheduleTask(
      in: TimeAmount(HTTPFrontLimits.lingerTime)
    ) {
      self.context?.close(promise: nil)
    }
  }
}
