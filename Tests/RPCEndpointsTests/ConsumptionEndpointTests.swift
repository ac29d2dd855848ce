import Cryptography
import EntitlementDomain
import EntitlementService
import EntitlementStore
import Framing
import RPCClient
import SQLiteStore
import ServiceSupport
import Testing
import Wire

@Suite("Consumption on the wire (R86–R88)", .timeLimit(.minutes(1)))
struct ConsumptionEndpointTests {
  private static let scope = ServiceBench.scope
  private static let everywhere: JobRecords.Reach = { _ in [.production, .sandbox] }

  private func expect(
    _ code: RPCCode, _ message: String,
    at location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
  ) async {
    let failure = await #expect(throws: RPCClientError.self, sourceLocation: location) {
      try await body()
    }
    #expect(failure?.code == .status(code), sourceLocation: location)
    #expect(failure?.description.contains(message) == true, sourceLocation: location)
  }

  /// A request that the App Store signed just now, about a purchase that is not known.
  private func ask(_ bench: ServiceBench, _ transaction: TransactionID) async throws {
    let text = """
      {"transactionId":"\(transaction)","originalTransactionId":"\(transaction)",
      "bundleId":"\(Self.scope.bundleID)","environment":"Production",
      "productId":"com.example.scribe.adfree","type":"Non-Consumable","purchaseDate":1,"signedDate":2}
      """
    let digest = PayloadDigest(sha256: try SHA256.digest(of: Array(text.utf8)).words)
    let fact = TransactionFact(
      bundleID: Self.scope.bundleID, environment: Self.scope.environment,
      originalTransactionID: OriginalTransactionID(transaction.rawValue),
      transactionID: transaction, productID: "com.example.scribe.adfree", type: .nonConsumable,
      purchaseDate: 1, signedDate: 2, digest: digest)
    let uuid = NotificationUUID("3c9a17d2-64be-4f0b-9d11-00000000000\(transaction)")
    let payload = SignedPayload(
      payload: Array(text.utf8), proof: .jws(header: Array("{}".utf8), signature: [1]))
    _ = try await bench.store.commit(
      Submission(
        facts: [SignedFact(fact: .transaction(fact), signed: payload)],
        notification: SignedNotification(
          record: NotificationRecord(
            uuid: uuid, type: "CONSUMPTION_REQUEST", scope: Self.scope, status: nil,
            signedDate: ServiceBench.now, digest: digest),
          signed: payload, consumptionRequestReason: "OTHER"),
        receivedAt: ServiceBench.now))
  }

  @Test("Consent is recorded with its author, and read again")
  func consent() async throws {
    try await ServiceBench.run { bench async throws in
      let client = bench.client
      let read = GetConsumptionConsentRequest(scope: Self.scope, accountID: "anna")
      #expect(try await client.consumptionConsent(read).consent == nil)
      var change = SetConsumptionConsentRequest(
        scope: Self.scope, accountID: "anna", isConsented: true, onBehalfOf: "ada",
        reason: "a form")
      let first = try await client.setConsumptionConsent(change)
      #expect(first.isChanged && first.consent.isConsented)
      #expect(first.consent.author == "local" && first.consent.reason == "a form")
      #expect(first.consent.onBehalfOf == "ada")
      #expect(try await client.setConsumptionConsent(change).isChanged == false)
      #expect(try await client.consumptionConsent(read).consent == first.consent)
      change.isConsented = false
      #expect(try await client.setConsumptionConsent(change).isChanged)
      #expect(try await client.consumptionConsent(read).consent?.isConsented == false)
      let other = AppScope(bundleID: "com.example.other", environment: .production)
      await expect(.invalidArgument, "") {
        _ = try await client.setConsumptionConsent(
          SetConsumptionConsentRequest(scope: other, accountID: "anna", isConsented: true))
      }
    }
  }

  @Test("Percentages that Apple refuses are refused, and others are shown with the request")
  func percentages() async throws {
    try await ServiceBench.run { bench async throws in
      let client = bench.client
      func set(_ percentage: Int64?, _ delivery: ConsumptionDelivery? = nil) async throws -> Bool {
        try await client.setConsumptionPercentage(
          SetConsumptionPercentageRequest(
            scope: Self.scope, transactionID: "1", percentage: percentage, delivery: delivery)
        ).isChanged
      }
      for (percentage, delivery): (Int64, ConsumptionDelivery?) in [
        (-1, nil), (100_001, nil), (1, .undeliveredOther),
      ] {
        await expect(.invalidArgument, "") { _ = try await set(percentage, delivery) }
      }
      #expect(try await set(42_500))
      #expect(try await set(42_500) == false)
      #expect(try await set(0, .undeliveredWrongItem))
      try await ask(bench, "1")
      let list = try await client.listConsumptionRequests(
        ListConsumptionRequestsRequest(scope: Self.scope))
      #expect(list.requests.map(\.percentage) == [0])
      #expect(list.requests.map(\.delivery) == [.undeliveredWrongItem])
    }
  }

  @Test("Requests are listed in pages, by state, and one by its purchase")
  func list() async throws {
    try await ServiceBench.run(reach: Self.everywhere) { bench async throws in
      let client = bench.client
      for transaction in 1...3 { try await ask(bench, TransactionID("\(transaction)")) }
      var seen: [TransactionID] = []
      for try await request in client.consumptionRequests(
        ListConsumptionRequestsRequest(scope: Self.scope, pageSize: 1))
      {
        seen.append(request.transactionID)
        #expect(request.state == .open && request.requestReason == "OTHER")
        #expect(request.requestedAt == ServiceBench.now)
        #expect(request.answerUntil == ServiceBench.now.advanced(by: 12 * 3_600_000))
      }
      #expect(seen == ["1", "2", "3"])
      func count(_ state: ConsumptionState?, _ transaction: TransactionID? = nil) async throws
        -> Int
      {
        try await client.listConsumptionRequests(
          ListConsumptionRequestsRequest(
            scope: Self.scope, state: state, transactionID: transaction)
        ).requests.count
      }
      #expect(try await count(.sent) == 0)
      #expect(try await count(.open, "2") == 1)
      #expect(try await count(.notSent, "2") == 0)
      #expect(try await count(nil, "9") == 0)
      await expect(.invalidArgument, "page token") {
        _ = try await client.listConsumptionRequests(
          ListConsumptionRequestsRequest(scope: Self.scope, pageToken: "x"))
      }
      // Their jobs are in the list of jobs.
      let jobs = try await client.listJobs(ListJobsRequest(kind: .consumption)).jobs
      #expect(jobs.map(\.transactionID) == ["1", "2", "3"])
    }
  }

  @Test("Sending by hand needs a key, a request, and that nothing stands against it")
  func send() async throws {
    func request(_ transaction: TransactionID, dryRun: Bool = false) -> SendConsumptionRequest {
      SendConsumptionRequest(
        scope: Self.scope, transactionID: transaction, isDryRun: dryRun, reason: "a ticket")
    }
    try await ServiceBench.run { bench async throws in
      await expect(.failedPrecondition, "no key") {
        _ = try await bench.client.sendConsumption(request("1"))
      }
    }
    try await ServiceBench.run(reach: Self.everywhere) { bench async throws in
      await expect(.notFound, "has not asked") {
        _ = try await bench.client.sendConsumption(request("1"))
      }
      try await ask(bench, "1")
      // It is open already.
      let open = try await bench.client.sendConsumption(request("1"))
      #expect(open.isChanged == false && open.request.state == .open)
      _ = try await bench.store.change(
        AppStoreJobRequest(
          .cancel(.key(AppStoreJobKey(Self.scope, .consumption("1")))), at: bench.jobTime.now))
      // The catalog of the bench has no policy.
      await expect(.failedPrecondition, "POLICY_MISSING") {
        _ = try await bench.client.sendConsumption(request("1", dryRun: true))
      }
    }
  }
}
