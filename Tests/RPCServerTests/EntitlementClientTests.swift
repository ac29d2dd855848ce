import EntitlementDomain
import Logging
import NIOCore
import RPCClient
import RPCServer
import Testing
import Wire

/// The typed client against a real server that answers from a script.
@Suite("EntitlementClient")
struct EntitlementClientTests {
  @Test("Each call reaches its method with its request and gives back the answer")
  func calls() async throws {
    let customer = CustomerSelector.account("account-1")
    let scope = Self.scope
    let get = GetCustomerStateRequest(customer: customer, scope: scope, ifRevisionDiffers: 8)
    let batch = BatchGetCustomerStateRequest(customers: [customer, customer], scope: scope)
    let check = CheckEntitlementRequest(customer: customer, scope: scope, entitlementID: "pro")
    let submission = SubmitSignedTransactionsRequest(signedPayloads: ["e30.e30.AA"])
    let notification = SubmitNotificationRequest(signedPayload: "e30.e30.AB")
    let state = Self.state(of: "account-1")
    let checked = CheckEntitlementResponse(
      isGranted: true, until: 5, nextTransitionAt: 5, revision: 8)
    let submitted = SubmitSignedTransactionsResponse(
      results: [SubmittedItemResult(verdict: .invalidSignature, detail: "no")], customers: [])
    let notified = SubmitNotificationResponse(verdict: .ok, isDuplicate: true)

    var router = RPCRouter()
    Self.answer(WireMethods.getCustomerState, in: &router) { request in
      request == get ? .notModified(revision: 8) : .state(state)
    }
    Self.answer(WireMethods.batchGetCustomerState, in: &router) { request in
      BatchGetCustomerStateResponse(results: request == batch ? [.state(state)] : [])
    }
    Self.answer(WireMethods.checkEntitlement, in: &router) { request in
      request == check
        ? checked
        : CheckEntitlementResponse(
          isGranted: false, until: nil, nextTransitionAt: nil, revision: 0)
    }
    Self.answer(WireMethods.submitSignedTransactions, in: &router) { request in
      request == submission
        ? submitted : SubmitSignedTransactionsResponse(results: [], customers: [])
    }
    Self.answer(WireMethods.submitNotification, in: &router) { request in
      request == notification ? notified : SubmitNotificationResponse(verdict: .unrecognized)
    }
    Self.answer(WireMethods.checkHealth, in: &router) { request in
      HealthCheckResponse(status: request.service == "" ? .serving : .notServing)
    }
    try await run(router) { client async throws in
      #expect(try await client.customerState(get) == .notModified(revision: 8))
      let unconditional = GetCustomerStateRequest(customer: customer, scope: scope)
      #expect(try await client.customerState(unconditional) == .state(state))
      #expect(try await client.customerStates(batch).results == [.state(state)])
      #expect(try await client.checkEntitlement(check) == checked)
      #expect(try await client.submitSignedTransactions(submission) == submitted)
      #expect(try await client.submitNotification(notification) == notified)
      #expect(try await client.health() == .serving)
      #expect(try await client.health(of: ServiceNames.submissions) == .notServing)
    }
  }

  @Test("All customers come page by page, an empty page in the middle included")
  func pages() async throws {
    let pages = [["a", "b"], [], ["c"]]
    var router = RPCRouter()
    Self.answer(WireMethods.listCustomers, in: &router) { request in
      let page = request.pageToken.flatMap(Int.init) ?? 0
      return ListCustomersResponse(
        customers: request.pageSize == 2 ? pages[page].map { Self.state(of: $0) } : [],
        nextPageToken: page + 1 < pages.count ? "\(page + 1)" : nil)
    }
    try await run(router) { client in
      var seen: [String] = []
      for try await customer in client.customers(in: Self.scope, pageSize: 2) {
        seen.append(customer.accountID?.rawValue ?? "")
      }
      #expect(seen == ["a", "b", "c"])
    }
  }

  @Test("A watch gives each status and ends when the server ends it")
  func watch() async throws {
    var router = RPCRouter()
    let method = WireMethods.watchHealth
    router.serverStreaming(method.service, method.name) { call, stream in
      let isAsked = (try? HealthCheckRequest.decode(from: call.payload))?.service == "s"
      let statuses: [HealthCheckResponse.ServingStatus] =
        isAsked ? [.notServing, .serving, .serviceUnknown] : []
      for status in statuses {
        if let message = try? HealthCheckResponse(status: status).encoded() { stream.send(message) }
      }
      stream.finish()
    }
    try await run(router) { client in
      var seen: [HealthCheckResponse.ServingStatus] = []
      for try await status in try client.watchHealth(of: "s") { seen.append(status) }
      #expect(seen == [.notServing, .serving, .serviceUnknown])
    }
  }

  @Test("What goes wrong is told as the status that fits")
  func errors() async throws {
    var router = RPCRouter()
    let check = WireMethods.checkHealth
    router.unary(check.service, check.name) { _, answer in
      answer.succeed(ByteBuffer(bytes: [0xff]))
    }
    let notification = WireMethods.submitNotification
    router.unary(notification.service, notification.name) { _, answer in
      answer.fail(RPCStatus(.resourceExhausted, "full", retryDelay: .milliseconds(200)))
    }
    try await run(router) { client in
      let unreadable = await #expect(throws: RPCClientError.self) { try await client.health() }
      #expect(unreadable?.code == .status(.internal))
      let unsendable = await #expect(throws: RPCClientError.self) {
        try await client.health(of: "a\0b")
      }
      #expect(unsendable?.code == .status(.invalidArgument))
      let refused = await #expect(throws: RPCClientError.self) {
        try await client.submitNotification(SubmitNotificationRequest(signedPayload: "e"))
      }
      #expect(refused?.code == .status(.resourceExhausted))
      #expect(refused?.retryDelay == .milliseconds(200))
      let unknown = await #expect(throws: RPCClientError.self) {
        try await client.listCustomers(ListCustomersRequest(scope: Self.scope))
      }
      #expect(unknown?.code == .status(.unimplemented))
    }
  }

  private static let scope = AppScope(bundleID: "com.example.scribe", environment: .sandbox)

  private static func state(of account: String) -> CustomerState {
    CustomerState(
      scope: scope, accountID: AccountID(account), revision: 8, evaluatedAt: 4, coreState: .new,
      callsToAction: [.merchandise], entitlements: [], products: [], groups: [],
      nextTransitionAt: nil)
  }

  private static func answer<Request, Response>(
    _ method: WireMethod<Request, Response>, in router: inout RPCRouter,
    _ body: @escaping @Sendable (Request) throws(MessageError) -> Response
  ) {
    router.unary(method.service, method.name) { call, answer in
      do throws(MessageError) {
        answer.succeed(try body(try Request.decode(from: call.payload)).encoded())
      } catch {
        answer.fail(RPCStatus(.invalidArgument, error.description))
      }
    }
  }

  /// Runs `body` with a client of a server with these methods, and closes both afterwards.
  private func run(
    _ router: RPCRouter, _ body: (EntitlementClient) async throws -> Void
  ) async throws {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let server = RPCServer(router: router, logger: logger)
    let addresses = try await server.start(on: [.tcp(host: "127.0.0.1", port: 0)])
    let client = try await EntitlementClient.connect(to: addresses[0], timeout: .seconds(20))
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(client))
    } catch {
      result = .failure(error)
    }
    await client.close()
    await server.shutDown()
    try result.get()
  }
}
