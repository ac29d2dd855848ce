import EntitlementDomain
import Framing
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
    let scope = ScriptedServer.scope
    let get = GetCustomerStateRequest(customer: customer, scope: scope, ifRevisionDiffers: 8)
    let batch = BatchGetCustomerStateRequest(customers: [customer, customer], scope: scope)
    let check = CheckEntitlementRequest(customer: customer, scope: scope, entitlementID: "pro")
    let submission = SubmitSignedTransactionsRequest(signedPayloads: ["e30.e30.AA"])
    let notification = SubmitNotificationRequest(signedPayload: "e30.e30.AB")
    let state = ScriptedServer.state(of: "account-1")
    let checked = CheckEntitlementResponse(
      isGranted: true, until: 5, nextTransitionAt: 5, revision: 8)
    let submitted = SubmitSignedTransactionsResponse(
      results: [SubmittedItemResult(verdict: .invalidSignature, detail: "no")], customers: [])
    let notified = SubmitNotificationResponse(verdict: .ok, isDuplicate: true)

    var router = RPCRouter()
    ScriptedServer.answer(WireMethods.getCustomerState, in: &router) { request in
      request == get ? .notModified(revision: 8) : .state(state)
    }
    ScriptedServer.answer(WireMethods.batchGetCustomerState, in: &router) { request in
      BatchGetCustomerStateResponse(results: request == batch ? [.state(state)] : [])
    }
    ScriptedServer.answer(WireMethods.checkEntitlement, in: &router) { request in
      request == check
        ? checked
        : CheckEntitlementResponse(
          isGranted: false, until: nil, nextTransitionAt: nil, revision: 0)
    }
    ScriptedServer.answer(WireMethods.submitSignedTransactions, in: &router) { request in
      request == submission
        ? submitted : SubmitSignedTransactionsResponse(results: [], customers: [])
    }
    ScriptedServer.answer(WireMethods.submitNotification, in: &router) { request in
      request == notification ? notified : SubmitNotificationResponse(verdict: .unrecognized)
    }
    ScriptedServer.answer(WireMethods.checkHealth, in: &router) { request in
      request.service == ""
        ? HealthCheckResponse(status: .serving, version: "1.2.3")
        : HealthCheckResponse(status: .notServing)
    }
    try await ScriptedServer.run(router) { client async throws in
      #expect(try await client.customerState(get) == .notModified(revision: 8))
      let unconditional = GetCustomerStateRequest(customer: customer, scope: scope)
      #expect(try await client.customerState(unconditional) == .state(state))
      #expect(try await client.customerStates(batch).results == [.state(state)])
      #expect(try await client.checkEntitlement(check) == checked)
      #expect(try await client.submitSignedTransactions(submission) == submitted)
      #expect(try await client.submitNotification(notification) == notified)
      #expect(
        try await client.health() == HealthCheckResponse(status: .serving, version: "1.2.3"))
      // A server that does not send its version.
      #expect(
        try await client.health(of: ServiceNames.submissions)
          == HealthCheckResponse(status: .notServing))
    }
  }

  @Test("Each call of an operator reaches its method with its request and gives back the answer")
  func administration() async throws {
    let scope = ScriptedServer.scope
    let id: GrantID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
    let explain = ExplainCustomerStateRequest(
      customer: .account("account-1"), scope: scope, at: 5, catalogYAML: "apps: []")
    let add = AddGrantRequest(
      grantID: id, scope: scope, accountID: "account-1", entitlementID: "pro", reason: "an outage",
      onBehalfOf: "support")
    let withdraw = WithdrawGrantRequest(
      grantID: id, scope: scope, reason: "over", onBehalfOf: "support")
    let list = ListGrantsRequest(scope: scope, accountID: "account-1")
    let changes = ListChangesRequest(afterSequence: 7, pageSize: 2)
    let explanation = Explanation(
      state: ScriptedServer.state(of: "account-1"),
      entitlements: [
        EntitlementExplanation(
          entitlementID: "pro", isConferred: false,
          reasoning: Reasoning(
            decision: Decision(rule: 31, sentence: "Nothing confers it."), considered: [],
            changes: []))
      ], groups: [])
    let grant = Grant(
      id: id, scope: scope, accountID: "account-1", entitlementID: "pro", starts: 4,
      reason: "an outage", author: "support", createdAt: 4)
    let catalog = CatalogResponse(
      digest: "00ff", inForceSince: 3, appCount: 1, productCount: 2, entitlementCount: 3,
      grandfatheringRuleCount: 4)
    let reloaded = CatalogResponse(
      digest: "0ff0", inForceSince: 5, appCount: 1, productCount: 2, entitlementCount: 3,
      grandfatheringRuleCount: 4,
      lastAttempt: CatalogAttempt(at: 5, isValid: true, digest: "0ff0"))
    let change = ChangeEntry(
      sequence: 8, scope: scope, subject: .account("account-1"), committedAt: 4, hasGrants: true)
    let statistics = GetStatisticsResponse(
      counters: [StatisticsCounter(name: "grants.added", value: 1)], version: "1.2.3")

    var router = RPCRouter()
    ScriptedServer.answer(
      WireMethods.explainCustomerState, in: &router, to: explain,
      with: ExplainCustomerStateResponse(explanation: explanation))
    ScriptedServer.answer(
      WireMethods.addGrant, in: &router, to: add,
      with: GrantResponse(grant: grant, isChanged: true, revision: 8))
    ScriptedServer.answer(
      WireMethods.withdrawGrant, in: &router, to: withdraw,
      with: GrantResponse(grant: grant, isChanged: false, revision: 9))
    ScriptedServer.answer(
      WireMethods.listGrants, in: &router, to: list, with: ListGrantsResponse(grants: [grant]))
    ScriptedServer.answer(WireMethods.getCatalog, in: &router) { _ in catalog }
    ScriptedServer.answer(WireMethods.reloadCatalog, in: &router) {
      $0.isDryRun ? catalog : reloaded
    }
    ScriptedServer.answer(
      WireMethods.listChanges, in: &router, to: changes,
      with: ListChangesResponse(changes: [change]))
    ScriptedServer.answer(WireMethods.getStatistics, in: &router) { _ in statistics }
    let server = GetServerResponse(
      version: "1.2.3", nodeName: "node-1", storeKind: .postgresql, catalogDigest: "00ff",
      warnings: ["w"])
    ScriptedServer.answer(WireMethods.getServer, in: &router) { _ in server }
    try await ScriptedServer.run(router) { client async throws in
      #expect(try await client.explain(explain).explanation == explanation)
      #expect(
        try await client.addGrant(add)
          == GrantResponse(grant: grant, isChanged: true, revision: 8))
      #expect(
        try await client.withdrawGrant(withdraw)
          == GrantResponse(grant: grant, isChanged: false, revision: 9))
      #expect(try await client.grants(list).grants == [grant])
      #expect(try await client.catalog() == catalog)
      #expect(try await client.reloadCatalog() == reloaded)
      #expect(try await client.reloadCatalog(ReloadCatalogRequest(isDryRun: true)) == catalog)
      #expect(try await client.changes(changes).changes == [change])
      #expect(try await client.statistics() == statistics)
      #expect(try await client.server() == server)
    }
  }

  @Test("All customers come page by page, an empty page in the middle included")
  func pages() async throws {
    let pages = [["a", "b"], [], ["c"]]
    var router = RPCRouter()
    ScriptedServer.answer(WireMethods.listCustomers, in: &router) { request in
      let page = request.pageToken.flatMap(Int.init) ?? 0
      return ListCustomersResponse(
        customers: request.pageSize == 2 ? pages[page].map { ScriptedServer.state(of: $0) } : [],
        nextPageToken: page + 1 < pages.count ? "\(page + 1)" : nil)
    }
    try await ScriptedServer.run(router) { client in
      var seen: [String] = []
      for try await customer in client.customers(in: ScriptedServer.scope, pageSize: 2) {
        seen.append(customer.accountID?.rawValue ?? "")
      }
      #expect(seen == ["a", "b", "c"])
    }
  }

  @Test("A watch gives each answer and ends when the server ends it")
  func watch() async throws {
    let answers = [
      HealthCheckResponse(status: .notServing, version: "1.2.3"),
      HealthCheckResponse(status: .serving, version: "1.2.4"),
      HealthCheckResponse(status: .serviceUnknown),
    ]
    var router = RPCRouter()
    let method = WireMethods.watchHealth
    router.serverStreaming(method) { call, stream in
      let isAsked = (try? HealthCheckRequest.decode(from: call.payload))?.service == "s"
      for answer in isAsked ? answers : [] {
        if let message = try? answer.encoded() { stream.send(message) }
      }
      stream.finish()
    }
    try await ScriptedServer.run(router) { client in
      var seen: [HealthCheckResponse] = []
      for try await answer in try client.watchHealth(of: "s") { seen.append(answer) }
      #expect(seen == answers)
    }
  }

  @Test("What goes wrong is told as the status that fits")
  func errors() async throws {
    var router = RPCRouter()
    let check = WireMethods.checkHealth
    router.unary(check) { _, answer in
      answer.succeed(ByteBuffer(bytes: [0xff]))
    }
    let notification = WireMethods.submitNotification
    router.unary(notification) { _, answer in
      answer.fail(RPCStatus(.resourceExhausted, "full", retryDelay: .milliseconds(200)))
    }
    try await ScriptedServer.run(router) { client in
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
        try await client.listCustomers(ListCustomersRequest(scope: ScriptedServer.scope))
      }
      #expect(unknown?.code == .status(.unimplemented))
    }
  }
}
