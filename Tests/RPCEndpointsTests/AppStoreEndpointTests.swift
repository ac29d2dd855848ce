import AccessControl
import EntitlementDomain
import EntitlementService
import Framing
import RPCClient
import ServiceSupport
import StoreSimulator
import Synchronization
import Testing
import Verification
import Wire

@Suite("The App Store Server API on the wire", .timeLimit(.minutes(1)))
struct AppStoreEndpointTests {
  private static let scope = ServiceBench.scope

  /// Answers every question the same way.
  private struct Desk: AppStoreDesk {
    var page = CheckedPage(scope: AppStoreEndpointTests.scope, payloads: [])
    var failure: ServiceError?

    private func answer<Value>(_ value: Value) throws(ServiceError) -> Value {
      if let failure { throw failure }
      return value
    }

    func payloads(
      _ question: AppStoreQuestion, _ call: AppStoreCall
    ) async throws(ServiceError) -> CheckedPage { try answer(page) }

    func statuses(
      _ request: GetSubscriptionStatusesRequest, _ call: AppStoreCall
    ) async throws(ServiceError) -> CheckedStatuses {
      try answer(CheckedStatuses(scope: request.scope, subscriptions: []))
    }

    func notifications(
      _ request: ListSentNotificationsRequest, _ call: AppStoreCall
    ) async throws(ServiceError) -> CheckedNotifications {
      try answer(CheckedNotifications(scope: request.scope, notifications: []))
    }

    func testNotification(
      _ request: GetTestNotificationRequest, _ call: AppStoreCall
    ) async throws(ServiceError) -> CheckedNotifications {
      try answer(CheckedNotifications(scope: request.scope, notifications: []))
    }

    func extensionStatus(
      _ request: GetRenewalExtensionRequest, _ call: AppStoreCall
    ) async throws(ServiceError) -> GetRenewalExtensionResponse {
      try answer(
        GetRenewalExtensionResponse(
          scope: request.scope, productID: request.productID,
          requestIdentifier: request.requestIdentifier))
    }

    func change(
      _ change: AppStoreChange, _ call: AppStoreCall
    ) async throws(ServiceError) -> AppStoreChangeResponse {
      try answer(AppStoreChangeResponse(scope: AppStoreEndpointTests.scope, isDryRun: true))
    }
  }

  private static let question = GetTransactionRequest(scope: scope, transactionID: "1")

