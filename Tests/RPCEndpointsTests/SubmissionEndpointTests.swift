import Cryptography
import EntitlementDomain
import EntitlementStore
import RPCClient
import ServiceSupport
import StoreConformance
import StoreSimulator
import Synchronization
import Testing
import Wire
import Workers

@Suite("SubmissionService on the wire")
struct SubmissionEndpointTests {
  @Test("Each item has its own result, with its kind and disposition")
  func items() async throws {
    try await ServiceBench.run { bench async throws in
      let event = try #require(
        try bench.signed(.firstPurchase, seed: 1).first { $0.renewalInfo != nil })
      let payloads = event.transactions + [try #require(event.renewalInfo), "garbage"]
      let answer = try await bench.client.submitSignedTransactions(
        SubmitSignedTransactionsRequest(signedPayloads: payloads, accountID: "anna"))
      #expect(answer.results.map(\.kind) == [.transaction, .renewalInfo, nil])
      #expect(answer.results.map(\.verdict) == [.ok, .ok, .malformed])
      #expect(answer.results.map(\.disposition) == [.added, .added, nil])
      #expect(answer.results.map(\.link) == [.linked, .linked, nil])
      #expect(answer.results[2].detail?.isEmpty == false)
      #expect(answer.customers.map(\.subject) == [.account("anna")])
      #expect(answer.customers[0].scope == ServiceBench.scope)
    }
  }

  @Test("What belongs elsewhere is MALFORMED, with what it is and where it belongs")
  func misplaced() async throws {
    try await ServiceBench.run { bench async throws in
      let event = try #require(try bench.signed(.firstPurchase, seed: 1).first)
      let jws = try #require(event.transactions.first)
      let notification = try #require(event.notification)
      let receipt = Base64Form.standard.encode(
        [0x30, 0x82, 0x01, 0x00] + [UInt8](repeating: 0, count: 256))
      let payloads = [
        String(decoding: receipt, as: UTF8.self), "{\"signedPayload\":\"\(notification)\"}",
        "\"\(jws)\"", "\(jws)\n", notification,
      ]
      let answer = try await bench.client.submitSignedTransactions(
        SubmitSignedTransactionsRequest(signedPayloads: payloads + [jws]))
      #expect(
        answer.results.map(\.verdict) == [
          .malformed, .malformed, .malformed, .malformed, .malformed, .ok,
        ])
      let details = answer.results.map { $0.detail ?? "" }
      #expect(details[0].contains("app receipt") && details[0].contains("SubmitReceipt"))
      #expect(
        details[1].contains("body of a notification") && details[1].contains("SubmitNotification"))
      #expect(details[2].contains("in quotes"))
      #expect(details[3].contains("with blanks or line breaks"))
      #expect(details[4].contains("submit it with SubmitNotification"))
      #expect(details.allSatisfy { !$0.contains(jws) && !$0.contains(notification) })

      let other = try await bench.client.submitNotification(
        SubmitNotificationRequest(signedPayload: payloads[1]))
      #expect(other.verdict == .malformed)
      #expect(other.detail?.contains("submit the value of its signedPayload") == true)
      let transaction = try await bench.client.submitNotification(
        SubmitNotificationRequest(signedPayload: jws))
      #expect(transaction.verdict == .malformed)
      #expect(transaction.detail?.contains("submit it with SubmitSignedTransactions") == true)
      for (document, words) in [
        (Array(jws.utf8), "SubmitSignedTransactions"),
        (Base64Form.standard.encode(receipt), "in base64 twice"),
        (
          Array(#"{"Store":"AppleAppStore","TransactionID":"1","Payload":"MIIT"}"#.utf8),
          "Unity IAP"
        ),
        (Array(#"{"receipt-data":"MIIT"}"#.utf8), "receipt-data"),
      ] {
        let answer = try await bench.client.submitReceipt(SubmitReceiptRequest(receipt: document))
        #expect(answer.verdict == .malformed)
        #expect(answer.detail?.contains(words) == true, "\(answer.detail ?? "")")
      }
    }
  }

  @Test("The answer for a notification has its type, its facts, and whether it is a duplicate")
  func notification() async throws {
    try await ServiceBench.run { bench async throws in
      let jws = try #require(
        try bench.signed(.firstPurchase, seed: 1).compactMap(\.notification).first)
      let request = SubmitNotificationRequest(signedPayload: jws, accountID: "anna")
      let first = try await bench.client.submitNotification(request)
      #expect(first.verdict == .ok)
      #expect(first.notificationType == "SUBSCRIBED")
      #expect(first.subtype == "INITIAL_BUY")
      #expect(!first.isDuplicate)
      #expect(first.results.map(\.disposition) == [.added, .added])
      let again = try await bench.client.submitNotification(request)
      #expect(again.isDuplicate)
      #expect(again.notificationUUID == first.notificationUUID)
      #expect(again.customers == first.customers)
    }
  }

