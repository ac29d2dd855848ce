import EntitlementDomain
import Foundation
import Framing
import NIOCore
import RPCClient
import StoreSimulator
import Testing
import Wire

/// Servers that may open few files.
@Suite("Limit of open files", .timeLimit(.minutes(5)))
struct FileDescriptorTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private var healthCheck: ByteBuffer {
    get throws {
      Frames.request(1, WireMethods.checkHealth, try HealthCheckRequest(service: "").encoded())
    }
  }

  private func isAnswered(_ server: RunningServer) throws -> Bool {
    let client = try RawClient(server.address)
    // The server may have closed the connection already.
    return try client.trySend(try healthCheck) && (try client.receiveCode()) == "OK"
  }

  @Test func `connections never take the last descriptors, and refusing them costs little`()
    async throws
  {
    let server = try await RunningServer.start(
      bench.serverArguments, through: "ulimit -n 256; exec \"$@\"")
    let warning = try await server.logged(
      "the limit of open files allows fewer connections than the setting")
    let allowed = try #require(warning.connections)
    #expect((16..<256).contains(allowed))
    let client = try await server.client()
    let first = try bench.signed(.nonConsumable, seed: 1).flatMap(\.facts)
    let before = try await client.submitSignedTransactions(
      SubmitSignedTransactionsRequest(signedPayloads: first, accountID: "FIRST"))
    #expect(before.results.allSatisfy { $0.verdict == .ok })

    do {
      let flood = try SocketFlood(400, to: server.address, bytes: ByteBuffer())
      // Refused connections are closed, and the others stay.
      while flood.closedCount < 400 - allowed { await Task.yield() }
      #expect(flood.closedCount < 400)
      try await server.logged("connections are refused: the limit of open connections is reached")
      let isAnswered = try isAnswered(server)
      #expect(!isAnswered)

      // Established connections read and write.
      let second = try bench.signed(.renewals, seed: 2).flatMap(\.facts)
      let after = try await client.submitSignedTransactions(
        SubmitSignedTransactionsRequest(signedPayloads: second, accountID: "SECOND"))
      #expect(after.results.allSatisfy { $0.verdict == .ok })
      for _ in 0..<20 {
        _ = try await client.customerState(
          GetCustomerStateRequest(
            customer: .account("SECOND"), scope: Bench.scope, consistency: .fullyConsistent))
      }
      let start = try server.processorTime
      let clock = ContinuousClock.now
      while ContinuousClock.now < clock + .seconds(2) { await Task.yield() }
      let elapsed = (ContinuousClock.now - clock) / .seconds(1)
      #expect(try (server.processorTime - start) / elapsed < 0.5)
    }
    // The flood is closed: accepting goes on.
    while try !isAnswered(server) { await Task.yield() }
    await client.close()
    #expect(try await server.stop() == .code(0))
  }

  @Test func `the soft limit is raised`() async throws {
    let server = try await RunningServer.start(
      bench.serverArguments + ["--maximum-connections", "400"],
      through: "ulimit -Sn 128; exec \"$@\"")
    do {
      let flood = try SocketFlood(300, to: server.address, bytes: ByteBuffer())
      #expect(try isAnswered(server))
      #expect(flood.closedCount == 0)
    }
    #expect(!server.logText.contains("the limit of open files"))
    #expect(try await server.stop() == .code(0))
  }

  @Test func `78: too few files may be open for any connection`() async throws {
    let child = try ChildProcess(
      .entitled, bench.serverArguments, through: "ulimit -n 64; exec \"$@\"")
    #expect(try await child.exit() == .code(78))
    #expect(child.journal.contents.errorText.contains("the process may open 64 files"))
  }

  @Test func `a listener without a descriptor pauses, says so, and goes on`() async throws {
    let server = try await bench.startServer("--maximum-connections", "400")
    let client = try await server.client()
    // What the check at the start cannot foresee: the limit is lowered while the server runs.
    try server.setOpenFiles(40)
    do {
      let flood = try SocketFlood(100, to: server.address, bytes: ByteBuffer())
      try await server.logged("no connection can be accepted; accepting pauses")
      let start = try server.processorTime
      let clock = ContinuousClock.now
      while ContinuousClock.now < clock + .seconds(2) { await Task.yield() }
      let elapsed = (ContinuousClock.now - clock) / .seconds(1)
      // It was one whole processor.
      #expect(try (server.processorTime - start) / elapsed < 0.5)
      let lines = try server.log.filter { $0.message.hasPrefix("no connection can be accepted") }
      #expect(lines.count == 1)
      try server.setOpenFiles(600)
      withExtendedLifetime(flood) {}
    }
    while try !isAnswered(server) { await Task.yield() }
    await client.close()
    #expect(try await server.stop() == .code(0))
  }
}
