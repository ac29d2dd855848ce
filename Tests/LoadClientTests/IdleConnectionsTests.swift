import Framing
import NIOCore
import NIOPosix
import RPCClient
import RPCServer
import Synchronization
import Testing
import Wire

@testable import LoadClient

@Suite("Idle connections", .timeLimit(.minutes(1)))
struct IdleConnectionsTests {
  /// - Parameter code: of the answers; nil: OK.
  private func open(_ count: Int, code: RPCCode?) async throws -> Int {
    let stage = try LoadStage()
    let calls = Atomic<Int>(0)
    var router = RPCRouter()
    let method = WireMethods.checkHealth
    let healthy = try HealthCheckResponse(status: .serving).encoded()
    router.unary(method) { _, answer in
      calls.add(1, ordering: .relaxed)
      if let code { answer.fail(RPCStatus(code, "no")) } else { answer.succeed(healthy) }
    }
    let server = try await stage.server(router)
    let idle = try await IdleConnections(count, to: RPCTarget(stage.address), server: nil)
    #expect(idle.figures == IdleConnections.Figures(count: count, bytesEach: nil))
    #expect(idle.closedCount == 0)
    await idle.close()
    await server.shutDown()
    return calls.load(ordering: .relaxed)
  }

  @Test("any answer proves that a connection was accepted")
  func acceptance() async throws {
    #expect(try await open(100, code: nil) == 100)
    #expect(try await open(3, code: .unimplemented) == 3)
  }

  @Test("waiting for a server that accepts no connection times out")
  func silence() async throws {
    // The kernel completes the connections, but the server never accepts one.
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.autoRead, value: false)
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(listener.localAddress?.port)
    let error = await #expect(throws: RPCClientError.self) {
      try await IdleConnections(
        3, to: RPCTarget(.tcp(host: "127.0.0.1", port: UInt16(port))), server: nil,
        timeout: .milliseconds(100))
    }
    #expect(error?.code == .status(.deadlineExceeded))
    try await listener.close()
  }
}
