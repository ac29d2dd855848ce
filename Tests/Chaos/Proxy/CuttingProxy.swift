import NIOCore
import NIOPosix

/// A TCP proxy in front of one database node, which can cut its connections.
final class CuttingProxy: Sendable {
  let port: Int
  private let channel: any Channel

  private init(port: Int, channel: any Channel) {
    self.port = port
    self.channel = channel
  }

  /// - Parameter target: the node's port on this machine. Connections are closed while the node is
  ///   down.
  static func start(target: Int, orders: CutOrders) async throws -> CuttingProxy {
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { client in
        let relay = ProxyRelay(orders: orders)
        return ClientBootstrap(group: client.eventLoop)
          .channelOption(.tcpOption(.tcp_nodelay), value: 1)
          .channelInitializer { add(.database, of: relay, to: $0) }
          .connect(host: "127.0.0.1", port: target)
          .flatMap { _ in add(.client, of: relay, to: client) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    guard let port = channel.localAddress?.port else {
      throw ChaosFailure("the proxy has no port")
    }
    return CuttingProxy(port: port, channel: channel)
  }

  private static func add(
    _ side: ProxyEnd.Side, of relay: ProxyRelay, to channel: any Channel
  ) -> EventLoopFuture<Void> {
    channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.addHandler(ProxyEnd(relay: relay, side: side))
    }
  }

  func stop() async {
    // It is closed afterwards anyway.
    try? await channel.close().get()
  }
}
