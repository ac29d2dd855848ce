import Framing
import NIOCore
import NIOPosix
import Synchronization
import Wire

/// Reads requests, and closes the connection instead of answering.
final class BreakingServer: Sendable {
  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    let server: BreakingServer

    init(_ server: BreakingServer) {
      self.server = server
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      server.count.withLock { $0 += 1 }
      context.close(promise: nil)
    }
  }

  private let count = Mutex(0)
  private let channel = Mutex<(any Channel)?>(nil)

  /// Requests are small, so each arrives in one read.
  var requests: Int { count.withLock { $0 } }

  var address: ServerAddress {
    .tcp(
      host: "127.0.0.1",
      port: UInt16(channel.withLock { $0?.localAddress?.port } ?? 0))
  }

  static func start() async throws -> BreakingServer {
    let server = BreakingServer()
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Handler(server))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    server.channel.withLock { $0 = channel }
    return server
  }

  func stop() async throws {
    try await channel.withLock { $0 }?.close().get()
  }
}
