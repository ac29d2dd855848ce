import EntitlementDomain
import Framing
import NIOCore
import RPCServer
import Synchronization
import Testing
import Wire

@testable import RPCClient

@Suite("EntitlementClient: retries", .timeLimit(.minutes(1)))
struct ClientRetryTests {
  private static let scope = ScriptedServer.scope
  private static let read = GetCustomerStateRequest(customer: .account("a"), scope: scope)
  private static let submission = SubmitSignedTransactionsRequest(signedPayloads: ["e30.e30.AA"])

  private static func configuration(
    _ retries: RetryPolicy = RetryPolicy(initialBackoff: .milliseconds(1)),
    timeout: Duration = .seconds(20)
  ) -> EntitlementClientConfiguration {
    EntitlementClientConfiguration(timeout: timeout, connectionsPerAddress: 1, retries: retries)
  }

  /// Fails the first calls of a method, counts all, and keeps how much time each had left.
  private final class Calls: Sendable {
    let seen = Mutex<[Duration?]>([])

    var count: Int { seen.withLock { $0.count } }

    func fail<Request, Response>(
      _ method: WireMethod<Request, Response>, times: Int, with status: RPCStatus,
      then response: Response, in router: inout RPCRouter
    ) {
      router.unary(method) { call, answer in
        let number = self.seen.withLock { seen in
          seen.append(call.deadline?.rest(at: .now()))
          return seen.count
        }
        if number > times, let message = try? response.encoded() {
          answer.succeed(message)
        } else {
          answer.fail(status)
        }
      }
    }
  }

  private static let busy = RPCStatus(
    .resourceExhausted, "full", retryDelay: .milliseconds(2))
  private static let away = RPCStatus(.unavailable, "away")

  private static func reading(_ calls: Calls, _ times: Int, _ status: RPCStatus) -> RPCRouter {
    var router = RPCRouter()
    calls.fail(
      WireMethods.getCustomerState, times: times, with: status,
      then: .notModified(revision: 1), in: &router)
    return router
  }

  @Test("What is refused for now is asked for again", arguments: [busy, away])
  func again(status: RPCStatus) async throws {
    let (reads, submissions) = (Calls(), Calls())
    var router = Self.reading(reads, 3, status)
    submissions.fail(
      WireMethods.submitSignedTransactions, times: 2, with: status,
      then: SubmitSignedTransactionsResponse(results: [], customers: []), in: &router)
    try await ScriptedServer.run(router, configuration: Self.configuration()) { client, _ in
      #expect(try await client.customerState(Self.read) == .notModified(revision: 1))
      _ = try await client.submitSignedTransactions(Self.submission)
    }
    #expect(reads.count == 4)
    #expect(submissions.count == 3)
  }

