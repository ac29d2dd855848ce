import ArgumentParser
import Framing
import Glibc
import NIOCore
import NIOPosix
import Wire

/// The server that ``EchoServer`` starts: swift-nio with one event loop, frames parsed by hand in
/// one handler, one flush for each read. The difference to it is the cost of the service's own
/// layers.
struct EchoBenchmark: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "echo", abstract: "Answers 300 bytes to each frame, on swift-nio.",
    shouldDisplay: false)

  func run() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let server = try await ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 256)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(EchoHandler())
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

private final class EchoHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var decoder = FrameDecoder()
  private var answers = ByteBuffer()

  private static let data = ByteBuffer(
    repeating: EchoServer.firstByte, count: EchoServer.answerLength)

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    decoder.append(unwrapInboundIn(data))
    while let decoded = decoder.next() {
      guard case .frame(let frame) = decoded else { return context.close(promise: nil) }
      FrameEncoder.writeHeader(
        FrameHeader(
          dataLength: UInt32(EchoServer.answerLength), streamID: frame.header.streamID,
          type: .response),
        into: &answers)
      answers.writeImmutableBuffer(Self.data)
    }
    decoder.compact()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    guard answers.readableBytes > 0 else { return }
    context.writeAndFlush(wrapOutboundOut(answers), promise: nil)
    answers = ByteBuffer()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