  @Test(
    "Each error of Apple's has a status, a reason and what programs may branch on",
    arguments: [
      (AppStoreFailure.Kind.notFound, RPCCode.notFound, "APP_STORE_REFUSED"),
      (.invalidRequest, .invalidArgument, "APP_STORE_REFUSED"),
      (.refused, .failedPrecondition, "APP_STORE_REFUSED"),
      (.keyRefused, .failedPrecondition, "APP_STORE_KEY_REFUSED"),
      (.rateLimited, .resourceExhausted, "APP_STORE_RATE_LIMITED"),
      (.busy, .resourceExhausted, "TOO_MANY_APP_STORE_CALLS"),
      (.unavailable, .unavailable, "APP_STORE_UNAVAILABLE"),
      (.deadlineExceeded, .deadlineExceeded, "APP_STORE_UNAVAILABLE"),
      (.cancelled, .cancelled, "APP_STORE_UNAVAILABLE"),
    ])
  func statuses(kind: AppStoreFailure.Kind, code: RPCCode, reason: String) async throws {
    var desk = Desk()
    desk.failure = ServiceError(
      .appStore(
        AppStoreFailure(
          kind, status: 404, code: 4_040_010, name: "TransactionIdNotFound", isRetryable: true,
          retryAfter: .seconds(7))), "the App Store: HTTP 404")
    try await ServiceBench.run(desk: desk) { bench async throws in
      let error = await #expect(throws: RPCClientError.self) {
        _ = try await bench.client.transaction(Self.question)
      }
      #expect(error?.code == .status(code))
      #expect(error?.errorInfo?.reason == reason)
      #expect(
        error?.errorInfo?.metadata == [
          "retryable": "true", "http_status": "404", "error_code": "4040010",
          "error_name": "TransactionIdNotFound",
        ])
      #expect(error?.retryDelay == .seconds(7))
    }
  }

  @Test func `no client repeats a change that may have been made`() async throws {
    var desk = Desk()
    desk.failure = ServiceError(
      .appStore(
        AppStoreFailure(
          .unavailable, isRetryable: true, retryAfter: .seconds(1), mayHaveTakenEffect: true)),
      "the App Store: cut")
    try await ServiceBench.run(desk: desk) { bench async throws in
      let error = await #expect(throws: RPCClientError.self) {
        _ = try await bench.client.finishTransaction(
          FinishTransactionRequest(scope: Self.scope, transactionID: "1"))
      }
      #expect(error?.errorInfo?.metadata["may_have_taken_effect"] == "true")
      #expect(error?.retryDelay == nil)
    }
  }

  @Test func `contents that do not fit an answer are left out, and said to be`() async throws {
    let signature = try SigningAuthority.generate()
    let fact = try #require(
      try ServiceBench.signedTransaction(by: signature))
    let payload = CheckedPayload(
      signedPayload: String(repeating: "s", count: 1 << 20), result: .success(fact))
    var desk = Desk()
    desk.page = CheckedPage(
      scope: Self.scope, payloads: [CheckedPayload](repeating: payload, count: 6), revision: "r",
      hasMore: true)
    try await ServiceBench.run(desk: desk) { bench async throws in
      var request = Self.question
      request.includesSigned = true
      let answer = try await bench.client.transaction(request)
      #expect(answer.payloads.count == 6 && answer.hasMore && answer.revision == "r")
      #expect(answer.payloads.map(\.isOmitted) == [false, false, true, true, true, true])
      #expect(answer.payloads.allSatisfy { $0.verdict == .ok && $0.kind == .transaction })
      // Without the signed ones, all fits.
      let short = try await bench.client.transaction(Self.question)
      #expect(short.payloads.allSatisfy { !$0.isOmitted && $0.signedPayload == nil })
      #expect(short.payloads.first?.payload?.contains("\"transactionId\"") == true)
    }
  }

  // MARK: Reads that find nothing (R85)

  /// Counts what it is asked for.
  private final class Fetcher: CustomerFetching {
    let calls = Mutex<[CustomerSelector]>([])
    private let outcome: @Sendable () async throws(ServiceError) -> Bool

    init(_ outcome: @escaping @Sendable () async throws(ServiceError) -> Bool) {
      self.outcome = outcome
    }

    func fetch(
      _ selector: CustomerSelector, in scope: AppScope
    ) async throws(ServiceError) -> Bool {
      calls.withLock { $0.append(selector) }
      return try await outcome()
    }
  }

  private func read(
    _ customer: CustomerSelector, with client: EntitlementClient
  ) async throws -> CustomerState? {
    let answer = try await client.customerState(
      GetCustomerStateRequest(customer: customer, scope: Self.scope, fetchesIfUnknown: true))
    guard case .state(let state) = answer else { return nil }
    return state
  }

  @Test func `only an unknown customer is fetched, and read again (R85)`() async throws {
    let fetcher = Fetcher { () throws(ServiceError) in true }
    try await ServiceBench.run(fetcher: fetcher) { bench async throws in
      let submitted = try await bench.client.submitSignedTransactions(
        SubmitSignedTransactionsRequest(
          signedPayloads: try bench.signed(.firstPurchase, seed: 1).flatMap(\.facts)))
      let chain = try #require(submitted.results.first?.originalTransactionID)
      let state = try await read(.originalTransaction(chain), with: bench.client)
      #expect(state?.revision != 0)
      #expect(fetcher.calls.withLock(\.self).isEmpty)
      #expect(try await read(.transaction("987654321"), with: bench.client)?.coreState == .new)
      #expect(fetcher.calls.withLock(\.self) == [.transaction("987654321")])
    }
  }

  @Test func `an absent customer is answered as without the flag (R85)`() async throws {
    let fetcher = Fetcher { () throws(ServiceError) in false }
    try await ServiceBench.run(fetcher: fetcher) { bench async throws in
      let plain = try await bench.state(of: .originalTransaction("987654321"))
      guard case .state(let expected) = plain else { return }
      #expect(try await read(.originalTransaction("987654321"), with: bench.client) == expected)
      for customer: CustomerSelector in [
        .account("a"), .appAccountToken("7c9e6679-7425-40de-944b-e07fc1f90ae7"),
      ] {
        let error = await #expect(throws: RPCClientError.self) {
          _ = try await read(customer, with: bench.client)
        }
        #expect(error?.code == .status(.invalidArgument))
      }
    }
  }

  @Test func `a fetch needs a permission of its own, and a key`() async throws {
    let reader = BenchAccess.Member(name: "reader", fields: "roles: [reader]")
    let submitter = BenchAccess.Member(name: "submitter", fields: "roles: [submitter]")
    let access = try BenchAccess([reader, submitter])
    try await ServiceBench.run(access: access) { bench async throws in
      func client(_ member: BenchAccess.Member) -> EntitlementClient {
        EntitlementClient(
          bench.addresses[0],
          configuration: EntitlementClientConfiguration(metadata: member.metadata, retries: .off))
      }
      let readers = client(reader)
      let refused = await #expect(throws: RPCClientError.self) {
        _ = try await read(.transaction("1"), with: readers)
      }
      #expect(refused?.code == .status(.permissionDenied))
      #expect(refused?.errorInfo?.metadata["permission"] == "fetch")
      await readers.close()
      let submitters = client(submitter)
      let keyless = await #expect(throws: RPCClientError.self) {
        _ = try await read(.transaction("1"), with: submitters)
      }
      #expect(keyless?.code == .status(.failedPrecondition))
      await submitters.close()
    }
  }

  @Test func `what is asked for is stored for those only who may submit`() async throws {
    let asker = BenchAccess.Member(name: "asker", fields: "permissions: [app_store]")
    let keeper = BenchAccess.Member(name: "keeper", fields: "permissions: [app_store, submit]")
    try await ServiceBench.run(access: try BenchAccess([asker, keeper]), desk: Desk()) {
      bench async throws in
      func client(_ member: BenchAccess.Member) -> EntitlementClient {
        EntitlementClient(
          bench.addresses[0],
          configuration: EntitlementClientConfiguration(metadata: member.metadata, retries: .off))
      }
      let calls: [@Sendable (EntitlementClient, Bool) async throws -> Void] = [
        {
          _ = try await $0.transaction(
            GetTransactionRequest(scope: Self.scope, transactionID: "1", stores: $1))
        },
        {
          _ = try await $0.subscriptionStatuses(
            GetSubscriptionStatusesRequest(scope: Self.scope, id: "1", stores: $1))
        },
        {
          _ = try await $0.listSentNotifications(
            ListSentNotificationsRequest(scope: Self.scope, start: 1, stores: $1))
        },
      ]
      let askers = client(asker)
      let keepers = client(keeper)
      for call in calls {
        try await call(askers, false)
        let refused = await #expect(throws: RPCClientError.self) { try await call(askers, true) }
        #expect(refused?.code == .status(.permissionDenied))
        #expect(refused?.errorInfo?.metadata["permission"] == "submit")
        try await call(keepers, true)
      }
      await askers.close()
      await keepers.close()
    }
  }

  @Test func `the caller's deadline ends the wait for a fetch`() async throws {
    let fetcher = Fetcher { () async throws(ServiceError) in
      try? await Task.sleep(for: .seconds(50))
      return false
    }
    try await ServiceBench.run(fetcher: fetcher) { bench async throws in
      let hasty = EntitlementClient(
        bench.addresses[0],
        configuration: EntitlementClientConfiguration(timeout: .milliseconds(500), retries: .off))
      let error = await #expect(throws: RPCClientError.self) {
        _ = try await read(.transaction("1"), with: hasty)
      }
      #expect(error?.code == .status(.deadlineExceeded))
      await hasty.close()
    }
  }
}

extension ServiceBench {
  /// A transaction that an authority signed, after its verification.
  fileprivate static func signedTransaction(
    by authority: SigningAuthority
  ) throws -> VerifiedPayload? {
    var anchors = TrustAnchors.apple
    anchors.trust(authority.rootFingerprint, for: TrustAnchor.allEnvironments)
    let payload = """
      {"transactionId":"1","originalTransactionId":"1","bundleId":"\(scope.bundleID)",\
      "productId":"pro.monthly","purchaseDate":\(now),"originalPurchaseDate":\(now),"quantity":1,\
      "type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED","signedDate":\(now),\
      "environment":"Production","expiresDate":\(now.advanced(by: 1_000))}
      """
    return try JWSVerifier(anchors: anchors).verify(
      Array(try authority.sign(payloadJSON: Array(payload.utf8)).utf8), as: .transaction,
      policy: VerificationPolicy(
        apps: [.init(bundleID: scope.bundleID, environments: [.production])]), now: now)
  }
}
