package import Framing
import Glibc
package import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

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
  /// - Parameters:
  ///   - connectTimeout: for the host lookup and the attempts to connect to its addresses, and as
  ///     long again for a TLS handshake.
  /// - Throws: ``RPCClientError`` with `unreachable`.
  package static func connect(
    to address: ServerAddress, connectTimeout: Duration = .seconds(5),
    limits: RPCLimits = RPCLimits(),
    eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) async throws(RPCClientError) -> RPCConnection {
    try await connect(
      to: RPCTarget(address), connectTimeout: connectTimeout, limits: limits,
      eventLoopGroup: eventLoopGroup)
  }

  /// Connects to a server, with TLS, metadata and a token.
  package static func connect(
    to target: RPCTarget, connectTimeout: Duration = .seconds(5),
    limits: RPCLimits = RPCLimits(),
    eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) async throws(RPCClientError) -> RPCConnection {
    let address = target.address
    let tls = try Self.tls(target.tls, for: address)
    let made = ChannelHandlers()
    let bootstrap = ClientBootstrap(group: eventLoopGroup)
      .connectTimeout(TimeAmount(connectTimeout))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          var handshake: EventLoopFuture<Void>?
          if let tls {
            let handler = try NIOSSLClientHandler(context: tls.context, serverHostname: tls.told)
            let waiting = ClientHandshakeHandler(
              tls: handler, host: tls.host, timeout: TimeAmount(connectTimeout),
              eventLoop: channel.eventLoop)
            handshake = waiting.finished
            try channel.pipeline.syncOperations.addHandlers(handler, waiting)
          }
          let handler = ClientConnectionHandler(
            eventLoop: channel.eventLoop, metadata: target.metadata, token: target.token)
          try channel.pipeline.syncOperations.addHandler(handler)
          made.add(
            NIOLoopBound(handler, eventLoop: channel.eventLoop), handshake, to: channel)
        }
      }
    do {
      let channel: any Channel
      switch address {
      case .tcp(let host, let port), .tls(let host, let port), .mutualTLS(let host, let port):
        channel =
          try await bootstrap
          .channelOption(.tcpOption(.tcp_nodelay), value: 1)
          .channelOption(.socketOption(.so_keepalive), value: 1)
          .connect(host: host, port: Int(port)).get()
      case .unix(let path):
        channel = try await bootstrap.connect(unixDomainSocketPath: path).get()
      }
      let (handler, handshake) = made.handlers(of: channel)
      try await handshake?.get()
      return RPCConnection(channel: channel, handler: handler, limits: limits)
    } catch {
      throw RPCClientError(connectingTo: address, cause: error)
    }
  }

  /// - Returns: nil for an address without TLS.
  private static func tls(
    _ tls: ClientTLS?, for address: ServerAddress
  ) throws(RPCClientError) -> (context: NIOSSLContext, host: String, told: String?)? {
    let host: String
    switch address {
    case .tls(let name, _):
      host = name
    case .mutualTLS(let name, _):
      guard tls?.certificateFile != nil else {
        throw RPCClientError(.unreachable, "\(address): a client certificate is needed")
      }
      host = name
    case .tcp, .unix:
      return nil
    }
    let tls = tls ?? Self.defaultTLS
    let expected = tls.expectedHost(host)
    return (try tls.context(), expected.certificate, expected.told)
  }

  private static let defaultTLS = ClientTLS()

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

/// The handlers of the channels of one attempt to connect: one for each address of a host, until one
/// is connected. Kept apart from the pipeline, which a refused connection has lost by the time that
/// it is used.
private final class ChannelHandlers: Sendable {
  typealias Handlers = (
    connection: NIOLoopBound<ClientConnectionHandler>, handshake: EventLoopFuture<Void>?
  )

  private let all = Mutex<[ObjectIdentifier: Handlers]>([:])

  func add(
    _ connection: NIOLoopBound<ClientConnectionHandler>, _ handshake: EventLoopFuture<Void>?,
    to channel: any Channel
  ) {
    all.withLock { $0[ObjectIdentifier(channel)] = (connection, handshake) }
  }

  func handlers(of channel: any Channel) -> Handlers {
    guard let handlers = all.withLock({ $0[ObjectIdentifier(channel)] }) else {
      preconditionFailure("a channel is initialized before it is connected")
    }
    return handlers
  }
}
