package import Framing
import Glibc
package import NIOCore
import NIOPosix

/// One connection to a server. Any number of calls share it.
///
///     let connection = try await RPCConnection.connect(to: address)
///     let answer = try await connection.call(
///       service: "grpc.health.v1.Health", method: "Check", payload: request,
///       timeout: .seconds(1))
///     await connection.close()
package final class RPCConnection: Sendable {
  private let channel: any Channel
  private let handler: NIOLoopBound<ClientConnectionHandler>
  private let limits: RPCLimits

  private init(
    channel: any Channel, handler: NIOLoopBound<ClientConnectionHandler>, limits: RPCLimits
  ) {
    self.channel = channel
    self.handler = handler
    self.limits = limits
  }

  /// Connects to a server.
  ///
  /// - Parameter connectTimeout: for the host lookup and the attempts to connect to its addresses.
  /// - Throws: ``RPCClientError`` with `unreachable`.
  package static func connect(
    to address: ServerAddress, connectTimeout: Duration = .seconds(5),
    limits: RPCLimits = RPCLimits(),
    eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) async throws(RPCClientError) -> RPCConnection {
    let bootstrap = ClientBootstrap(group: eventLoopGroup)
      .connectTimeout(TimeAmount(connectTimeout))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            ClientConnectionHandler(eventLoop: channel.eventLoop))
        }
      }
    do {
      let channel: any Channel
      switch address {
      case .tcp(let host, let port):
        channel =
          try await bootstrap
          .channelOption(.tcpOption(.tcp_nodelay), value: 1)
          .channelOption(.socketOption(.so_keepalive), value: 1)
          .connect(host: host, port: Int(port)).get()
      case .unix(let path):
        channel = try await bootstrap.connect(unixDomainSocketPath: path).get()
      }
      let handler = try await channel.eventLoop.submit {
        NIOLoopBound(
          try channel.pipeline.syncOperations.handler(type: ClientConnectionHandler.self),
          eventLoop: channel.eventLoop)
      }.get()
      return RPCConnection(channel: channel, handler: handler, limits: limits)
    } catch {
      throw RPCClientError(connectingTo: address, cause: error)
    }
  }

  /// Whether calls can be made. A closed connection never opens again.
  package var isOpen: Bool {
    channel.isActive
  }

  /// The event loop of the connection's channel.
  package var eventLoop: any EventLoop {
    channel.eventLoop
  }

  /// Makes one call from the connection's own event loop, without a task and without a thread hop.
  /// Call it on that event loop only.
  ///
  /// - Parameter completion: called once, on the event loop; before this method returns if the call
  ///   cannot be made. It may make the next call.
  package func call(
    _ request: RPCRequest, _ completion: @escaping (Result<ByteBuffer, RPCClientError>) -> Void
  ) {
    handler.value.start(nil, request, .completion(completion))
  }

  /// Makes one call and waits for its answer. Cancelling the task ends the wait; the server still
  /// carries out the call.
  ///
  /// - Parameters:
  ///   - service: the full proto name.
  ///   - method: the name of the method, without the service.
  ///   - payload: the encoded request message.
  ///   - timeout: sent to the server, and enforced by the client too; nil waits without limit.
  ///   - metadata: sent with the request.
  /// - Returns: the encoded response message.
  package func call(
    service: String, method: String, payload: ByteBuffer, timeout: Duration? = nil,
    metadata: [(key: String, value: String)] = []
  ) async throws(RPCClientError) -> ByteBuffer {
    try await call(
      RPCRequest(
        service: service, method: method, payload: payload, timeout: timeout, metadata: metadata)
    ).get()
  }

  /// Makes one call and waits for its answer.
  func call(_ request: RPCRequest) async -> Result<ByteBuffer, RPCClientError> {
    let call = PendingCall()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        channel.eventLoop.execute {
          self.handler.value.start(call, request, .unary(continuation))
        }
      }
    } onCancel: {
      abandon(call)
    }
  }

  /// Starts a server-streaming call. It does not wait; a failure is thrown when the stream is read.
  ///
  /// - Parameters:
  ///   - timeout: for the whole stream.
  ///   - silence: the longest time without a message, after which the stream ends with
  ///     `connectionClosed`; nil sets no limit.
  package func serverStream(
    service: String, method: String, payload: ByteBuffer, timeout: Duration? = nil,
    silence: Duration? = nil, metadata: [(key: String, value: String)] = []
  ) -> RPCMessageStream {
    let request = RPCRequest(
      service: service, method: method, payload: payload, timeout: timeout, metadata: metadata)
    let queue = MessageQueue(limit: limits.streamReadBuffer)
    let call = startStream(request, into: queue)
    let timer = silence.map { SilenceTimer(of: queue, limit: $0) }
    return RPCMessageStream(queue: queue, timer: timer) { self.abandon(call) }
  }

  @discardableResult
  func startStream(_ request: RPCRequest, into queue: MessageQueue) -> PendingCall {
    let call = PendingCall()
    channel.eventLoop.execute {
      self.handler.value.start(call, request, .stream(queue))
    }
    return call
  }

  /// Closes the connection. Calls in flight fail with `connectionClosed`.
  package func close() async {
    // An error means that it was closed already.
    try? await channel.close().get()
  }

  /// Closes the connection without waiting for the end.
  func closeSoon() {
    channel.close(promise: nil)
  }

  /// Resets the connection, so that the server stops sending at once. A normal close could also be
  /// a half-close, after which the client still reads answers.
  func reset() {
    // Without this option the server detects the close at its next write.
    _ = (channel as? any SocketOptionProvider)?
      .setSoLinger(linger(l_onoff: 1, l_linger: 0))
    channel.close(promise: nil)
  }

  /// Runs `body` when either side has closed the connection; at once if it is closed already.
  func onClose(_ body: @escaping @Sendable () -> Void) {
    channel.closeFuture.whenComplete { _ in body() }
  }

  private func abandon(_ call: PendingCall) {
    channel.eventLoop.execute {
      if let streamID = call.abandoned() {
        self.handler.value.abandon(streamID)
      }
    }
  }
}
