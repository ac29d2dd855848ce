import EntitlementDomain
import EntitlementService
import Foundation
import Framing
import NIOCore
import RPCClient
@testable import RPCEndpoints
import ServiceSupport
import StoreSimulator
import Testing
import Wire

@Suite("Customer records on the wire", .timeLimit(.minutes(1)))
struct RecordsEndpointTests {
  private static let scope = ServiceBench.scope

  @Test("A history is returned, an account is exported and deleted, and no longer exists")
  func records() async throws {
    try await ServiceBench.run { bench async throws in
      let account = try await bench.submit(.firstPurchase)
      _ = try await bench.client.addGrant(
        AddGrantRequest(
          scope: Self.scope, accountID: account, entitlementID: "pro", reason: "r", onBehalfOf: "a")
      )
      let history = try await bench.client.customerHistory(
        GetCustomerHistoryRequest(scope: Self.scope, accountID: account))
      #expect(history.accountID == account)
      #expect(
        history.entries.contains { if case .grant = $0.occurrence { true } else { false } })
      #expect(
        history.entries.contains { if case .link = $0.occurrence { true } else { false } })

      let export = ExportCustomerRequest(scope: Self.scope, accountID: account)
      var json: [UInt8] = []
      for try await piece in try bench.client.exportCustomer(export) { json += piece }
      let document = try #require(
        try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
      #expect(document["accountId"] as? String == account.rawValue)

