import NIOCore
import NIOEmbedded
import Wire

@testable import RPCServer

/// One connection without a socket: the test has its clock, and says whether the client reads.
final class EmbeddedConnection {
  let service = TestService()
  private let channel: EmbeddedChannel
  private var decoder = FrameDecoder()

  init(_ limits: RPCLimits) throws {
    let router = service.router
    channel = EmbeddedChannel()
    let handler = ServerConnectionHandler(
      router: router, methods: router.methodTable, limits: limits,
      peer: RPCPeer(connectionID: 1, channel: channel), registry: ConnectionRegistry(limit: 1),
      logger: TestServer.quietLogger)
    try channel.pipeline.syncOperations.addHandler(handler)
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "client")).wait()
  }

  var isOpen: Bool {
    channel.isActive
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
