import NIOCore
import NIOEmbedded
import Wire

@testable import RPCServer

/// One connection without a socket: the test has its clock, and says whether the client reads.
final class EmbeddedConnection {
  let service = TestService()
  /// For what a stream would ask of it from another thread.
  let handler: ServerConnectionHandler
  private let registry: ConnectionRegistry
  private let channel: EmbeddedChannel
  private let reading: Reading
  private var decoder = FrameDecoder()

  /// - Parameter immediate: Whether methods may answer without a call that have the answer at hand.
  init(_ limits: RPCLimits, immediate: Bool = true) throws {
    let router = service.router
    channel = EmbeddedChannel()
    registry = ConnectionRegistry(limits: limits)
    reading = Reading(channel)
    handler = ServerConnectionHandler(
      router: router, methods: router.methodTable,
      immediates: immediate ? router.immediateMethods : nil,
      limits: limits,
      peer: RPCPeer(connectionID: 1, channel: channel), registry: registry,
      logger: TestServer.quietLogger)
    try channel.pipeline.syncOperations.addHandlers(reading, handler)
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "client")).wait()
  }

  var isOpen: Bool {
    channel.isActive
  }

  var statistics: RPCServerStatistics {
    registry.statistics
  }

  func receive(_ frames: ByteBuffer...) throws {
    try channel.writeInbound(Frames.joined(frames))
  }

  /// Lets time pass, with all alarms and tasks that belong to it.
  func advance(by time: TimeAmount) {
    channel.embeddedEventLoop.advanceTime(by: time)
  }

  func setReading(_ isReading: Bool) {
    channel.isWritable = isReading
    channel.pipeline.fireChannelWritabilityChanged()
  }

  /// Lets the client read until so much was sent again that it is behind.
  func read(until bytes: Int) {
    reading.bytes = bytes
    setReading(true)
    reading.bytes = .max
  }

  func close() {
    channel.close(promise: nil)
  }

  /// The bytes that were sent since the last time.
  func sentBytes() throws -> ByteBuffer {
    var sent = ByteBuffer()
    while let bytes = try channel.readOutbound(as: ByteBuffer.self) {
      sent.writeImmutableBuffer(bytes)
    }
    return sent
  }

  /// What was sent since the last time, as `RawClient.receiveText` gives it.
  func sent() throws -> [String] {
    while let bytes = try channel.readOutbound(as: ByteBuffer.self) {
      decoder.append(bytes)
    }
    var texts: [String] = []
    while case .frame(let frame) = decoder.next() {
      texts.append(try RawClient.text(frame))
    }
    decoder.compact()
    return texts
  }
}

/// A client that reads, until so many bytes are sent at once.
private final class Reading: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer

  private let channel: EmbeddedChannel
  var bytes = Int.max

  init(_ channel: EmbeddedChannel) {
    self.channel = channel
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    bytes -= unwrapOutboundIn(data).readableBytes
    context.write(data, promise: promise)
    if bytes <= 0, channel.isWritable {
      channel.isWritable = false
      channel.pipeline.fireChannelWritabilityChanged()
    }
  }
}
