import AccessControl
import Framing
import NIOCore
import NIOEmbedded
import Traces
import Wire

@testable import RPCServer

/// One connection without a socket. The test controls the clock and whether the client reads.
final class EmbeddedConnection {
  let service = TestService()
  /// For requests that a stream makes from other threads.
  let handler: ServerConnectionHandler
  private let registry: ConnectionRegistry
  private let channel: EmbeddedChannel
  private let reading: Reading
  private var decoder = FrameDecoder()

  /// - Parameter immediate: Whether ``ImmediateMethods`` are enabled.
  init(
    _ limits: RPCLimits, immediate: Bool = true, credentials: CredentialsHolder? = nil,
    certificate: ClientCertificate? = nil, front: CallFront = .ttrpc, tracer: CallTracer? = nil
  ) throws {
    let router = service.router
    channel = EmbeddedChannel()
    registry = ConnectionRegistry(limits: limits, logger: TestServer.quietLogger)
    reading = Reading(channel)
    let gate = AccessGate(credentials, limits: limits, logger: TestServer.quietLogger)
    handler = ServerConnectionHandler(
      router: router, methods: router.methodTable,
      immediates: immediate ? router.immediateMethods : nil,
      limits: limits, gate: gate,
      peer: RPCPeer(
        connectionID: 1, channel: channel, gate: gate, certificate: certificate, front: front),
      registry: registry, tracer: tracer,
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

  /// Advances the clock, and runs the timers and tasks that become due.
  func advance(by time: TimeAmount) {
    channel.embeddedEventLoop.advanceTime(by: time)
  }

  func setReading(_ isReading: Bool) {
    channel.isWritable = isReading
    channel.pipeline.fireChannelWritabilityChanged()
  }

  /// Lets the client read until the channel is no longer writable.
  func read(until bytes: Int) {
    reading.bytes = bytes
    setReading(true)
    reading.bytes = .max
  }

  func close() {
    channel.close(promise: nil)
  }

  /// The bytes sent since the last call.
  func sentBytes() throws -> ByteBuffer {
    var sent = ByteBuffer()
    while let bytes = try channel.readOutbound(as: ByteBuffer.self) {
      sent.writeImmutableBuffer(bytes)
    }
    return sent
  }

  /// The frames sent since the last call, as text like that of `RawClient.receiveText`.
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

/// A client that reads, until the given number of bytes is sent at once.
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
