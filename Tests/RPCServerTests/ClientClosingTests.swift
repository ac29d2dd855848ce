import EntitlementDomain
import RPCServer
import Testing
import Wire

@testable import RPCClient

@Suite("EntitlementClient: closing", .timeLimit(.minutes(1)))
struct ClientClosingTests {
  private static let read = GetCustomerStateRequest(
    customer: .account("a"), scope: ScriptedServer.scope)

  @Test("Closing lets calls in flight finish, and takes no new ones")
  func closing() async throws {
    let reads = HeldReads()
    try await ScriptedServer.run(reads.router) { client, servers in
      async let answer = client.customerState(Self.read)
      let held = try await reads.next()
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
      try HeldReads.letGo(held)
      #expect(try await answer == .notModified(revision: 7))
      await closed
      while servers[0].statistics.connectionsOpen > 0 { await Task.yield() }
    }
  }

  @Test("Calls that take longer than the time to close fail")
  func closedNow() async throws {
    let reads = HeldReads()
    try await ScriptedServer.run(reads.router) { client, _ in
      async let answer = client.customerState(Self.read)
      _ = try await reads.next()
      await client.close(within: .milliseconds(1))
      do {
        _ = try await answer
        Issue.record("answered")
      } catch {
        #expect((error as? RPCClientError)?.code == .connectionClosed)
      }
    }
  }
}
