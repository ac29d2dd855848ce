import EntitlementDomain
import Framing
import RPCClient
@testable import RPCEndpoints
import ServiceSupport
import StoreSimulator
import Testing
import Wire

@Suite("The audit trail on the wire", .timeLimit(.minutes(1)))
struct AuditEndpointTests {
  private static let scope = ServiceBench.scope

  @Test("Each audited method has an entry with its peer, and pages continue where they ended (R76)")
  func methods() async throws {
    try await ServiceBench.run { bench async throws in
      let account = try await bench.submit(.firstPurchase)
      let grant = try await bench.client.addGrant(
        AddGrantRequest(
          scope: Self.scope, accountID: account, entitlementID: "pro", reason: "r", onBehalfOf: "a")
      )
      _ = try await bench.client.withdrawGrant(
        WithdrawGrantRequest(
          grantID: grant.grant.id, scope: Self.scope, reason: "r", onBehalfOf: "a"))
      let target = try #require(
        try await bench.client.links(
          ListLinksRequest(scope: Self.scope, accountID: account)
        ).links.first?.target)
      _ = try await bench.client.unlinkAccount(
        UnlinkAccountRequest(scope: Self.scope, target: target, reason: "r", onBehalfOf: "a"))
      _ = try await bench.client.linkAccount(
        LinkAccountRequest(
          scope: Self.scope, target: target, accountID: "second", reason: "r", onBehalfOf: "a"))
      _ = try await bench.client.transferPurchase(
        TransferPurchaseRequest(
          scope: Self.scope, target: target, fromAccountID: "second", toAccountID: account,
          reason: "r", onBehalfOf: "a"))
      _ = try await bench.client.bindAccountToken(
        BindAccountTokenRequest(
          scope: Self.scope, appAccountToken: "aaaaaaaa-0000-4000-8000-000000000001",
          accountID: account, reason: "r", onBehalfOf: "a"))
      for try await _ in try bench.client.exportCustomer(
        ExportCustomerRequest(scope: Self.scope, accountID: account))
      {}
      _ = try await bench.client.mergeAccounts(
        MergeAccountsRequest(
          scope: Self.scope, fromAccountID: account, intoAccountID: "other", reason: "r",
          onBehalfOf: "a"))
      _ = try await bench.client.deleteCustomer(
        DeleteCustomerRequest(scope: Self.scope, accountID: "other", reason: "r", onBehalfOf: "a"))
      // It changes nothing, and so has no entry.
      _ = try await bench.client.reloadCatalog()

      let all = ListAuditEntriesRequest(pageSize: 2)
      var entries: [AuditedCallEntry] = []
      for try await entry in bench.client.auditEntries(all) { entries.append(entry) }
      #expect(
        entries.sorted { $0.position < $1.position }.map(\.method) == [
          "AddGrant", "WithdrawGrant", "UnlinkAccount", "LinkAccount", "TransferPurchase",
          "BindAccountToken", "ExportCustomer", "MergeAccounts", "DeleteCustomer",
        ])
      #expect(entries.allSatisfy { $0.peer.hasPrefix("127.0.0.1:") })
      #expect(entries.allSatisfy { $0.app == Self.scope.bundleID.rawValue })
      #expect(entries.allSatisfy { $0.author == "local" && $0.proof == "none" })
      #expect(entries.count { $0.onBehalfOf == "a" } == 8)
      #expect(!"\(entries)".contains(account.rawValue))
      #expect(try await bench.client.listAuditSeals(ListAuditSealsRequest()).seals == [])
    }
  }

  @Test("Requests that cannot be meant are INVALID_ARGUMENT")
  func invalid() async throws {
    try await ServiceBench.run { bench async throws in
      for request in [
        ListAuditEntriesRequest(accountID: "a"),
        ListAuditEntriesRequest(method: "AddGrant", isByChain: true),
        ListAuditEntriesRequest(pageToken: "next"),
        ListAuditEntriesRequest(pageToken: "1:\u{7f}:2"),
        ListAuditEntriesRequest(author: "a\u{0}"),
        ListAuditEntriesRequest(onBehalfOf: "a\u{0}"),
      ] {
        let failure = await #expect(throws: RPCClientError.self) {
          try await bench.client.listAuditEntries(request)
        }
        #expect(failure?.code == .status(.invalidArgument), "\(request)")
      }
    }
  }
}
