import EntitlementDomain
import RPCClient
import ServiceSupport
import StoreSimulator
import Testing
import Wire

@Suite("Receipts and archived responses on the wire")
struct ReceiptEndpointTests {
  /// A receipt with one purchase of the app's non-consumable for each id.
  private func receipt(_ ids: [String], type: String = "Production") -> SimulatedReceipt {
    var receipt = SimulatedReceipt(
      receiptType: type, creationDate: ServiceBench.now.advanced(by: -86_400_000))
    receipt.applicationVersion = "2.1"
    receipt.originalApplicationVersion = "1.0"
    receipt.originalPurchaseDate = 1_600_000_000_000
    receipt.items = ids.map { id in
      SimulatedReceiptItem(
        transactionID: TransactionID(id), originalTransactionID: OriginalTransactionID(id),
        productID: "com.example.scribe.adfree", purchaseDate: 1_700_000_000_000)
    }
    return receipt
  }

  private func signed(_ receipt: SimulatedReceipt) throws -> [UInt8] {
    try ServiceBench.receiptAuthority.get().sign(receipt)
  }

  @Test("The answer has the receipt's summary and each result; the state has its evidence")
  func accepted() async throws {
    try await ServiceBench.run { bench async throws in
      let made = receipt(["1", "2"])
      let answer = try await bench.client.submitReceipt(
        SubmitReceiptRequest(
          receipt: try signed(made), bundleID: SimulatedApp.bundleID, accountID: "anna",
          deviceIdentifier: made.deviceIdentifier, priority: .bulk))
      #expect(answer.verdict == .ok)
      #expect(answer.detail == nil)
      #expect(
        answer.receipt
          == ReceiptSummary(
            receiptType: "Production", scope: ServiceBench.scope,
            creationDate: made.creationDate, applicationVersion: "2.1",
            originalApplicationVersion: "1.0", originalPurchaseDate: 1_600_000_000_000,
            inAppCount: 2))
      #expect(answer.results.map(\.kind) == [.appTransaction, .transaction, .transaction])
      #expect(answer.results.map(\.transactionID) == [nil, "1", "2"])
      #expect(answer.results.allSatisfy { $0.disposition == .added && $0.link == .linked })
      #expect(answer.customers.map(\.subject) == [.account("anna")])
      guard case .state(let state) = try await bench.state(of: .account("anna")) else {
        Issue.record("no state")
        return
      }
      #expect(state.entitlements.map(\.entitlementID) == ["ad_free"])
      #expect(state.entitlements.flatMap(\.sources).allSatisfy { $0.evidence == .receipt })
      let counters = try await bench.client.statistics().counters
      #expect(counters.first { $0.name == "receipts.accepted" }?.value == 1)
      #expect(counters.first { $0.name == "verification.done.bulk" }?.value == 1)
    }
  }

  @Test("The answer for a refused receipt has only the reason")
  func refused() async throws {
    try await ServiceBench.run { bench async throws in
      let made = receipt(["1"])
      let cases: [(SubmitReceiptRequest, SubmissionVerdict)] = [
        (SubmitReceiptRequest(receipt: [0]), .malformed),
        (
          SubmitReceiptRequest(receipt: try signed(made), bundleID: "com.example.elsewhere"),
          .wrongApp
        ),
        (
          SubmitReceiptRequest(receipt: try signed(made), deviceIdentifier: [1, 2, 3, 4, 5, 6]),
          .wrongDevice
        ),
        (
          SubmitReceiptRequest(receipt: try signed(receipt(["1"], type: "Toy"))),
          .wrongEnvironment
        ),
      ]
      for (request, verdict) in cases {
        let answer = try await bench.client.submitReceipt(request)
        #expect(answer.detail?.isEmpty == false)
        #expect(
          answer == SubmitReceiptResponse(verdict: verdict, detail: answer.detail), "\(verdict)")
      }
      #expect(try await bench.client.changes(ListChangesRequest()).changes.isEmpty)
    }
  }

  @Test("A request with a field that is too large or missing names the field")
  func invalid() async throws {
    try await ServiceBench.run { bench async throws in
      let long = [UInt8](repeating: 0x30, count: SubmitReceiptRequest.maximumReceiptLength + 1)
      let device = [UInt8](
        repeating: 0, count: SubmitReceiptRequest.maximumDeviceIdentifierLength + 1)
      for (request, field) in [
        (SubmitReceiptRequest(receipt: long), "receipt"),
        (SubmitReceiptRequest(receipt: []), "receipt"),
        (SubmitReceiptRequest(receipt: [0], deviceIdentifier: device), "device_identifier"),
      ] {
        let error = await #expect(throws: RPCClientError.self) {
          try await bench.client.submitReceipt(request)
        }
        #expect(error?.code == .status(.invalidArgument))
        #expect(error?.fieldViolations.map(\.field) == [field])
      }
      let response = [UInt8](
        repeating: 0x20, count: ImportArchivedResponseRequest.maximumResponseLength + 1)
      let error = await #expect(throws: RPCClientError.self) {
        try await bench.client.importArchivedResponse(
          ImportArchivedResponseRequest(bundleID: SimulatedApp.bundleID, response: response))
      }
      #expect(error?.fieldViolations.map(\.field) == ["response"])
      // The largest allowed receipt is verified, and refused by its verdict.
      let largest = try await bench.client.submitReceipt(
        SubmitReceiptRequest(receipt: Array(long.dropLast())))
      #expect(largest.verdict == .malformed)
    }
  }

  @Test("An archived response is FAILED_PRECONDITION until the catalog accepts it")
  func archive() async throws {
    try await ServiceBench.run { bench async throws in
      let request = ImportArchivedResponseRequest(
        bundleID: SimulatedApp.bundleID, accountID: "anna",
        response: receipt(["1"]).archivedResponse())
      let error = await #expect(throws: RPCClientError.self) {
        try await bench.client.importArchivedResponse(request)
      }
      #expect(error?.code == .status(.failedPrecondition))
      #expect(error?.errorInfo?.reason == "ARCHIVED_RESPONSES_NOT_ACCEPTED")
      try bench.setCatalog(
        SimulatedApp.catalogYAML.replacing(
          "    environments: [Production, Sandbox]",
          with: "    environments: [Production, Sandbox]\n    archived_responses: accept"))
      #expect(try await bench.client.reloadCatalog().lastAttempt?.isValid == true)

      let answer = try await bench.client.importArchivedResponse(request)
      #expect(answer.verdict == .ok)
      #expect(answer.receipt?.scope == ServiceBench.scope)
      #expect(answer.results.map(\.kind) == [.appTransaction, .transaction])
      guard case .state(let state) = try await bench.state(of: .account("anna")) else {
        Issue.record("no state")
        return
      }
      #expect(
        state.entitlements.flatMap(\.sources).map(\.evidence) == [.archivedResponse])
      let counters = try await bench.client.statistics().counters
      #expect(counters.first { $0.name == "archives.accepted" }?.value == 1)
    }
  }

  @Test(
    "R9: what a response in the style of iOS 6 does not tell is given beside it, and not against it"
  )
  func iOS6() async throws {
    try await ServiceBench.run { bench async throws in
      try bench.setCatalog(
        SimulatedApp.catalogYAML.replacing(
          "    environments: [Production, Sandbox]",
          with: "    environments: [Production, Sandbox]\n    archived_responses: accept"))
      _ = try await bench.client.reloadCatalog()
      func response(_ members: String = "") -> [UInt8] {
        Array(
          """
          {"status":0,"receipt":{"bid":"com.example.scribe","bvrs":"1","product_id":\
          "com.example.scribe.adfree","quantity":"1","transaction_id":"1000000181298000",\
          "original_transaction_id":"1000000181298000","purchase_date_ms":"1447821281000"}\(members)}
          """.utf8)
      }
      func importing(
        _ response: [UInt8], _ environment: StoreEnvironment? = nil, asOf: Milliseconds? = nil
      ) async throws -> SubmitReceiptResponse {
        try await bench.client.importArchivedResponse(
          ImportArchivedResponseRequest(
            bundleID: SimulatedApp.bundleID, environment: environment, accountID: "anna",
            response: response, asOf: asOf))
      }
      let unnamed = try await importing(response())
      #expect(unnamed.verdict == .wrongEnvironment)
      #expect(unnamed.detail?.contains("names no environment") == true)
      let named = response(#","environment":"Sandbox""#)
      #expect(try await importing(named, .production).verdict == .wrongEnvironment)
      #expect(try await importing(response(), asOf: 1).verdict == .malformed)
      let error = await #expect(throws: RPCClientError.self) {
        try await importing(response(), .production, asOf: .init(.max))
      }
      #expect(error?.fieldViolations.map(\.field) == ["as_of_ms"])
      let answer = try await importing(response(), .production)
      #expect(answer.verdict == .ok)
      #expect(answer.receipt?.scope == ServiceBench.scope)
      #expect(answer.receipt?.creationDate == 1_447_821_281_000)
      #expect(answer.results.map(\.verdict) == [.ok, .ok])
      let dated = try await importing(response(), .production, asOf: 1_500_000_000_000)
      #expect(dated.receipt?.creationDate == 1_500_000_000_000)
      let body =
        #"{"notification_type":"CANCEL","environment":"PROD","bid":"com.example.scribe","#
        + #""password":"SECRET","unified_receipt":{"status":0,"environment":"Production","#
        + #""latest_receipt_info":[]}}"#
      #expect(try await importing(Array(body.utf8)).verdict == .malformed)
      let purchase =
        #"{"product_id":"com.example.scribe.adfree","transaction_id":"2","purchase_date_ms":"3"}"#
      let whole = body.replacing(
        "\"latest_receipt_info\":[]", with: "\"latest_receipt_info\":[\(purchase)]")
      #expect(try await importing(Array(whole.utf8)).verdict == .ok)
    }
  }

  @Test("A full queue is RESOURCE_EXHAUSTED for a receipt too, with a retry delay")
  func full() async throws {
    try await ServiceBench.run(queue: 0) { bench async throws in
      let error = await #expect(throws: RPCClientError.self) {
        try await bench.client.submitReceipt(
          SubmitReceiptRequest(receipt: try signed(receipt(["1"]))))
      }
      #expect(error?.code == .status(.resourceExhausted))
      #expect(error?.retryDelay != nil)
    }
  }
}
