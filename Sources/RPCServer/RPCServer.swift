import Glibc
package import Logging
package import NIOCore
import NIOPosix
import Synchronization
package import Wire

/// The framed front: listens, and has calls carried out by what its router says.
///
/// A server is started once and shut down once.
package final class RPCServer: Sendable {
  private struct Listener: Sendable {
    let channel: any Channel
    let socketFile: UnixSocketFile?
  }

  /// idle → starting → running → stopped, or starting → idle when an address cannot be used.
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
  /// For all listeners on TCP.
  private let pacing: AcceptPacing
  private let state = Mutex(State.idle)

  /// - Parameter group: Where connections live, each on one loop. Must outlive the server.
  package init(
    router: RPCRouter, limits: RPCLimits = RPCLimits(),
    group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton, logger: Logger
  ) {
    self.router = router
    self.methods = router.methodTable
    self.immediates = router.immediateMethods
    self.limits = limits
    self.group = group
    self.logger = logger
    self.registry = ConnectionRegistry(limits: limits)
    self.pacing = AcceptPacing(limits: limits)
  }

  package var statistics: RPCServerStatistics {
    var statistics = registry.statistics
    statistics.acceptPauses = pacing.pauses
    return statistics
  }

  /// Listens on all addresses, or on none.
  ///
  /// - Returns: The addresses in the order given, with the port that the system chose where 0 was
  ///   asked for.
  /// - Throws: ``RPCServerError``, with the address that could not be used.
  package func start(
    on addresses: [ServerAddress]
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
    for address in addresses {
      do {
        let listener = try await listen(on: address)
        listeners.append(listener)
        bound.append(Self.boundAddress(of: listener.channel, asked: address))
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

  /// Stops listening, lets calls in flight finish, refuses new ones with UNAVAILABLE, and returns
  /// when every connection is closed: at the latest `shutdownTime` and `lingerTime` from now.
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
  }

  private func listen(on address: ServerAddress) async throws(RPCServerError) -> Listener {
    if case .unix(let path) = address {
      try UnixSocketFile.removeStale(at: path)
    }
    do {
      switch address {
      case .tcp(let host, let port):
        let channel = try await tcpBootstrap.bind(host: host, port: Int(port)).get()
        return Listener(channel: channel, socketFile: nil)
      case .unix(let path):
        // Not paced: its clients are processes of this machine, and an operator always gets through.
        let channel = try await bootstrap(pacing: nil).bind(unixDomainSocketPath: path).get()
        return Listener(channel: channel, socketFile: UnixSocketFile(at: path))
      }
    } catch {
      throw RPCServerError(bindingTo: address, cause: error)
    }
  }

  private func bootstrap(pacing: AcceptPacing?) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: RPCLimits.acceptBacklog)
      .serverChannelOption(.maxMessagesPerRead, value: RPCLimits.acceptsPerTurn)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          // Out of file descriptors, it waits before it accepts again.
          try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
          if let pacing {
            try channel.pipeline.syncOperations.addHandler(AcceptPacingHandler(pacing))
          }
        }
      }
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try self.setUp(channel, pacing: pacing) }
      }
  }

  /// Connections inherit the socket options of their listener (Linux), without a system call for each.
  private var tcpBootstrap: ServerBootstrap {
    bootstrap(pacing: pacing)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .serverChannelOption(.socketOption(.so_keepalive), value: 1)
      .serverChannelOption(Self.tcpOption(TCP_KEEPIDLE), value: RPCLimits.keepAliveIdleSeconds)
      .serverChannelOption(Self.tcpOption(TCP_KEEPINTVL), value: RPCLimits.keepAliveProbeSeconds)
      .serverChannelOption(Self.tcpOption(TCP_KEEPCNT), value: RPCLimits.keepAliveProbes)
  }

  private static func tcpOption(_ name: CInt) -> ChannelOptions.Types.SocketOption {
    .tcpOption(NIOBSDSocket.Option(rawValue: name))
  }

  private func setUp(_ channel: any Channel, pacing: AcceptPacing?) throws {
    let eventLoop = channel.eventLoop
    let acceptedAt = eventLoop.now
    guard let id = registry.admit(channel) else {
      pacing?.connectionRefused(now: acceptedAt)
      throw ConnectionRefused()
    }
    let pause = limits.writeBufferPause
    // Set here they cost less than as the options of a bootstrap, each of which is a future.
    if let options = channel.syncOptions {
      try options.setOption(.allowRemoteHalfClosure, value: true)
      try options.setOption(.maxMessagesPerRead, value: RPCLimits.readsPerTurn)
      try options.setOption(
        .writeBufferWaterMark, value: .init(low: max(1, pause / 4), high: max(1, pause)))
    }
    channel.closeFuture.whenComplete { _ in
      pacing?.connectionEnded(acceptedAt: acceptedAt, now: eventLoop.now)
      self.registry.remove(id)
    }
    try channel.pipeline.syncOperations.addHandler(
      ServerConnectionHandler(
        router: router, methods: methods, immediates: immediates, limits: limits,
        peer: RPCPeer(connectionID: id, channel: channel), registry: registry, logger: logger))
  }

  private static func boundAddress(
    of channel: any Channel, asked address: ServerAddress
  ) -> ServerAddress {
    guard case .tcp(let host, _) = address,
      let port = channel.localAddress?.port.flatMap(UInt16.init(exactly:))
    else {
      return address
    }
    return .tcp(host: host, port: port)
  }

  private static func close(_ listeners: [Listener]) async {
    for listener in listeners {
      // It is closed afterwards in any case; an error says that it was so before.
      try? await listener.channel.close().get()
      listener.socketFile?.remove()
    }
  }
}

/// Makes swift-nio close a connection that was not admitted.
private struct ConnectionRefused: Error {}
