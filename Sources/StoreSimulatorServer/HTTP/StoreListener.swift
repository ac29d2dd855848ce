import Locks
import NIOCore
import NIOHTTP1
import NIOPosix

/// Limits of the simulator's HTTP server.
package enum StoreServerLimits {
  /// Bytes of a body. The largest is a list of storefronts, with less than a kilobyte.
  static let body = 65_536
  static let connections = 1_024
  /// How long a connection may be silent between requests, and within one.
  static let silence = TimeAmount.seconds(60)
  /// How long answers in progress are waited for at the end.
  static let shutdown = Duration.seconds(5)
  /// How long a client may wait for a change of the clock, in milliseconds.
  static let longPoll: Int64 = 60_000
  /// The real time in which the clock is advanced in one request. What is left needs another one.
  static let advance = Duration.seconds(50)
  /// How long an advance waits until the clients that follow the clock have asked again.
  package static let followers = Duration.seconds(2)
}

/// Serves HTTP/1.1 on one address.
package final class StoreListener: Sendable {
  typealias Respond = @Sendable (StoreRequest) async -> StoreAnswer

  private let channel: any Channel
  private let connections: ConnectionTable
  /// The port that it listens on.
  package let port: Int

  /// Starts to listen.
  ///
  /// - Parameter port: 0 for a free one.
  /// - Throws: what NIO throws when the address cannot be used.
  package static func start(
    host: String, port: Int, _ respond: @escaping @Sendable (StoreRequest) async -> StoreAnswer
  ) async throws -> StoreListener {
    let connections = ConnectionTable()
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 256)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard connections.add(channel) else { throw TooManyConnections() }
          let pipeline = channel.pipeline.syncOperations
          try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
          try pipeline.addHandler(
            IdleStateHandler(readTimeout: StoreServerLimits.silence))
          try pipeline.addHandler(StoreRequestHandler(respond))
        }
      }
      .bind(host: host, port: port).get()
    return StoreListener(channel, connections)
  }

  private init(_ channel: any Channel, _ connections: ConnectionTable) {
    self.channel = channel
    self.connections = connections
    port = channel.localAddress?.port ?? 0
  }

  /// Accepts no more connections, lets answers in progress be sent, and closes.
  package func stop() async {
    try? await channel.close()
    let open = connections.stop()
    for connection in open {
      connection.pipeline.fireUserInboundEventTriggered(StoreListenerStops())
    }
    // What does not end by itself is closed.
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for connection in open { try? await connection.closeFuture.get() } }
      group.addTask { try? await Task.sleep(for: StoreServerLimits.shutdown) }
      await group.next()
      for connection in open { connection.close(promise: nil) }
      group.cancelAll()
    }
  }
}

private struct TooManyConnections: Error {}

/// An event for connections: the server stops.
private struct StoreListenerStops: Sendable {}

/// The open connections.
private final class ConnectionTable: Sendable {
  private struct State {
    var open: [ObjectIdentifier: any Channel] = [:]
    var isStopped = false
  }

  private let state = LockedValue(State())

  /// - Returns: false when there are too many already.
  func add(_ channel: any Channel) -> Bool {
    let isAdded = state.withLock { state in
      guard !state.isStopped, state.open.count < StoreServerLimits.connections else { return false }
      state.open[ObjectIdentifier(channel)] = channel
      return true
    }
    if isAdded {
      channel.closeFuture.whenComplete { [self] _ in
        state.withLock { $0.open[ObjectIdentifier(channel)] = nil }
      }
    }
    return isAdded
  }

  func stop() -> [any Channel] {
    state.withLock { state in
      state.isStopped = true
      return Array(state.open.values)
    }
  }
}

/// Collects a request, has it answered, and writes the answer. The codec's pipelining keeps the next
/// request back until then.
private final class StoreRequestHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let respond: StoreListener.Respond
  private var head: HTTPRequestHead?
  private var body: [UInt8] = []
  private var isTooLong = false
  private var answering: Task<Void, Never>?
  private var isStopping = false

  init(_ respond: @escaping StoreListener.Respond) {
    self.respond = respond
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      self.head = head
      body = []
      isTooLong = false
    case .body(let part):
      if body.count + part.readableBytes > StoreServerLimits.body {
        isTooLong = true
      } else {
        body += part.readableBytesView
      }
    case .end:
      guard let head else { return }
      guard !isTooLong else {
        write(StoreAnswer(status: 413), context: context, closes: true)
        return
      }
      answer(
        StoreRequest(
          method: head.method.rawValue, target: head.uri,
          authorization: head.headers.first(name: "authorization"),
          contentType: head.headers.first(name: "content-type"), body: body),
        context: context)
    }
  }

  private func answer(_ request: StoreRequest, context: ChannelHandlerContext) {
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    answering = Task { [respond] in
      let answer = await respond(request)
      if answer.delay > 0 { try? await Task.sleep(for: .milliseconds(answer.delay)) }
      loop.execute {
        let (handler, context) = bound.value
        handler.answering = nil
        if answer.isCut {
          context.close(promise: nil)
        } else {
          handler.write(answer, context: context, closes: false)
        }
      }
    }
  }

  private func write(_ answer: StoreAnswer, context: ChannelHandlerContext, closes: Bool) {
    guard let head else { return }
    let isLast = closes || isStopping || !head.isKeepAlive
    var fields = HTTPHeaders(answer.fields.map { ($0.name, $0.value) })
    if let type = answer.contentType { fields.add(name: "Content-Type", value: type) }
    fields.add(name: "Content-Length", value: String(answer.body.count))
    if isLast { fields.add(name: "Connection", value: "close") }
    self.head = nil
    body = []
    let status = HTTPResponseStatus(statusCode: answer.status)
    context.write(
      wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: fields))),
      promise: nil)
    if head.method != .HEAD, !answer.body.isEmpty {
      context.write(
        wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
    }
    let written = context.eventLoop.makePromise(of: Void.self)
    if isLast {
      let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
      written.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is StoreListenerStops:
      isStopping = true
      if head == nil { context.close(promise: nil) }
      // Clients waiting for a revision are answered at once.
      answering?.cancel()
    case is IdleStateHandler.IdleStateEvent:
      if answering == nil { context.close(promise: nil) }
    default:
      context.fireUserInboundEventTriggered(event)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    answering?.cancel()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
