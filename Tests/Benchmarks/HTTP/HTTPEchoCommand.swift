import ArgumentParser
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// A server that reads each request of HTTP/1.1 and answers it with 200 and 300 bytes: swift-nio with one
/// event loop and its codec. The bound of ``HTTPBenchmark``.
struct HTTPEchoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "http-echo", abstract: "Answers 300 bytes to each request, on swift-nio.",
    shouldDisplay: false)

  func run() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let server = try await ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 256)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(HTTPEchoHandler())
        }
      }
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .bind(host: "127.0.0.1", port: 0).get()
    guard let port = server.localAddress?.port else {
      preconditionFailure("a TCP listener has a port")
    }
    print(port)
    // stdout is a pipe, which is not flushed line by line.
    fflush(nil)
    try await server.closeFuture.get()
  }
}

private final class HTTPEchoHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private static let body = ByteBuffer(repeating: UInt8(ascii: "r"), count: 300)
  private static let fields: HTTPHeaders = [
    "content-type": "application/json", "content-length": "300",
  ]

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .end = unwrapInboundIn(data) else { return }
    let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: Self.fields)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(Self.body))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
