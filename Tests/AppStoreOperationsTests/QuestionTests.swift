import AppStoreOperations
import AppStoreRecovery
import AppStoreServerAPI
import EntitlementDomain
import EntitlementService
import EntitlementStore
import NIOCore
import RecoverySupport
import SQLiteStore
import StoreSimulator
import Testing
import Verification
import Wire

@Suite("Questions to the App Store", .timeLimit(.minutes(5)))
struct QuestionTests {
  @Test func `a transaction is verified and shown, and stored only if that is asked for`()
    async throws
  {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      let desk = bench.operations()
      var request = GetTransactionRequest(scope: bench.scope, transactionID: TransactionID(id))
      let page = try await desk.payloads(.transaction(request), .patient)
      #expect(page.scope == bench.scope && page.payloads.count == 1)
      let payload = try #require(page.payloads.first)
      guard case .transaction(let fact) = try payload.result.get().content else {
        Issue.record("no transaction")
        return
      }
      #expect(fact.transactionID.rawValue == id)
      #expect(payload.stored == nil)
      #expect(try await bench.revision(of: id) == 0)

      request.stores = true
      let stored = try await desk.payloads(.transaction(request), .patient)
      #expect(stored.payloads.first?.stored?.disposition == .added)
      #expect(stored.payloads.first?.stored?.link == .unlinked)
      #expect(try await bench.revision(of: id) > 0)
      // A question changes nothing, so the trail has none.
      #expect(try await bench.trail().isEmpty)
    }
  }

  @Test func `Sandbox is asked when Production does not know an id, if the caller may use it`()
    async throws
  {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      let production = AppScope(bundleID: bench.scope.bundleID, environment: .production)
      let request = GetTransactionRequest(
        scope: production, orSandbox: true, transactionID: TransactionID(id))
      let page = try await bench.operations().payloads(.transaction(request), .patient)
      #expect(page.scope == bench.scope)

      let only = AppStoreCall(deadline: nil, permits: { $0 == production })
      await expectFailure(.notFound, code: 4_040_010) {
        _ = try await bench.operations().payloads(.transaction(request), only)
      }
      let unknown = GetTransactionRequest(
        scope: production, orSandbox: true, transactionID: "987654321")
      await expectFailure(.notFound, code: 4_040_010) {
        _ = try await bench.operations().payloads(.transaction(unknown), .patient)
      }
    }
  }

  @Test func `a history is read page by page, and goes on after its revision`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.advance(days: 31 * 44)
      let desk = bench.operations()
      var request = ListTransactionsRequest(scope: bench.scope, id: id, pageSize: 30)
      let first = try await desk.payloads(.history(request), .patient)
      #expect(first.payloads.count == 40 && first.hasMore)
      request.revision = first.revision
      let second = try await desk.payloads(.history(request), .patient)
      #expect((1..<20).contains(second.payloads.count) && !second.hasMore)
      let all = (first.payloads + second.payloads).map(\.signedPayload)
      #expect(Set(all).count == all.count)
      // A revision is of one environment.
      request.orSandbox = true
      let error = await #expect(throws: ServiceError.self) {
        _ = try await desk.payloads(.history(request), .patient)
      }
      #expect(error?.code == .invalidArgument(field: "or_sandbox"))

      // As many bytes as an answer may have end a page, too.
      var limits = AppStoreOperationLimits()
      limits.pageBytes = 1
      let short = try await bench.operations(limits).payloads(
        .history(ListTransactionsRequest(scope: bench.scope, id: id, pageSize: 200)), .patient)
      #expect(short.payloads.count == 20 && short.hasMore)
    }
  }

  @Test func `filters select, and wrong ones are refused before Apple is asked`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      let desk = bench.operations()
      func count(_ change: (inout ListTransactionsRequest) -> Void) async throws -> Int {
        var request = ListTransactionsRequest(scope: bench.scope, id: id)
        change(&request)
        return try await desk.payloads(.history(request), .patient).payloads.count
      }
      #expect(try await count { _ in } == 1)
      #expect(try await count { $0.productTypes = ["AUTO_RENEWABLE"] } == 1)
      #expect(try await count { $0.productTypes = ["CONSUMABLE"] } == 0)
      #expect(try await count { $0.productIDs = [SimulatedApp.proMonthly.id.rawValue] } == 1)
      #expect(try await count { $0.productIDs = ["other"] } == 0)
      #expect(try await count { $0.revoked = true } == 0)
      #expect(try await count { $0.start = bench.now.advanced(by: 1_000) } == 0)
      #expect(try await count { $0.ownershipType = "FAMILY_SHARED" } == 0)
      let asked = bench.requests
      for wrong: (inout ListTransactionsRequest) -> Void in [
        { $0.productTypes = ["SOMETHING"] }, { $0.productIDs = [""] },
        { $0.subscriptionGroupIDs = [String(repeating: "g", count: 257)] },
      ] {
        var request = ListTransactionsRequest(scope: bench.scope, id: id)
        wrong(&request)
        await #expect(throws: ServiceError.self) {
          _ = try await desk.payloads(.history(request), .patient)
        }
      }
      #expect(bench.requests == asked)
    }
  }

  @Test func `statuses have both payloads, which are stored together`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.advance(hours: 1)
      let request = GetSubscriptionStatusesRequest(scope: bench.scope, id: id, stores: true)
      let statuses = try await bench.operations().statuses(request, .patient)
      let subscription = try #require(statuses.subscriptions.first)
      #expect(statuses.subscriptions.count == 1)
      #expect(subscription.originalTransactionID.rawValue == id && subscription.status == .active)
      for payload in [subscription.transaction, try #require(subscription.renewalInfo)] {
        #expect(payload.stored?.disposition == .added)
      }
      #expect(try await bench.state(of: id).coreState == .active)
      let expired = GetSubscriptionStatusesRequest(
        scope: bench.scope, id: id, statuses: [.expired])
      #expect(try await bench.operations().statuses(expired, .patient).subscriptions.isEmpty)
    }
  }

  @Test func `refunds, app transactions and orders`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      let desk = bench.operations()
      let none = try await desk.payloads(
        .refunds(ListRefundsRequest(scope: bench.scope, id: id)), .patient)
      #expect(none.payloads.isEmpty && none.revision != nil)
      try await bench.act("refund", "{\"transactionId\":\"\(id)\"}")
      let refunds = try await desk.payloads(
        .refunds(ListRefundsRequest(scope: bench.scope, id: id)), .patient)
      #expect(refunds.payloads.count == 1)
      let app = try await desk.payloads(
        .appTransaction(GetAppTransactionRequest(scope: bench.scope, id: id)), .patient)
      #expect(try app.payloads.first?.result.get().kind == .appTransaction)
      let error = await #expect(throws: ServiceError.self) {
        _ = try await desk.payloads(
          .order(LookUpOrderRequest(scope: bench.scope, orderID: "MX1")), .patient)
      }
      #expect(error?.code == .invalidArgument(field: "environment"))
    }
    try await RecoveryBench.run(environment: .production) { bench async throws in
      let answer = try await bench.act(
        "buy", "{\"productId\":\"\(SimulatedApp.proMonthly.id)\",\"customer\":\"anna\"}")
      let transaction = try #require((answer["transactions"] as? [[String: Any]])?.first)
      let order = try #require(transaction["orderId"] as? String)
      let found = try await bench.operations().payloads(
        .order(LookUpOrderRequest(scope: bench.scope, orderID: order)), .patient)
      #expect(found.orderStatus == 0 && found.payloads.count == 1)
      let unknown = try await bench.operations().payloads(
        .order(LookUpOrderRequest(scope: bench.scope, orderID: "MX0000000")), .patient)
      #expect(unknown.orderStatus == 1 && unknown.payloads.isEmpty)
    }
  }

  @Test func `notifications are listed with Apple's attempts, and may be stored`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.advance(days: 31 * 24)
      let desk = bench.operations()
      var request = ListSentNotificationsRequest(
        scope: bench.scope, start: bench.now.advanced(by: -29 * Milliseconds.dayLength),
        stores: true)
      let recent = try await desk.notifications(request, .patient)
      #expect(recent.paginationToken == nil)
      let notification = try #require(recent.notifications.first)
      #expect(notification.stored?.verdict == .ok && notification.stored?.wasKnown == false)
      #expect(notification.attempts.count == 1 && notification.attempts[0].result != "SUCCESS")
      #expect(try await bench.revision(of: id) > 0)
      let again = try await desk.notifications(request, .patient)
      #expect(again.notifications.first?.stored?.wasKnown == true)

      request.transactionID = TransactionID(id)
      #expect(
        try await desk.notifications(request, .patient).notifications.count
          == recent.notifications.count)
      request.notificationType = "DID_RENEW"
      await #expect(throws: ServiceError.self) {
        _ = try await desk.notifications(request, .patient)
      }
      request.transactionID = nil
      request.onlyFailures = true
      #expect(!(try await desk.notifications(request, .patient).notifications.isEmpty))
      request.paginationToken = "elsewhere"
      let error = await #expect(throws: ServiceError.self) {
        _ = try await desk.notifications(request, .patient)
      }
      #expect(error?.code == .invalidArgument(field: "pagination_token"))
    }
  }

  @Test func `pages of notifications have one end of time`() async throws {
    try await RecoveryBench.run { bench async throws in
      _ = try await bench.buyUnheard()
      for name in 0..<45 {
        _ = try await bench.buy(SimulatedApp.proMonthly, by: "customer-\(name)")
      }
      let desk = bench.operations()
      var request = ListSentNotificationsRequest(
        scope: bench.scope, start: bench.now.advanced(by: -Milliseconds.dayLength),
        end: bench.now.advanced(by: Milliseconds.dayLength))
      var found: [String] = []
      var pages = 0
      repeat {
        let page = try await desk.notifications(request, .patient)
        found += page.notifications.map(\.payload.signedPayload)
        request.paginationToken = page.paginationToken
        // Apple takes a token only with the same end.
        request.end = nil
        pages += 1
      } while request.paginationToken != nil
      #expect(found.count == 46 && Set(found).count == 46 && pages == 3)
    }
  }

  @Test func `what the server does not trust is shown with its verdict, and not stored`()
    async throws
  {
    try await RecoveryBench.run(isTrusting: false) { bench async throws in
      let id = try await bench.buyUnheard()
      let request = GetTransactionRequest(
        scope: bench.scope, transactionID: TransactionID(id), stores: true)
      let page = try await bench.operations().payloads(.transaction(request), .patient)
      guard case .failure(let refusal)? = page.payloads.first?.result else {
        Issue.record("it was accepted")
        return
      }
      #expect(refusal.verdict == .untrustedChain)
      #expect(page.payloads.first?.stored?.verdict == .untrustedChain)
      #expect(try await bench.revision(of: id) == 0)
    }
  }

  @Test func `Apple's errors keep their codes, and have no ids`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      let desk = bench.operations()
      func ask() async throws {
        _ = try await desk.payloads(
          .transaction(GetTransactionRequest(scope: bench.scope, transactionID: TransactionID(id))),
          .patient)
      }
      let cases: [(String, AppStoreFailure.Kind, Int64?)] = [
        (#""kind":"error","errorCode":4040010"#, .notFound, 4_040_010),
        (#""kind":"error","errorCode":4000006"#, .invalidRequest, 4_000_006),
        (#""kind":"error","errorCode":4030004"#, .refused, 4_030_004),
        (#""kind":"error","errorCode":4040004"#, .unavailable, 4_040_004),
        (#""kind":"error","errorCode":5000000"#, .unavailable, 5_000_000),
        (#""kind":"unauthorized""#, .keyRefused, nil),
        (#""kind":"cut""#, .unavailable, nil),
      ]
      for (fault, kind, code) in cases {
        try await bench.addFault(#"{"on":"api",\#(fault)}"#)
        let error = await #expect(throws: ServiceError.self) { try await ask() }
        guard case .appStore(let failure)? = error?.code else {
          Issue.record("\(fault): \(String(describing: error))")
          continue
        }
        #expect(failure.kind == kind && failure.code == code, "\(fault)")
        #expect(error?.message.contains(id) == false)
        if let code { #expect(error?.message.contains("\(code)") == true, "\(fault)") }
        try await bench.clearFaults()
      }
      try await ask()
    }
  }

  @Test func `a rate of Apple's tells how long to wait`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.addFault(#"{"on":"api","kind":"error","errorCode":4290000}"#)
      let error = await #expect(throws: ServiceError.self) {
        _ = try await bench.operations().payloads(
          .transaction(GetTransactionRequest(scope: bench.scope, transactionID: TransactionID(id))),
          .patient)
      }
      guard case .appStore(let failure)? = error?.code else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(failure.kind == .rateLimited && failure.isRetryable)
    }
  }

  @Test func `the caller's deadline ends the wait for Apple`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.addFault(#"{"on":"api","kind":"slow","delayMs":60000}"#)
      await expectFailure(.deadlineExceeded) {
        _ = try await bench.operations().payloads(
          .transaction(GetTransactionRequest(scope: bench.scope, transactionID: TransactionID(id))),
          AppStoreCall(deadline: .now() + .milliseconds(500)))
      }
    }
  }

  @Test func `a call ends after the time that calls have, whatever its deadline is`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.addFault(#"{"on":"api","kind":"slow","delayMs":60000}"#)
      var limits = AppStoreOperationLimits()
      limits.callTime = .seconds(2)
      for deadline: NIODeadline? in [nil, NIODeadline.now() + .minutes(10)] {
        await expectFailure(.deadlineExceeded) {
          _ = try await bench.operations(limits).payloads(
            .transaction(
              GetTransactionRequest(scope: bench.scope, transactionID: TransactionID(id))),
            AppStoreCall(deadline: deadline))
        }
      }
    }
  }

  @Test func `an app without a key and an environment without the App Store are refused`()
    async throws
  {
    try await RecoveryBench.run { bench async throws in
      let desk = bench.operations()
      for scope in [
        AppScope(bundleID: "com.example.other", environment: .production),
        AppScope(bundleID: bench.scope.bundleID, environment: .xcode),
      ] {
        let error = await #expect(throws: ServiceError.self) {
          _ = try await desk.payloads(
            .transaction(GetTransactionRequest(scope: scope, transactionID: "1")), .patient)
        }
        #expect(error?.code == .failedPrecondition)
        #expect(
          error?.message.contains("this server has no key of the App Store Server API") == true)
      }
      #expect(bench.requests == 0)
    }
  }

  @Test func `calls beyond the limit are refused at once`() async throws {
    try await RecoveryBench.run { bench async throws in
      var limits = AppStoreOperationLimits()
      limits.calls = 0
      await expectFailure(.busy) {
        _ = try await bench.operations(limits).payloads(
          .transaction(GetTransactionRequest(scope: bench.scope, transactionID: "1")), .patient)
      }
    }
  }

  @Test func `a call gives its place back, also when it fails`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      var limits = AppStoreOperationLimits()
      limits.calls = 1
      let desk = bench.operations(limits)
      await expectFailure(.notFound, code: 4_040_010) {
        _ = try await desk.payloads(
          .transaction(GetTransactionRequest(scope: bench.scope, transactionID: "987654321")),
          .patient)
      }
      for _ in 0..<2 {
        let page = try await desk.payloads(
          .transaction(GetTransactionRequest(scope: bench.scope, transactionID: TransactionID(id))),
          .patient)
        #expect(page.payloads.count == 1)
      }
    }
  }
}