      let deletion = DeleteCustomerRequest(
        scope: Self.scope, accountID: account, reason: "they asked", onBehalfOf: "ops")
      #expect(try await bench.client.deleteCustomer(deletion).isChanged)
      guard case .state(let state) = try await bench.state(of: .account(account)) else { return }
      #expect(state.coreState == .new)
      // Repeated, as after a lost answer.
      let again = try await bench.client.deleteCustomer(deletion)
      #expect(!again.isChanged)
      #expect(again.customers.map(\.subject) == [.account(account)])
      let stranger = await #expect(throws: RPCClientError.self) {
        try await bench.client.deleteCustomer(
          DeleteCustomerRequest(
            scope: Self.scope, accountID: "nobody", reason: "they asked", onBehalfOf: "ops"))
      }
      #expect(stranger?.code == .status(.notFound))
      let missing = await #expect(throws: RPCClientError.self) {
        for try await _ in try bench.client.exportCustomer(export) {}
      }
      #expect(missing?.code == .status(.notFound))
    }
  }

  private func export(_ bench: ServiceBench, of account: AccountID = "anna") async throws
    -> (json: [String: Any], pieces: [[UInt8]])
  {
    let request = ExportCustomerRequest(scope: Self.scope, accountID: account)
    var pieces: [[UInt8]] = []
    for try await piece in try bench.client.exportCustomer(request) { pieces.append(piece) }
    let object = try JSONSerialization.jsonObject(with: Data(pieces.flatMap { $0 }))
    return (try #require(object as? [String: Any]), pieces)
  }

  private func submit(_ bench: ServiceBench, _ payloads: [String]) async throws
    -> [SubmittedItemResult]
  {
    try await bench.client.submitSignedTransactions(
      SubmitSignedTransactionsRequest(signedPayloads: payloads, accountID: "anna")
    ).results
  }

  @Test("An export is one complete JSON document, and its signatures can be verified again")
  func export() async throws {
    try await ServiceBench.run { bench async throws in
      let token = "6f1f4f0e-2c8a-4d5f-9b1e-00000000000a"
      let jws = try purchase(bench, "1", more: ",\"appAccountToken\":\"\(token)\"")
      _ = try await submit(bench, [jws])
      let notified = try #require(
        try bench.signed(.refunded, seed: 1).compactMap(\.notification).last)
      _ = try await bench.client.submitNotification(
        SubmitNotificationRequest(signedPayload: notified, accountID: "anna"))
      _ = try await bench.client.addGrant(
        AddGrantRequest(
          scope: Self.scope, accountID: "anna", entitlementID: "pro",
          reason: "\"quoted\"\nand more", onBehalfOf: "a"))
      let (json, _) = try await export(bench)
      #expect(
        Set(json.keys) == [
          "accountId", "bundleId", "environment", "revision", "changedAtMs", "mergedAccounts",
          "accountTokens", "appAccountTokens", "links", "linkHistory", "grants", "facts",
          "versions", "documents",
          "importRows", "notifications", "state",
        ])
      #expect(json["accountId"] as? String == "anna")
      #expect(json["environment"] as? String == "STORE_ENVIRONMENT_PRODUCTION")
      #expect((json["appAccountTokens"] as? [String])?.contains(token) == true)
      let facts = try #require(json["facts"] as? [[String: Any]])
      let purchase = try #require(facts.first { $0["identifier"] as? String == "1" })
      #expect(purchase["signedPayload"] as? String == jws)
      #expect(purchase["kind"] as? String == "PAYLOAD_KIND_TRANSACTION")
      #expect((purchase["payload"] as? [String: Any])?["transactionId"] as? String == "1")
      let grants = try #require(json["grants"] as? [[String: Any]])
      #expect(grants.map { $0["reason"] as? String } == ["\"quoted\"\nand more"])
      let notifications = try #require(json["notifications"] as? [[String: Any]])
      #expect(notifications.map { $0["signedPayload"] as? String } == [notified])
      // Messages are decoded as messages.
      for (member, name) in [("links", "Link"), ("linkHistory", "LinkEvent"), ("grants", "Grant")] {
        let type = try #require(MessageType.named("entitle.v1.\(name)"))
        let messages = try #require(json[member] as? [Any])
        #expect(!messages.isEmpty)
        for message in messages {
          _ = try type.wire(ofJSON: [UInt8](JSONSerialization.data(withJSONObject: message)))
        }
      }
      let state = try CustomerState.decode(
        json: [UInt8](JSONSerialization.data(withJSONObject: try #require(json["state"]))))
      #expect(state.accountID == "anna")
      guard case .state(let answered) = try await bench.state(of: .account("anna")) else { return }
      #expect(state.revision == answered.revision)
      #expect(json["revision"] as? String == "\(answered.revision)")
      // The exported payloads can be submitted again, as they are what Apple signed.
      let again = try await submit(bench, facts.compactMap { $0["signedPayload"] as? String })
      #expect(again.allSatisfy { $0.disposition == .duplicate })
    }
  }

  @Test("A document of several facts is in the export once")
  func documents() async throws {
    try await ServiceBench.run { bench async throws in
      var made = SimulatedReceipt(
        receiptType: "Production", creationDate: ServiceBench.now.advanced(by: -86_400_000))
      made.applicationVersion = "2.1"
      made.originalApplicationVersion = "1.0"
      made.originalPurchaseDate = 1_600_000_000_000
      made.items = ["1", "2"].map { id in
        SimulatedReceiptItem(
          transactionID: TransactionID(id), originalTransactionID: OriginalTransactionID(id),
          productID: "com.example.scribe.adfree", purchaseDate: made.creationDate)
      }
      let receipt = try ServiceBench.receiptAuthority.get().sign(made)
      _ = try await bench.client.submitReceipt(
        SubmitReceiptRequest(
          receipt: receipt, bundleID: SimulatedApp.bundleID, accountID: "anna"))
      let (json, _) = try await export(bench)
      let documents = try #require(json["documents"] as? [String])
      #expect(documents.map { Data(base64Encoded: $0).map { [UInt8]($0) } } == [receipt])
      let facts = try #require(json["facts"] as? [[String: Any]])
      #expect(facts.count > 1)
      #expect(facts.allSatisfy { $0["document"] as? Int == 0 && $0["signedPayload"] == nil })
      #expect(facts.allSatisfy { $0["evidence"] as? String == "EVIDENCE_RECEIPT" })
    }
  }

  @Test("A large export is sent in pieces of bounded size, and is complete")
  func pieces() async throws {
    try await ServiceBench.run { bench async throws in
      let payloads = try await submitMany(bench)
      let (json, pieces) = try await export(bench)
      #expect(pieces.count > 2)
      #expect(pieces.dropLast().allSatisfy { $0.count == ExportDocument.pieceLength })
      #expect((pieces.last?.count ?? .max) <= ExportDocument.pieceLength)
      let facts = try #require(json["facts"] as? [[String: Any]])
      #expect(Set(facts.compactMap { $0["signedPayload"] as? String }) == Set(payloads))
    }
  }

  @Test("An export larger than a connection's buffer reaches an active reader completely")
  func largeExport() async throws {
    // About 1.7 MB in all, of which 400 kB fit the write buffer.
    let limits = RPCLimits(writeBufferPause: 65_536, writeBuffer: 400_000)
    try await ServiceBench.run(limits: limits) { bench async throws in
      let payloads = try await submitMany(bench)
      var json: [UInt8] = []
      let export = ExportCustomerRequest(scope: Self.scope, accountID: "anna")
      for try await piece in try bench.client.exportCustomer(export) { json += piece }
      #expect(json.count > 1_000_000)
      let document = try #require(
        try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
      let facts = try #require(document["facts"] as? [[String: Any]])
      #expect(Set(facts.compactMap { $0["signedPayload"] as? String }) == Set(payloads))
    }
  }

  @Test(
    "An export that is not read completely ends in time, and releases its permit",
    arguments: [
      (slowReader: Duration.seconds(5), export: Duration.seconds(600), message: "not read fast"),
      (.seconds(600), .seconds(5), "not read within 5.0 seconds"),
    ])
  func unreadExport(slowReader: Duration, export: Duration, message: String) async throws {
    let limits = RPCLimits(
      writeBufferPause: 65_536, writeBuffer: 400_000, slowReaderTime: slowReader)
    let exports = ExportLimits(exports: 1, time: export, patience: .seconds(600))
    try await ServiceBench.run(limits: limits, exports: exports) { bench async throws in
      let payloads = try await submitMany(bench)
      let request = ExportCustomerRequest(scope: Self.scope, accountID: "anna")
      let unread = try UnreadStream(
        path: bench.socketPath, WireMethods.exportCustomer, request)
      func count(_ name: String) async throws -> Int64? {
        try await bench.client.statistics().counters.first { $0.name == name }?.value
      }
      while try await count("calls.RESOURCE_EXHAUSTED") != 1 {}
      // Its permit is released: another export is refused until then, and then admitted.
      var json: [UInt8] = []
      while json.isEmpty {
        do {
          for try await piece in try bench.client.exportCustomer(request) { json += piece }
        } catch let refusal as RPCClientError {
          #expect(refusal.code == .status(.resourceExhausted))
          #expect(refusal.errorInfo?.reason == "TOO_MANY_EXPORTS")
        }
      }
      let document = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]
      #expect((document?["facts"] as? [Any])?.count == payloads.count)

      var status: RPCStatus?
      var received = 0
      while status == nil {
        switch try unread.next() {
        case .success(let message): received += message.readableBytes
        case .failure(let ended): status = ended
        }
      }
      #expect(received < json.count)
      #expect(status?.code == .resourceExhausted)
      #expect(status?.message.contains(message) == true)
      #expect(status?.errorInfo?.reason == "SLOW_READER")
    }
  }

  @Test("One export too many is RESOURCE_EXHAUSTED with its reason, and can be retried")
  func tooManyExports() async throws {
    let limits = RPCLimits(writeBufferPause: 65_536, writeBuffer: 400_000)
    let exports = ExportLimits(exports: 1, patience: .seconds(600))
    try await ServiceBench.run(limits: limits, exports: exports) { bench async throws in
      _ = try await submitMany(bench)
      let request = ExportCustomerRequest(scope: Self.scope, accountID: "anna")
      let unread = try UnreadStream(
        path: bench.socketPath, WireMethods.exportCustomer, request)
      // The export has begun, and waits for its reader.
      guard case .success = try unread.next() else {
        Issue.record("the first export was refused")
        return
      }
      let refusal = await #expect(throws: RPCClientError.self) {
        for try await _ in try bench.client.exportCustomer(request) {}
      }
      #expect(refusal?.code == .status(.resourceExhausted))
      #expect(refusal?.errorInfo?.reason == "TOO_MANY_EXPORTS")
      #expect(refusal?.retryDelay != nil)
      withExtendedLifetime(unread) {}
    }
  }

  @Test func `an export that is not read gives way to another one`() async throws {
    let limits = RPCLimits(writeBufferPause: 65_536, writeBuffer: 400_000)
    let exports = ExportLimits(exports: 1, patience: .zero)
    try await ServiceBench.run(limits: limits, exports: exports) { bench async throws in
      let payloads = try await submitMany(bench)
      let request = ExportCustomerRequest(scope: Self.scope, accountID: "anna")
      let unread = try UnreadStream(path: bench.socketPath, WireMethods.exportCustomer, request)
      // The export has begun, and waits for its reader.
      guard case .success = try unread.next() else {
        Issue.record("the first export was refused")
        return
      }
      // There are no credentials, so each connection is a source of its own.
      var json: [UInt8] = []
      for try await piece in try bench.client.exportCustomer(request) { json += piece }
      let document = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]
      #expect((document?["facts"] as? [Any])?.count == payloads.count)
      var ended: RPCStatus?
      while ended == nil {
        if case .failure(let status) = try unread.next() { ended = status }
      }
      #expect(ended?.code == .resourceExhausted)
      #expect(ended?.errorInfo?.reason == "SLOW_READER")
      #expect(ended?.message.contains("another export waited") == true)
    }
  }

  /// An export of about 1.7 MB.
  private func submitMany(_ bench: ServiceBench) async throws -> [String] {
    let payloads = try (1...450).map { try purchase(bench, "\($0)") }
    _ = try await bench.client.submitSignedTransactions(
      SubmitSignedTransactionsRequest(signedPayloads: payloads, accountID: "anna"))
    return payloads
  }

  private func purchase(
    _ bench: ServiceBench, _ id: String, more: String = ""
  ) throws -> String {
    let bought = ServiceBench.now.rawValue - Milliseconds.dayLength
    return try bench.authority.sign(
      payloadJSON: Array(
        """
        {"transactionId":"\(id)","originalTransactionId":"\(id)",\
        "environment":"Production","bundleId":"\(SimulatedApp.bundleID)",\
        "productId":"com.example.scribe.adfree","type":"Non-Consumable",\
        "inAppOwnershipType":"PURCHASED","quantity":1,"purchaseDate":\(bought),\
        "originalPurchaseDate":\(bought)\(more),"signedDate":\(bought)}
        """.utf8))
  }
}
