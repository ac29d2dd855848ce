import EntitlementDomain
import EntitlementService
import Foundation
import NIOCore
import RPCClient
import StoreSimulator
import Testing
import Wire

@Suite("Records of customers on the wire", .timeLimit(.minutes(1)))
struct RecordsEndpointTests {
  private static let scope = ServiceBench.scope

  @Test("A history is told, an account exported and deleted, and gone")
  func records() async throws {
    try await ServiceBench.run { bench async throws in
      let account = try await bench.submit(.firstPurchase)
      _ = try await bench.client.addGrant(
        AddGrantRequest(
          scope: Self.scope, accountID: account, entitlementID: "pro", reason: "r", author: "a"))
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
      #expect(document["account_id"] as? String == account.rawValue)

      let deletion = DeleteCustomerRequest(
        scope: Self.scope, accountID: account, reason: "they asked", author: "ops")
      #expect(try await bench.client.deleteCustomer(deletion).isChanged)
      guard case .state(let state) = try await bench.state(of: .account(account)) else { return }
      #expect(state.coreState == .new)
      // Asked again, when the answer was lost.
      let again = try await bench.client.deleteCustomer(deletion)
      #expect(!again.isChanged)
      #expect(again.customers.map(\.subject) == [.account(account)])
      let stranger = await #expect(throws: RPCClientError.self) {
        try await bench.client.deleteCustomer(
          DeleteCustomerRequest(
            scope: Self.scope, accountID: "nobody", reason: "they asked", author: "ops"))
      }
      #expect(stranger?.code == .status(.notFound))
      let missing = await #expect(throws: RPCClientError.self) {
        for try await _ in try bench.client.exportCustomer(export) {}
      }
      #expect(missing?.code == .status(.notFound))
    }
  }

  @Test("An export that is larger than a connection's buffer comes whole to a reader that keeps up")
  func largeExport() async throws {
    // Some 1.7 MB in all, of which 400 kB may wait.
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
      #expect(Set(facts.compactMap { $0["signed_payload"] as? String }) == Set(payloads))
    }
  }

  @Test(
    "An export that is not read, or not to its end, is ended in time, and gives up its place",
    arguments: [
      (slowReader: Duration.seconds(1), export: Duration.seconds(600), message: "not read fast"),
      (.seconds(600), .seconds(1), "not read within 1.0 seconds"),
    ])
  func unreadExport(slowReader: Duration, export: Duration, message: String) async throws {
    let limits = RPCLimits(
      writeBufferPause: 65_536, writeBuffer: 400_000, slowReaderTime: slowReader)
    let exports = ExportLimits(exports: 1, time: export)
    try await ServiceBench.run(limits: limits, exports: exports) { bench async throws in
      let payloads = try await submitMany(bench)
      let request = ExportCustomerRequest(scope: Self.scope, accountID: "anna")
      let unread = try UnreadStream(
        path: bench.socketPath, WireMethods.exportCustomer, request)
      func count(_ name: String) async throws -> Int64? {
        try await bench.client.statistics().counters.first { $0.name == name }?.value
      }
      while try await count("calls.RESOURCE_EXHAUSTED") != 1 {}
      // What it held is let go: another has its place, and is refused until then.
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

  @Test("One export too many is RESOURCE_EXHAUSTED with its reason, and may be asked for again")
  func tooManyExports() async throws {
    let limits = RPCLimits(writeBufferPause: 65_536, writeBuffer: 400_000)
    try await ServiceBench.run(limits: limits, exports: ExportLimits(exports: 1)) {
      bench async throws in
      _ = try await submitMany(bench)
      let request = ExportCustomerRequest(scope: Self.scope, accountID: "anna")
      let unread = try UnreadStream(
        path: bench.socketPath, WireMethods.exportCustomer, request)
      // It has begun, and waits for its reader.
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

  /// Some 1.7 MB of an export.
  private func submitMany(_ bench: ServiceBench) async throws -> [String] {
    let bought = ServiceBench.now.rawValue - Milliseconds.dayLength
    var payloads: [String] = []
    for id in 1...450 {
      payloads.append(
        try bench.authority.sign(
          payloadJSON: Array(
            """
            {"transactionId":"\(id)","originalTransactionId":"\(id)",\
            "environment":"Production","bundleId":"\(SimulatedApp.bundleID)",\
            "productId":"com.example.scribe.adfree","type":"Non-Consumable",\
            "inAppOwnershipType":"PURCHASED","quantity":1,"purchaseDate":\(bought),\
            "originalPurchaseDate":\(bought),"signedDate":\(bought)}
            """.utf8)))
    }
    _ = try await bench.client.submitSignedTransactions(
      SubmitSignedTransactionsRequest(signedPayloads: payloads, accountID: "anna"))
    return payloads
  }
}
