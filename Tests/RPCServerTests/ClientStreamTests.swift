import EntitlementDomain
import NIOCore
import RPCServer
import Testing
import Wire

@testable import RPCClient

@Suite("EntitlementClient: the connections of streams", .timeLimit(.minutes(1)))
struct ClientStreamTests {
  /// Watches get one message, and go on until their connection ends, which is told.
  private static func router(_ ended: @escaping @Sendable () -> Void = {}) -> RPCRouter {
    var router = RPCRouter()
    let method = WireMethods.watchCustomerStates
    router.serverStreaming(method) { _, stream in
      stream.onCancel(ended)
      if let message = try? WatchCustomerStatesResponse(cursor: "1").encoded() {
        stream.send(message)
      }
    }
    return router
  }

  @Test("A watch has a connection of its own, which ends with it, or with the client")
  func own() async throws {
    let (ends, end) = AsyncStream<Void>.makeStream()
    try await ScriptedServer.run(Self.router { end.yield() }) { client, servers in
      var iterator = ends.makeAsyncIterator()
      for try await response in try client.watchCustomerStates(.init()) {
        #expect(response.cursor == "1")
        #expect(servers[0].statistics.connectionsOpen == 1)
        break
      }
      await iterator.next()
      var watch = try client.watchCustomerStates(.init()).makeAsyncIterator()
      #expect(try await watch.next()?.cursor == "1")
      await client.close()
      await iterator.next()
      let error = await #expect(throws: CustomerWatchError.self) { try await watch.next() }
      #expect(error?.cause.code == .connectionClosed)
      var late = try client.watchCustomerStates(.init()).makeAsyncIterator()
      let refused = await #expect(throws: CustomerWatchError.self) { try await late.next() }
      #expect(refused?.cause.code == .clientClosed)
      #expect(refused?.isTransient == false)
    }
  }

  @Test("A watch that begins while the client closes does not outlive it")
  func beginning() async throws {
    for _ in 0..<20 {
      try await ScriptedServer.run(Self.router()) { client, _ in
        let (beginnings, beginning) = AsyncStream<Void>.makeStream()
        let beginner = Task {
          try (0..<200).map { _ in
            beginning.yield()
            return try client.watchCustomerStates(.init())
          }
        }
        // Some are there already, so that ending them takes a moment.
        var iterator = beginnings.makeAsyncIterator()
        for _ in 0..<20 { await iterator.next() }
        await client.close()
        for watch in try await beginner.value {
          let error = await #expect(throws: CustomerWatchError.self) {
            for try await _ in watch {}
          }
          // On a busy machine, some of so many connections fail by themselves.
          #expect([.connectionClosed, .clientClosed, .unreachable].contains(error?.cause.code))
        }
      }
    }
  }

  @Test("A watch that has no connection yet ends at once when the client is closed")
  func connecting() async throws {
    let listener = try FullListener()
    let client = EntitlementClient(
      listener.address, configuration: EntitlementClientConfiguration(connectTimeout: .seconds(90)))
    var watch = try client.watchCustomerStates(.init()).makeAsyncIterator()
    await client.close()
    let error = await #expect(throws: CustomerWatchError.self) { try await watch.next() }
    #expect(error?.cause.code == .connectionClosed)
  }

  @Test("The deadline of an export covers connecting")
  func deadline() async throws {
    let listener = try FullListener()
    var client = EntitlementClient(
      listener.address, configuration: EntitlementClientConfiguration(connectTimeout: .seconds(90)))
    client.timeout = .milliseconds(50)
    let request = ExportCustomerRequest(scope: ScriptedServer.scope, accountID: "a")
    var export = try client.exportCustomer(request).makeAsyncIterator()
    let error = await #expect(throws: RPCClientError.self) { try await export.next() }
    #expect(error?.code == .status(.deadlineExceeded))
    #expect(error?.wasSent == false)
    await client.close()
  }
}
