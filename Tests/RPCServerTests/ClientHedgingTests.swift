import EntitlementDomain
import RPCServer
import Testing
import Wire

@testable import RPCClient

@Suite("EntitlementClient: hedging", .timeLimit(.minutes(1)))
struct ClientHedgingTests {
  private static let read = GetCustomerStateRequest(
    customer: .account("a"), scope: ScriptedServer.scope)

  @Test("A read that takes long is sent once more, over another connection; a change is not")
  func hedging() async throws {
    let (first, second) = (HeldReads(), HeldReads())
    let configuration = EntitlementClientConfiguration(
      timeout: .seconds(20), connectionsPerAddress: 1, hedgingDelay: .milliseconds(10))
    try await ScriptedServer.run(first.router, second.router, configuration: configuration) {
      client, _ in
      async let answer = client.customerState(Self.read)
      let held = (try await first.next(), try await second.next())
      try HeldReads.letGo(held.1)
      #expect(try await answer == .notModified(revision: 7))
      // The other is for nobody.
      try HeldReads.letGo(held.0)
    }
    let submissions = CallCount()
    var router = RPCRouter()
    let method = WireMethods.submitNotification
    router.unary(method) { _, _ in submissions.increase() }
    try await ScriptedServer.run(router, router, configuration: configuration) { client, _ in
      var hurried = client
      // Enough to connect: the server has the call.
      hurried.timeout = .seconds(2)
      await #expect(throws: RPCClientError.self) {
        try await hurried.submitNotification(SubmitNotificationRequest(signedPayload: "e"))
      }
      #expect(submissions.value == 1)
    }
  }
}
