package import AccessControl
import Cryptography
package import Framing
import Glibc
package import Logging
package import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
package import Traces
import Wire

/// A ttrpc server: listens on TCP and Unix sockets, with or without TLS, and dispatches calls to the methods of its
/// router.
///
/// A server is started once and shut down once.
package final class RPCServer: Sendable {
  private struct Listener: Sendable {
    let channel: any Channel
    let socketFile: UnixSocketFile?
  }

  /// idle → starting → running → stopped, or starting → idle if an address cannot be used.
  private enum State {
    case idle
    case starting
    case running([Listener])
    case stopped
  }

  private let router: RPCRouter
  private let methods: MethodTable
  private let immediates: ImmediateMethods?
  private let limits: RPCLimits
  private let group: any EventLoopGroup
  private let logger: Logger
  private let registry: ConnectionRegistry
  /// By front, those without one together: a flood on one kind of listener delays none of another.
  private let pacings = Mutex<[ObjectIdentifier?: AcceptPacing]>([:])
  private let acceptFailures: AcceptFailures
  private let tls: ServerTLS?
  private let gate: AccessGate
  private let tracer: CallTracer?
  private let unfinishedHandshakes = WaitingConnections()
  private let state = Mutex(State.idle)

  /// - Parameters:
  ///   - tls: The certificate of TLS listeners.
  ///   - credentials: Who may call; nil: no access control.
  ///   - tracer: Records the spans of calls; nil: no call is traced.
  ///   - group: The event loops of the connections. Must outlive the server.
  package init(
    router: RPCRouter, limits: RPCLimits = RPCLimits(), tls: ServerTLS? = nil,
    credentials: CredentialsHolder? = nil, tracer: CallTracer? = nil,
    group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton, logger: Logger
  ) {
    self.router = router
    self.methods = router.methodTable
    self.immediates = router.immediateMethods
    self.limits = limits
    self.group = group
    self.logger = logger
    self.tls = tls
    self.tracer = tracer
    self.gate = AccessGate(credentials, limits: limits, logger: logger)
    let registry = ConnectionRegistry(limits: limits, logger: logger)
    self.registry = registry
    credentials?.onReplacement { [weak registry] in registry?.credentialsReplaced() }
    self.acceptFailures = AcceptFailures(logger: logger)
  }

  /// The names of the methods, by the index that ``CallCounts`` uses.
  package var methodNames: [String] { methods.methods.map { "\($0.service)/\($0.method)" } }

  /// Refused calls, by caller and reason.
  package var refusals: [AccessRefusals.Key: Int] { gate.refusals.totals }

  package var statistics: RPCServerStatistics {
    var statistics = registry.statistics
    statistics.acceptPauses = pacings.withLock { $0.values.reduce(0) { $0 + $1.pauses } }
    statistics.acceptFailures = acceptFailures.count
    statistics.handshakesOpen = unfinishedHandshakes.count
    statistics.handshakesFailed = registry.faults.failedHandshakes
    return statistics
  }

  /// Starts listening on all addresses. If one fails, no address stays open.
  ///
  /// - Returns: The bound addresses, in the order given. Port 0 is replaced by the assigned port.
  /// - Throws: ``RPCServerError`` with the address that could not be used.
  package func start(
    on addresses: [ServerAddress]
  ) async throws(RPCServerError) -> [ServerAddress] {
    try await start(addresses.map { RPCListener($0) })
  }

  /// As ``start(on:)``, with fronts.
  package func start(
    _ asked: [RPCListener]
  ) async throws(RPCServerError) -> [ServerAddress] {
    let isFirst = state.withLock { state in
      guard case .idle = state else {
        return false
      }
      state = .starting
      return true
    }
    guard isFirst else {
      throw RPCServerError(.alreadyStarted)
    }
    var listeners: [Listener] = []
    var bound: [ServerAddress] = []
    for one in asked {
      do {
        let listener = try await listen(one)
        listeners.append(listener)
        bound.append(Self.boundAddress(of: listener.channel, asked: one.address))
      } catch {
        await Self.close(listeners)
        state.withLock { state in
          if case .starting = state {
            state = .idle
          }
        }
        throw error
      }
    }
    let isStopped = state.withLock { state in
      if case .stopped = state {
        return true
      }
      state = .running(listeners)
      return false
    }
    if isStopped {
      await Self.close(listeners)
      throw RPCServerError(.alreadyStarted)
    }
    return bound
  }

  /// Stops listening, refuses new calls with UNAVAILABLE, and lets calls in flight finish. Returns
  /// when all connections are closed, after `shutdownTime` plus `lingerTime` at the latest.
  package func shutDown() async {
    let listeners = state.withLock { state -> [Listener] in
      defer { state = .stopped }
      guard case .running(let listeners) = state else {
        return []
      }
      return listeners
    }
    await Self.close(listeners)
    registry.shutDown(ShutdownStarted(deadline: .now() + TimeAmount(limits.shutdownTime)))
    await registry.allClosed()
    await registry.converter.shutDown()
  }

  private func listen(_ asked: RPCListener) async throws(RPCServerError) -> Listener {
    let address = asked.address
    if case .unix(let path) = address {
      try UnixSocketFile.removeStale(at: path)
    }
    do {
      switch address {
      case .tcp(let host, let port):
        return try await listen(on: host, port, with: .plain, for: asked)
      case .tls(let host, let port):
        return try await listen(
          on: host, port, with: try transport(requiresCertificate: false, for: address),
          for: asked)
      case .mutualTLS(let host, let port):
        return try await listen(
          on: host, port, with: try transport(requiresCertificate: true, for: address),
          for: asked)
      case .unix(let path):
        // Not paced: the clients are local processes, and an operator can always connect.
        let channel = try await bootstrap(.plain, for: asked, pacing: nil)
          .bind(unixDomainSocketPath: path).get()
        return Listener(channel: channel, socketFile: UnixSocketFile(at: path))
      }
    } catch let error as RPCServerError {
      throw error
    } catch {
      throw RPCServerError(bindingTo: address, cause: error)
    }
  }

  private func listen(
    on host: String, _ port: UInt16, with transport: Transport, for asked: RPCListener
  ) async throws -> Listener {
    let channel = try await tcpBootstrap(transport, for: asked).bind(host: host, port: Int(port))
      .get()
    return Listener(channel: channel, socketFile: nil)
  }

  private func transport(
    requiresCertificate: Bool, for address: ServerAddress
  ) throws(RPCServerError) -> Transport {
    guard let tls, !requiresCertificate || tls.hasClientAuthorities else {
      throw RPCServerError(.noCertificate, address: address)
    }
    return .tls(tls, requiresCertificate: requiresCertificate)
  }

  private func bootstrap(
    _ transport: Transport, for asked: RPCListener, pacing: AcceptPacing?
  ) -> ServerBootstrap {
    let acceptFailures = acceptFailures
    return ServerBootstrap(group: asked.front?.group ?? group)
      .serverChannelOption(.backlog, value: RPCLimits.acceptBacklog)
      .serverChannelOption(.maxMessagesPerRead, value: RPCLimits.acceptsPerTurn)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptFailureHandler(acceptFailures))
          if let pacing {
            try channel.pipeline.syncOperations.addHandler(AcceptPacingHandler(pacing))
          }
        }
      }
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try self.setUp(channel, transport, for: asked, pacing: pacing)
        }
      }
  }

  /// On Linux, connections inherit the listener's socket options, without further system calls.
  private func tcpBootstrap(_ transport: Transport, for asked: RPCListener) -> ServerBootstrap {
    bootstrap(transport, for: asked, pacing: pacing(of: asked.front))
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .serverChannelOption(.socketOption(.so_keepalive), value: 1)
      .serverChannelOption(Self.tcpOption(TCP_KEEPIDLE), value: RPCLimits.keepAliveIdleSeconds)
      .serverChannelOption(Self.tcpOption(TCP_KEEPINTVL), value: RPCLimits.keepAliveProbeSeconds)
      .serverChannelOption(Self.tcpOption(TCP_KEEPCNT), value: RPCLimits.keepAliveProbes)
  }

  private func pacing(of front: (any ConnectionFront)?) -> AcceptPacing {
    pacings.withLock { pacings in
      let key = front.map { ObjectIdentifier($0) }
      let pacing = pacings[key] ?? AcceptPacing(limits: limits)
      pacings[key] = pacing
      return pacing
    }
  }

  private static func tcpOption(_ name: CInt) -> ChannelOptions.Types.SocketOption {
    .tcpOption(NIOBSDSocket.Option(rawValue: name))
  }

  private func setUp(
    _ channel: any Channel, _ transport: Transport, for asked: RPCListener,
    pacing: AcceptPacing?
  ) throws {
    let eventLoop = channel.eventLoop
    let acceptedAt = eventLoop.now
    guard let id = registry.admit(channel, isForOperators: asked.isForOperators) else {
      pacing?.connectionRefused(now: acceptedAt)
      registry.logRefusal(to: logger)
      throw ConnectionRefused()
    }
    let pause = limits.writeBufferPause
    // Cheaper here than as options of the bootstrap, which uses a future for each.
    if let options = channel.syncOptions {
      try options.setOption(.allowRemoteHalfClosure, value: true)
      try options.setOption(.maxMessagesPerRead, value: RPCLimits.readsPerTurn)
      try options.setOption(
        .writeBufferWaterMark, value: .init(low: max(1, pause / 4), high: max(1, pause)))
    }
    switch transport {
    case .plain:
      channel.closeFuture.whenComplete { _ in
        pacing?.connectionEnded(acceptedAt: acceptedAt, now: eventLoop.now)
        self.registry.remove(id)
      }
      try addHandler(to: channel, id, for: asked, certificate: nil)
    case .tls(let tls, let requiresCertificate):
      let handshake = try addTLS(
        tls, requiresCertificate: requiresCertificate, to: channel, id, for: asked)
      channel.closeFuture.assumeIsolated().whenComplete { _ in
        pacing?.handshakeEnded(
          acceptedAt: acceptedAt, isFinished: handshake.isFinished, now: eventLoop.now)
        self.registry.remove(id)
      }
    }
  }

  private func addHandler(
    to channel: any Channel, _ id: UInt64, for asked: RPCListener, certificate: ClientCertificate?
  ) throws {
    let peer = RPCPeer(
      connectionID: id, channel: channel, gate: gate, certificate: certificate,
      front: asked.front?.kind ?? .ttrpc, identity: asked.identity)
    try asked.front?.addHandlers(to: channel.pipeline.syncOperations, peer: peer)
    try channel.pipeline.syncOperations.addHandler(
      ServerConnectionHandler(
        router: router, methods: methods, immediates: immediates, limits: limits,
        gate: gate, peer: peer, registry: registry, tracer: tracer, logger: logger))
  }

  private func addTLS(
    _ tls: ServerTLS, requiresCertificate: Bool, to channel: any Channel, _ id: UInt64,
    for asked: RPCListener
  ) throws -> TLSHandshakeHandler {
    // A reload may have removed the authorities of clients. Then no client has a valid certificate.
    let context =
      asked.front == nil || requiresCertificate
      ? tls.context(requiresCertificate: requiresCertificate) : tls.contextForHTTP
    guard let context else {
      registry.remove(id)
      throw ConnectionRefused()
    }
    let encryption = NIOSSLServerHandler(context: context)
    let linger = AlertLinger()
    let handshake = TLSHandshakeHandler(
      timeLimit: TimeAmount(limits.handshakeTime), tls: encryption, linger: linger,
      unfinished: unfinishedHandshakes, faults: registry.faults
    ) { [registry] certificate in
      registry.handshakeFinished()
      try self.addHandler(to: channel, id, for: asked, certificate: certificate)
    }
    try channel.pipeline.syncOperations.addHandlers(linger, encryption, handshake)
    return handshake
  }

  private static func boundAddress(
    of channel: any Channel, asked address: ServerAddress
  ) -> ServerAddress {
    channel.localAddress?.port.flatMap(UInt16.init(exactly:)).map(address.withPort) ?? address
  }

  private static func close(_ listeners: [Listener]) async {
    for listener in listeners {
      // The only possible error is that the listener was closed before.
      try? await listener.channel.close().get()
      listener.socketFile?.remove()
    }
  }
}

/// What the connections of a listener speak below the frames.
private enum Transport: Sendable {
  case plain
  case tls(ServerTLS, requiresCertificate: Bool)
}

/// Thrown by a channel initializer to make swift-nio close a connection that was not admitted.
private struct ConnectionRefused: Error {}
