import Framing
import NIOCore
import RPCServer
import TestSupport
import Testing
import Wire

@Suite("Listeners of several kinds", .timeLimit(.minutes(2)))
struct ListenerTests {
  private static func limits(connections: Int = 100, shortConnections: Int = 2_500) -> RPCLimits {
    RPCLimits(
      connections: connections, shutdownTime: .milliseconds(100),
      shortConnectionsPerSecond: shortConnections, lingerTime: .milliseconds(100))
  }

  /// Frames, on the event loops of the server.
  private final class Front: ConnectionFront {
    let kind = CallFront.connect
    let group: (any EventLoopGroup)? = nil

    func addHandlers(
      to pipeline: ChannelPipeline.SynchronousOperations, peer: RPCPeer
    ) throws {}
  }

  private static func run(
    _ limits: RPCLimits, _ others: RPCListener...,
    body: (RPCServer, [ServerAddress]) async throws -> Void
  ) async throws {
    let server = RPCServer(
      router: TestService().router, limits: limits, logger: TestServer.quietLogger)
    let addresses = try await server.start([RPCListener(.tcp(host: "127.0.0.1", port: 0))] + others)
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(server, addresses))
    } catch {
      result = .failure(error)
    }
    await server.shutDown()
    try result.get()
  }

  private func call(_ address: ServerAddress) throws -> (RawClient, String) {
    let client = try RawClient(address)
    // Fails when the server has closed the connection.
    try? client.send(Frames.request(1, "Echo", "a"))
    return (client, try client.receiveText())
  }

  @Test("Those for operators have places that others cannot take")
  func places() async throws {
    let probes = RPCListener(.tcp(host: "127.0.0.1", port: 0), isForOperators: true)
    try await Self.run(Self.limits(connections: 20), probes) { _, addresses in
      let others = try (0..<18).map { _ in try call(addresses[0]) }
      #expect(others.allSatisfy { $0.1 == "1 OK a" })
      #expect(try call(addresses[0]).1 == "closed")
      let probes = try (0..<2).map { _ in try call(addresses[1]) }
      #expect(probes.allSatisfy { $0.1 == "1 OK a" })
    }
  }

  @Test("A flood of connections on one kind delays no new connection of another")
  func floods() async throws {
    let front = RPCListener(.tcp(host: "127.0.0.1", port: 0), front: Front())
    try await Self.run(Self.limits(shortConnections: 1), front) { server, addresses in
      // Each takes a token of its kind when it ends, and the next one waits for it.
      try await eventually {
        let client = try RawClient(addresses[0])
        client.reset()
        return server.statistics.acceptPauses > 0
      }
      #expect(try call(addresses[1]).1 == "1 OK a")
      #expect(try call(addresses[1]).1 == "1 OK a")
    }
  }
}