  @Test("The last failure is told when there are no attempts left")
  func exhausted() async throws {
    let calls = Calls()
    let router = Self.reading(calls, .max, Self.busy)
    try await ScriptedServer.run(router, configuration: Self.configuration()) { client, _ in
      let error = await #expect(throws: RPCClientError.self) {
        try await client.customerState(Self.read)
      }
      #expect(error?.code == .status(.resourceExhausted))
      #expect(error?.retryDelay == .milliseconds(2))
      #expect(error?.wasSent == true)
    }
    #expect(calls.count == 4)
  }

  @Test("Of several failures the last one that a server may have seen is told, else the last one")
  func told() {
    let (closed, gone) = (RPCClientError.closed.unsent, RPCClientError(.unreachable, "gone"))
    let (busy, away) = (RPCClientError(Self.busy), RPCClientError(Self.away))
    let cases: [([RPCClientError], RPCClientError)] = [
      ([closed], closed), ([closed, gone], gone), ([gone, closed], closed), ([closed, busy], busy),
      ([busy, closed, gone], busy), ([busy, closed, away], away),
    ]
    for (failures, told) in cases {
      let reported = failures.reduce(nil as RPCClientError?) { $1.told(after: $0) }
      #expect(reported == told, "\(failures)")
    }
  }

  @Test("What a failed call says of its connection")
  func outcomes() {
    let cases: [(RPCClientError, ConnectionPool.State.Outcome)] = [
      (.deadlineExceeded, .silent), (.deadlineExceeded.unsent, .unknown),
      (.cancelled, .givenUp), (.cancelled.unsent, .unknown),
      (RPCClientError(Self.away), .answered),
      (RPCClientError(RPCStatus(.deadlineExceeded, "late")), .answered),
      (RPCClientError(RPCStatus(.cancelled, "stopped")), .answered), (.tooLarge.unsent, .unknown),
      (.closed, .closed), (.closed.unsent, .closed),
    ]
    for (error, outcome) in cases { #expect(error.outcome == outcome, "\(error)") }
  }

  @Test(
    "What another attempt would not change, or might do twice, is asked for once",
    arguments: [
      RPCStatus(.notFound, "no"), RPCStatus(.invalidArgument, "no"), RPCStatus(.internal, "no"),
      RPCStatus(.resourceExhausted, "no hint"), RPCStatus(.deadlineExceeded, "late"),
    ])
  func once(status: RPCStatus) async throws {
    let calls = Calls()
    let router = Self.reading(calls, .max, status)
    try await ScriptedServer.run(router, configuration: Self.configuration()) { client, _ in
      await #expect(throws: RPCClientError.self) { try await client.customerState(Self.read) }
    }
    #expect(calls.count == 1)
  }

  @Test("A grant without an id is added once, one with an id again")
  func grants() async throws {
    let calls = Calls()
    var router = RPCRouter()
    let grant = Grant(
      id: "7c9e6679-7425-40de-944b-e07fc1f90ae7", scope: Self.scope, accountID: "a",
      entitlementID: "pro", starts: 4, reason: "r", author: "a", createdAt: 4)
    calls.fail(
      WireMethods.addGrant, times: .max, with: Self.away,
      then: GrantResponse(grant: grant, isChanged: true, revision: 1), in: &router)
    try await ScriptedServer.run(router, configuration: Self.configuration()) { client, _ in
      var request = AddGrantRequest(
        scope: Self.scope, accountID: "a", entitlementID: "pro", reason: "r", onBehalfOf: "a")
      await #expect(throws: RPCClientError.self) { try await client.addGrant(request) }
      #expect(calls.count == 1)
      request.grantID = grant.id
      await #expect(throws: RPCClientError.self) { try await client.addGrant(request) }
      #expect(calls.count == 5)
    }
  }

  @Test("Nothing is repeated when that is switched off")
  func off() async throws {
    let calls = Calls()
    let router = Self.reading(calls, .max, Self.away)
    try await ScriptedServer.run(router, configuration: Self.configuration(.off)) { client, _ in
      await #expect(throws: RPCClientError.self) { try await client.customerState(Self.read) }
    }
    #expect(calls.count == 1)
  }

  @Test("An outage sees no more than the budget beyond the calls")
  func budget() async throws {
    let calls = Calls()
    let router = Self.reading(calls, .max, Self.away)
    let policy = RetryPolicy(
      maximumAttempts: 10, initialBackoff: .milliseconds(1), maximumBackoff: .milliseconds(1),
      percentOfCalls: 20, burst: 5)
    try await ScriptedServer.run(router, configuration: Self.configuration(policy)) { client, _ in
      for _ in 0..<50 {
        await #expect(throws: RPCClientError.self) { try await client.customerState(Self.read) }
      }
    }
    // A fifth of the calls beyond the first burst, which the first call does not add to.
    #expect((60...65).contains(calls.count), "\(calls.count)")
  }

  @Test("A budget without bounds is one")
  func unboundedBudget() {
    let budget = RetryBudget(RetryPolicy(percentOfCalls: .max, burst: .max))
    budget.callMade()
    for _ in 0..<1_000 { #expect(budget.take()) }
    let none = RetryBudget(RetryPolicy(percentOfCalls: .max, burst: 0))
    none.callMade()
    #expect(!none.take())
  }

  @Test("One deadline is for all attempts, and each tells the server what is left")
  func deadline() async throws {
    let calls = Calls()
    let status = RPCStatus(.unavailable, "away", retryDelay: .milliseconds(2_000))
    let router = Self.reading(calls, .max, status)
    let configuration = Self.configuration(timeout: .milliseconds(5_000))
    try await ScriptedServer.run(router, configuration: configuration) { client, _ in
      let start = ContinuousClock.now
      let error = await #expect(throws: RPCClientError.self) {
        try await client.customerState(Self.read)
      }
      // What would come after the deadline is not waited for.
      #expect(start.duration(to: .now) < .milliseconds(5_000))
      #expect(error?.code == .status(.unavailable))
    }
    let left = calls.seen.withLock { $0.map { $0 ?? .seconds(1_000) } }
    #expect((2...3).contains(left.count))
    for (number, left) in left.enumerated() {
      #expect(left <= .milliseconds(5_000 - 2_000 * number))
    }
  }

  @Test("A connection that breaks under a call: a read is sent again, a deletion never")
  func broken() async throws {
    let server = try await BreakingServer.start()
    let configuration = EntitlementClientConfiguration(
      timeout: .seconds(20), connectionsPerAddress: 1, waitingTime: .seconds(10),
      retries: RetryPolicy(maximumAttempts: 3, initialBackoff: .milliseconds(1)))
    let client = EntitlementClient(server.address, configuration: configuration)
    let deletion = await #expect(throws: RPCClientError.self) {
      try await client.deleteCustomer(
        DeleteCustomerRequest(scope: Self.scope, accountID: "a", reason: "r", onBehalfOf: "a"))
    }
    #expect(deletion?.code == .connectionClosed)
    #expect(deletion?.wasSent == true)
    #expect(server.requests == 1)
    let read = await #expect(throws: RPCClientError.self) {
      try await client.customerState(Self.read)
    }
    #expect(read?.code == .connectionClosed)
    #expect(server.requests == 4)
    await client.close()
    try await server.stop()
  }

  @Test("Waits double up to their limit, and are at random below it")
  func backoff() {
    let backoff = Backoff(initial: .milliseconds(50), maximum: .seconds(1))
    #expect(
      (1...7).map { backoff.limit(after: $0) / .milliseconds(1) }
        == [50, 100, 200, 400, 800, 1000, 1000])
    #expect(backoff.limit(after: .max) == .seconds(1))
    let delays = (0..<200).map { _ in backoff.delay(after: 3) }
    #expect(delays.allSatisfy { $0 >= .zero && $0 <= .milliseconds(200) })
    #expect(Set(delays).count > 100)
    let long = (0..<200).map { _ in backoff.longDelay(after: 3) }
    #expect(long.allSatisfy { $0 >= .milliseconds(100) && $0 <= .milliseconds(200) })
  }
}