  @Test("A notification of another app than the request names is refused before it is stored")
  func otherApp() async throws {
    try await ServiceBench.run { bench async throws in
      let jws = try #require(
        try bench.signed(.firstPurchase, seed: 1).compactMap(\.notification).first)
      let other = try await bench.client.submitNotification(
        SubmitNotificationRequest(signedPayload: jws, bundleID: "com.example.other"))
      #expect(other.verdict == .wrongApp)
      #expect(other.detail == "the payload belongs to another app than the request names")
      let own = try await bench.client.submitNotification(
        SubmitNotificationRequest(signedPayload: jws, bundleID: SimulatedApp.bundleID))
      #expect(own.verdict == .ok)
      #expect(!own.isDuplicate)
    }
  }

  @Test("A notification that Apple did not sign is refused by its verdict")
  func forged() async throws {
    try await ServiceBench.run { bench async throws in
      let stranger = try SigningAuthority.generate()
      let jws = try stranger.sign(payloadJSON: Array(#"{"notificationType":"TEST"}"#.utf8))
      let answer = try await bench.client.submitNotification(
        SubmitNotificationRequest(signedPayload: jws))
      #expect(answer.verdict != .ok)
      #expect(answer.detail?.isEmpty == false)
      #expect(answer.notificationUUID == nil)
    }
  }

  @Test("A full verification queue is RESOURCE_EXHAUSTED, with a retry delay")
  func full() async throws {
    try await ServiceBench.run(queue: 1) { bench async throws in
      let facts = try bench.signed(.renewals, seed: 1).flatMap(\.facts)
      let error = await #expect(throws: RPCClientError.self) {
        try await bench.client.submitSignedTransactions(
          SubmitSignedTransactionsRequest(signedPayloads: facts))
      }
      #expect(error?.code == .status(.resourceExhausted))
      #expect(error?.retryDelay != nil)
    }
  }

  @Test("An invalid request names its field")
  func invalid() async throws {
    try await ServiceBench.run { bench async throws in
      let error = await #expect(throws: RPCClientError.self) {
        try await bench.client.submitSignedTransactions(
          SubmitSignedTransactionsRequest(signedPayloads: []))
      }
      #expect(error?.code == .status(.invalidArgument))
      #expect(error?.fieldViolations.map(\.field) == ["items"])
      #expect(error?.message.contains("entitle.v1.SubmitSignedTransactionsRequest") == true)
    }
  }

  /// Notes the source of each commit.
  private final class SourceStore: ForwardingStore {
    let base: any EntitlementStore
    private let state = Mutex<[WorkSource]>([])

    init(_ base: any EntitlementStore) { self.base = base }

    var sources: [WorkSource] { state.withLock { $0 } }

    func commit(_ submission: Submission) async throws(StoreError) -> CommitReceipt {
      state.withLock { $0.append(CallContext.source) }
      return try await base.commit(submission)
    }
  }

  @Test("The store learns from which source a write comes")
  func source() async throws {
    let wrapped = Mutex<SourceStore?>(nil)
    try await ServiceBench.run(
      submissionStore: { base in
        let store = SourceStore(base)
        wrapped.withLock { $0 = store }
        return store
      }
    ) { bench async throws in
      let payload = try #require(
        try bench.signed(.firstPurchase, seed: 1).flatMap(\.transactions).first)
      let request = SubmitSignedTransactionsRequest(signedPayloads: [payload], accountID: "anna")
      for _ in 0..<2 { _ = try await bench.client.submitSignedTransactions(request) }
      let other = try await EntitlementClient.connect(to: .unix(path: bench.socketPath))
      _ = try await other.submitSignedTransactions(request)
      await other.close()
      let sources = try #require(wrapped.withLock { $0 }).sources
      #expect(sources.count == 3)
      #expect(sources[0] == sources[1])
      #expect(sources[0] != sources[2])
      #expect(!sources.contains(.server))
    }
  }
}
