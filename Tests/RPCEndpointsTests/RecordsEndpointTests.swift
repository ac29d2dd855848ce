import EntitlementDomain
import Foundation
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
      let gone = await #expect(throws: RPCClientError.self) {
        try await bench.client.deleteCustomer(deletion)
      }
      #expect(gone?.code == .status(.notFound))
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
}
