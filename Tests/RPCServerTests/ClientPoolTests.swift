import EntitlementDomain
import NIOCore
import RPCServer
import Synchronization
import Testing
import Wire

@testable import RPCClient

@Suite("EntitlementClient: several connections", .timeLimit(.minutes(1)))
struct ClientPoolTests {
  private static let read = GetCustomerStateRequest(
    customer: .account("a"), scope: ScriptedServer.scope)

  private final class Count: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func increase() {
      count.withLock { $0 += 1 }
    }
  }

  private static func router(_ count: Count = Count()) -> RPCRouter {
    var router = RPCRouter()
    ScriptedServer.answer(WireMethods.getCustomerState, in: &router) { _ in
      count.increase()
      return .notModified(revision: 1)
    }
    return router
  }

  /// Holds every read until it is let go.
  private final class Holder: Sendable {
    let arrivals: AsyncStream<RPCAnswer>
    private let continuation: AsyncStream<RPCAnswer>.Continuation

    init() {
      (arrivals, continuation) = AsyncStream.makeStream()
    }

    var router: RPCRouter {
      var router = RPCRouter()
      let method = WireMethods.getCustomerState
      router.unary(method.service, method.name) { _, answer in self.continuation.yield(answer) }
      return router
    }

    func next() async throws -> RPCAnswer {
      var iterator = arrivals.makeAsyncIterator()
      return try #require(await iterator.next())
    }

    static func letGo(_ answer: RPCAnswer) throws {
      answer.succeed(try GetCustomerStateResponse.notModified(revision: 7).encoded())
    }
  }

  @Test("Calls spread over the servers, over no more connections than needed")
  func spread() async throws {
    let (first, second) = (Count(), Count())
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

  @Test("Many calls at a time share few connections")
  func shared() async throws {
    try await ScriptedServer.run(Self.router()) { client, servers in
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
    let (first, second) = (Count(), Count())
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
    let holder = Holder()
    try await ScriptedServer.run(holder.router) { client, servers in
      async let failed = client.customerState(Self.read)
      _ = try await holder.next()
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
      address, configuration: EntitlementClientConfiguration(waitingTime: .milliseconds(50)))
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
      configuration: EntitlementClientConfiguration(timeout: .milliseconds(30), retries: .off))
    var failures = 0
    for _ in 0..<40 {
      do {
        _ = try await client.customerState(Self.read)
      } catch {
        #expect(error.code == .status(.deadlineExceeded))
        failures += 1
      }
    }
    // Three, and three again each time that it is tried anew.
    #expect((3...12).contains(failures), "\(failures)")
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

  @Test("A read that takes long is sent once more, over another connection; a change is not")
  func hedging() async throws {
    let (first, second) = (Holder(), Holder())
    let configuration = EntitlementClientConfiguration(
      timeout: .seconds(20), connectionsPerAddress: 1, hedgingDelay: .milliseconds(10))
    try await ScriptedServer.run(first.router, second.router, configuration: configuration) {
      client, _ in
      async let answer = client.customerState(Self.read)
      let held = (try await first.next(), try await second.next())
      try Holder.letGo(held.1)
      #expect(try await answer == .notModified(revision: 7))
      // The other is for nobody.
      try Holder.letGo(held.0)
    }
    let submissions = Count()
    var router = RPCRouter()
    let method = WireMethods.submitNotification
    router.unary(method.service, method.name) { _, _ in submissions.increase() }
    try await ScriptedServer.run(router, router, configuration: configuration) { client, _ in
      var hurried = client
      hurried.timeout = .milliseconds(60)
      await #expect(throws: RPCClientError.self) {
        try await hurried.submitNotification(SubmitNotificationRequest(signedPayload: "e"))
      }
      #expect(submissions.value == 1)
    }
  }

  @Test("Closing lets calls in flight finish, and takes no new ones")
  func closing() async throws {
    let holder = Holder()
    try await ScriptedServer.run(holder.router) { client, servers in
      async let answer = client.customerState(Self.read)
      let held = try await holder.next()
      async let closed: Void = client.close(within: .seconds(30))
      // Until it has begun to close, further calls are held too.
      var refusal: RPCClientError?
      while refusal == nil {
        var hurried = client
        hurried.timeout = .milliseconds(5)
        do throws(RPCClientError) {
          _ = try await hurried.customerState(Self.read)
        } catch {
          if error.code == .clientClosed { refusal = error }
        }
      }
      #expect(refusal?.wasSent == false)
      try Holder.letGo(held)
      #expect(try await answer == .notModified(revision: 7))
      await closed
      while servers[0].statistics.connectionsOpen > 0 { await Task.yield() }
    }
  }

  @Test("Calls that take longer than the time to close fail")
  func closedNow() async throws {
    let holder = Holder()
    try await ScriptedServer.run(holder.router) { client, _ in
      async let answer = client.customerState(Self.read)
      _ = try await holder.next()
      await client.close(within: .milliseconds(1))
      do {
        _ = try await answer
        Issue.record("answered")
      } catch {
        #expect((error as? RPCClientError)?.code == .connectionClosed)
      }
    }
  }

  @Test("A watch has a connection of its own, which ends with it, or with the client")
  func streams() async throws {
    let (ends, end) = AsyncStream<Void>.makeStream()
    var router = Self.router()
    let method = WireMethods.watchCustomerStates
    router.serverStreaming(method.service, method.name) { _, stream in
      stream.onCancel { end.yield() }
      if let message = try? WatchCustomerStatesResponse(cursor: "1").encoded() {
        stream.send(message)
      }
    }
    try await ScriptedServer.run(router) { client, servers in
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
      #expect(refused?.isPassing == false)
    }
  }
}
