import Glibc
package import NIOCore
import NIOPosix
package import Wire

/// One connection to a server, shared by any number of calls at a time.
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

  /// - Parameter connectTimeout: For looking up the host and connecting to each of its addresses.
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

  /// Whether calls can be made. A connection that is closed stays so.
  package var isOpen: Bool {
    channel.isActive
  }

  /// The one thread that this connection's bytes go through.
  package var eventLoop: any EventLoop {
    channel.eventLoop
  }

  /// Makes one call from the connection's own event loop, without a task or a hop. To be called
  /// there only.
  ///
  /// - Parameter completion: called once, on the event loop; at once if the call cannot be made. It
  ///   may make the next call.
  package func call(
    _ request: RPCRequest, _ completion: @escaping (Result<ByteBuffer, RPCClientError>) -> Void
  ) {
    handler.value.start(nil, request, .completion(completion))
  }

  /// Makes one call and waits for its answer. Cancelling the task ends the wait, not the work.
  ///
  /// - Parameters:
  ///   - service: The full proto name.
  ///   - payload: The encoded request message.
  ///   - timeout: How long to wait; sent to the server, and kept by the client too.
  /// - Returns: The encoded response message.
  package func call(
    service: String, method: String, payload: ByteBuffer, timeout: Duration? = nil,
    metadata: [(key: String, value: String)] = []
  ) async throws(RPCClientError) -> ByteBuffer {
    try await call(
      RPCRequest(
        service: service, method: method, payload: payload, timeout: timeout, metadata: metadata)
    ).get()
  }

  /// The same, for a request made beforehand.
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

  /// Makes one call that is answered with a stream. It starts at once; what fails shows when the
  /// stream is read.
  ///
  /// - Parameters:
  ///   - timeout: For the whole stream.
  ///   - silence: How long it may go without a message; nil: for ever. Afterwards it ends with
  ///     `connectionClosed`.
  package func serverStream(
    service: String, method: String, payload: ByteBuffer, timeout: Duration? = nil,
    silence: Duration? = nil, metadata: [(key: String, value: String)] = []
  ) -> RPCMessageStream {
    let request = RPCRequest(
      service: service, method: method, payload: payload, timeout: timeout, metadata: metadata)
    let queue = MessageQueue(limit: limits.streamReadBuffer)
    let call = startStream(request, into: queue)
    let alarm = silence.map { SilenceAlarm(of: queue, limit: $0) }
    return RPCMessageStream(queue: queue, alarm: alarm) { self.abandon(call) }
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
    // It is closed afterwards in any case; an error says that it was so before.
    try? await channel.close().get()
  }

  /// The same, without waiting for it.
  func closeSoon() {
    channel.close(promise: nil)
  }

  /// Closes the connection so that the server knows at once that nobody reads any more: a plain end
  /// could also be that of the requests alone, with calls whose answers are still waited for.
  func reset() {
    // Where the system has no such option, the server finds out when it sends.
    _ = (channel as? any SocketOptionProvider)?
      .setSoLinger(linger(l_onoff: 1, l_linger: 0))
    channel.close(promise: nil)
  }

  /// Runs `body` once the connection is closed, by whichever side; at once if it is so already.
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
