import EntitlementDomain
import Framing
import RPCServer
import Testing
import Wire

@testable import RPCClient

@Suite("EntitlementClient: several connections", .timeLimit(.minutes(1)))
struct ClientPoolTests {
  private static let read = GetCustomerStateRequest(
    customer: .account("a"), scope: ScriptedServer.scope)

  private static func router(_ count: CallCount = CallCount()) -> RPCRouter {
    var router = RPCRouter()
    ScriptedServer.answer(WireMethods.getCustomerState, in: &router) { _ in
      count.increase()
      return .notModified(revision: 1)
    }
    return router
  }

  @Test("Calls spread over the servers, over no more connections than needed")
  func spread() async throws {
    let (first, second) = (CallCount(), CallCount())
    try await ScriptedServer.run(Self.router(first), Self.router(second)) { client, servers in
      // Until both are connected to: that takes a moment.
      while first.value == 0 || second.value == 0 { _ = try await client.customerState(Self.read) }
      let before = (first.value, second.value)
      for _ in 0..<100 { _ = try await client.customerState(Self.read) }
      #expect(first.value - before.0 == 50)
      #expect(second.value - before.1 == 50)
      #expect(servers.map(\.statistics.connectionsOpen) == [1, 1])
    }
  }

  /// Every bound is held to what can be counted with.
  @Test("Many calls at a time share few connections", arguments: [1_000, .max])
  func shared(limit: Int) async throws {
    let configuration = EntitlementClientConfiguration(
      timeout: .seconds(20), callsPerConnection: limit, waitingCalls: limit, retries: .off)
    try await ScriptedServer.run(Self.router(), configuration: configuration) { client, servers in
      try await withThrowingTaskGroup { group in
        for _ in 0..<500 {
          group.addTask {
            for _ in 0..<4 { _ = try await client.customerState(Self.read) }
          }
        }
        try await group.waitForAll()
      }
      #expect((1...2).contains(servers[0].statistics.connectionsOpen))
    }
  }

  @Test("A server that stops is left for another, and no call fails")
  func drained() async throws {
    let (first, second) = (CallCount(), CallCount())
    let configuration = EntitlementClientConfiguration(timeout: .seconds(20))
    try await ScriptedServer.run(
      Self.router(first), Self.router(second), configuration: configuration
    ) { client, servers in
      while first.value == 0 || second.value == 0 { _ = try await client.customerState(Self.read) }
      let caller = Task {
        var answered = 0
        while !Task.isCancelled {
          do throws(RPCClientError) {
            _ = try await client.customerState(Self.read)
            answered += 1
          } catch {
            #expect(error.code == .status(.cancelled))
          }
        }
        return answered
      }
      await servers[0].shutDown()
      let before = second.value
      while second.value < before + 100 { await Task.yield() }
      caller.cancel()
      let answered = await caller.value
      #expect(answered > 50)
    }
  }

  @Test("Refusals of a server that stops say so")
  func stopping() async throws {
    let reads = HeldReads()
    try await ScriptedServer.run(reads.router) { client, servers in
      async let failed = client.customerState(Self.read)
      _ = try await reads.next()
      await servers[0].shutDown()
      do {
        _ = try await failed
        Issue.record("answered")
      } catch {
        #expect((error as? RPCClientError)?.code == .status(.unavailable))
        #expect((error as? RPCClientError)?.errorInfo?.reason == "SHUTTING_DOWN")
      }
    }
  }

  @Test("A server that cannot be reached does not keep calls from another")
  func unreachable() async throws {
    let listener = try RawListener()
    let gone = listener.address
    listener.close()
    let (server, address) = try await ScriptedServer.start(Self.router())
    let client = EntitlementClient(gone, address, configuration: ScriptedServer.once)
    for _ in 0..<20 { _ = try await client.customerState(Self.read) }
    await client.close()
    await server.shutDown()
  }

  @Test("Calls wait for a server that is started again; without one the cause is told")
  func restarted() async throws {
    let folder = try TemporaryFolder()
    let address = ServerAddress.unix(path: folder.path("rpc.sock"))
    let impatient = EntitlementClient(
      address, configuration: EntitlementClientConfiguration(waitingTime: .seconds(1)))
    let error = await #expect(throws: RPCClientError.self) {
      try await impatient.customerState(Self.read)
    }
    #expect(error?.code == .unreachable)
    #expect(error?.message == "\(address): there is no such socket")
    #expect(error?.wasSent == false)
    await impatient.close()

    let patient = EntitlementClient(
      address, configuration: EntitlementClientConfiguration(waitingTime: .seconds(20)))
    async let answer = patient.customerState(Self.read)
    for _ in 0..<2 {
      let server = RPCServer(router: Self.router(), logger: TestServer.quietLogger)
      _ = try await server.start(on: [address])
      #expect(try await patient.customerState(Self.read) == .notModified(revision: 1))
      await server.shutDown()
    }
    #expect(try await answer == .notModified(revision: 1))
    await patient.close()
  }

  @Test("The deadline covers the wait for a connection")
  func deadline() async throws {
    let folder = try TemporaryFolder()
    var client = EntitlementClient(
      .unix(path: folder.path("none")),
      configuration: EntitlementClientConfiguration(waitingTime: .seconds(20)))
    client.timeout = .milliseconds(20)
    let error = await #expect(throws: RPCClientError.self) {
      try await client.customerState(Self.read)
    }
    #expect(error?.code == .status(.deadlineExceeded))
    #expect(error?.wasSent == false)
    await client.close()
  }

  @Test("A server that never answers is left after some deadlines")
  func mute() async throws {
    let mute = try RawListener()
    let (server, address) = try await ScriptedServer.start(Self.router())
    let client = EntitlementClient(
      mute.address, address,
      configuration: EntitlementClientConfiguration(timeout: .milliseconds(300), retries: .off))
    var failures = 0
    for _ in 0..<40 {
      do {
        _ = try await client.customerState(Self.read)
      } catch {
        #expect(error.code == .status(.deadlineExceeded))
        failures += 1
      }
    }
    // Three failures until the address is left out, and three more after each new try. Without that, every
    // other call would fail: twenty.
    #expect((3...15).contains(failures), "\(failures)")
    await client.close()
    await server.shutDown()
  }

  @Test("Cancelling ends the wait for a connection")
  func cancelled() async throws {
    let folder = try TemporaryFolder()
    let client = EntitlementClient(
      .unix(path: folder.path("none")),
      configuration: EntitlementClientConfiguration(waitingTime: .seconds(20)))
    let call = Task { try await client.customerState(Self.read) }
    call.cancel()
    let error = await #expect(throws: RPCClientError.self) { try await call.value }
    #expect(error?.code == .status(.cancelled))
    await client.close()
  }
}
