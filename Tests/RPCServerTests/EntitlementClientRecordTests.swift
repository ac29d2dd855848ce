import EntitlementDomain
import Framing
import NIOCore
import RPCClient
import RPCServer
import Testing
import Wire

@Suite("EntitlementClient: links and records")
struct EntitlementClientRecordTests {
  @Test("Each call about links reaches its method with its request and gives back the answer")
  func links() async throws {
    let scope = ScriptedServer.scope
    let target = LinkTarget.chain("1")
    let resolve = ResolveAccountRequest(customer: .transaction("2"), scope: scope)
    let link = LinkAccountRequest(
      scope: scope, target: target, accountID: "a", reason: "r", onBehalfOf: "o")
    let unlink = UnlinkAccountRequest(scope: scope, target: target, reason: "r", onBehalfOf: "o")
    let transfer = TransferPurchaseRequest(
      scope: scope, target: target, toAccountID: "b", reason: "r", onBehalfOf: "o")
    let merge = MergeAccountsRequest(
      scope: scope, fromAccountID: "a", intoAccountID: "b", reason: "r", onBehalfOf: "o")
    let list = ListLinksRequest(scope: scope, accountID: "a")
    let history = GetLinkHistoryRequest(scope: scope, subject: .target(target))
    func changed(_ revision: Int64) -> LinkResponse {
      LinkResponse(
        isChanged: true, targets: [target],
        customers: [SubmittedCustomer(subject: .account("a"), scope: scope, revision: revision)])
    }
    let resolved = ResolveAccountResponse(subject: .unlinkedChain("1"), revision: 3)
    let links = ListLinksResponse(links: [AccountLink(target: target, since: 4, reason: .named)])
    let events = GetLinkHistoryResponse(
      events: [LinkHistoryEntry(target: target, at: 5, toAccountID: "a", reason: .named)])

    let bind = BindAccountTokenRequest(
      scope: scope, appAccountToken: "t", accountID: "a", reason: "r", onBehalfOf: "o")
    let tokens = ListAccountTokensRequest(scope: scope, accountID: "a")
    let known = ListAccountTokensResponse(
      tokens: [
        AccountToken(
          appAccountToken: "t", state: .bound, accountID: "a", author: "o", reason: "r", since: 1,
          onBehalfOf: "p")
      ], nextPageToken: nil)

    var router = RPCRouter()
    ScriptedServer.answer(WireMethods.bindAccountToken, in: &router, to: bind, with: changed(5))
    ScriptedServer.answer(WireMethods.listAccountTokens, in: &router, to: tokens, with: known)
    ScriptedServer.answer(WireMethods.resolveAccount, in: &router, to: resolve, with: resolved)
    ScriptedServer.answer(WireMethods.linkAccount, in: &router, to: link, with: changed(1))
    ScriptedServer.answer(WireMethods.unlinkAccount, in: &router, to: unlink, with: changed(2))
    ScriptedServer.answer(
      WireMethods.transferPurchase, in: &router, to: transfer, with: changed(3))
    ScriptedServer.answer(WireMethods.mergeAccounts, in: &router, to: merge, with: changed(4))
    ScriptedServer.answer(WireMethods.listLinks, in: &router, to: list, with: links)
    ScriptedServer.answer(WireMethods.getLinkHistory, in: &router, to: history, with: events)
    try await ScriptedServer.run(router) { client async throws in
      #expect(try await client.resolveAccount(resolve) == resolved)
      #expect(try await client.linkAccount(link) == changed(1))
      #expect(try await client.unlinkAccount(unlink) == changed(2))
      #expect(try await client.transferPurchase(transfer) == changed(3))
      #expect(try await client.mergeAccounts(merge) == changed(4))
      #expect(try await client.bindAccountToken(bind) == changed(5))
      #expect(try await client.accountTokens(tokens) == known)
      #expect(try await client.links(list) == links)
      #expect(try await client.linkHistory(history) == events)
    }
  }

  @Test("History and deletion reach their methods, and unlinked chains come page by page")
  func records() async throws {
    let scope = ScriptedServer.scope
    let history = GetCustomerHistoryRequest(scope: scope, accountID: "a")
    let answered = GetCustomerHistoryResponse(
      accountID: "b",
      entries: [
        CustomerHistoryEntry(
          at: 1, occurrence: .notification(NotificationEntry(notificationUUID: "u", type: "TEST")))
      ])
    let delete = DeleteCustomerRequest(scope: scope, accountID: "a", reason: "r", onBehalfOf: "o")
    let deleted = LinkResponse(isChanged: true, targets: [.appTransaction("7")], customers: [])
    let pages = [["1", "2"], [], ["3"]]

    var router = RPCRouter()
    ScriptedServer.answer(
      WireMethods.getCustomerHistory, in: &router, to: history, with: answered)
    ScriptedServer.answer(WireMethods.deleteCustomer, in: &router, to: delete, with: deleted)
    ScriptedServer.answer(WireMethods.listUnlinkedChains, in: &router) { request in
      let page = request.pageToken.flatMap { Int($0) } ?? 0
      let ids = request.pageSize == 2 ? pages[page] : []
      return ListUnlinkedChainsResponse(
        chains: ids.map {
          UnlinkedChainEntry(
            originalTransactionID: OriginalTransactionID($0), revision: 1, changedAt: 1)
        }, nextPageToken: page + 1 < pages.count ? "\(page + 1)" : nil)
    }
    try await ScriptedServer.run(router) { client async throws in
      #expect(try await client.customerHistory(history) == answered)
      #expect(try await client.deleteCustomer(delete) == deleted)
      var seen: [String] = []
      for try await chain in client.unlinkedChains(in: scope, pageSize: 2) {
        seen.append(chain.originalTransactionID.rawValue)
      }
      #expect(seen == ["1", "2", "3"])
    }
  }

  @Test("Entries of the audit trail come page by page, and seals with their request")
  func audit() async throws {
    @Sendable func entry(_ number: Int64) -> AuditedCallEntry {
      AuditedCallEntry(
        chain: "c", position: number, node: "n", at: 1, peer: "unix", method: "AddGrant",
        outcome: "changed", hash: "h\(number)")
    }
    let pages: [[Int64]] = [[1, 2], [], [3]]
    let request = ListAuditEntriesRequest(method: "AddGrant", pageSize: 2)
    let seals = ListAuditSealsRequest(afterNumber: 4, pageSize: 5)
    let sealed = ListAuditSealsResponse(
      seals: [AuditSealEntry(number: 5, at: 1, node: "n", chains: [], hash: "h")])
    var router = RPCRouter()
    ScriptedServer.answer(WireMethods.listAuditSeals, in: &router, to: seals, with: sealed)
    ScriptedServer.answer(WireMethods.listAuditEntries, in: &router) { request in
      let page = request.pageToken.flatMap { Int($0) } ?? 0
      let numbers = request.method == "AddGrant" && request.pageSize == 2 ? pages[page] : []
      return ListAuditEntriesResponse(
        entries: numbers.map { entry($0) },
        nextPageToken: page + 1 < pages.count ? "\(page + 1)" : nil)
    }
    try await ScriptedServer.run(router) { client async throws in
      var seen: [AuditedCallEntry] = []
      for try await entry in client.auditEntries(request) { seen.append(entry) }
      #expect(seen == [1, 2, 3].map { entry($0) })
      #expect(try await client.listAuditSeals(seals) == sealed)
    }
  }

  @Test("Notifications come page by page, also over pages without any")
  func notifications() async throws {
    @Sendable func entry(_ number: Int) -> ReceivedNotificationEntry {
      ReceivedNotificationEntry(
        notificationUUID: NotificationUUID("u\(number)"), notificationType: "TEST",
        receivedAt: Milliseconds(Int64(number)))
    }
    let pages = [[], [5, 4], [], [3]]
    let request = ListNotificationsRequest(notificationType: "TEST", since: 2, pageSize: 2)
    var router = RPCRouter()
    ScriptedServer.answer(WireMethods.listNotifications, in: &router) { asked in
      let page = asked.pageToken.flatMap { Int($0) } ?? 0
      let isSame =
        asked.notificationType == "TEST" && asked.since == 2 && asked.pageSize == 2
        && asked.bundleID == nil && asked.environment == nil
      return ListNotificationsResponse(
        notifications: isSame ? pages[page].map { entry($0) } : [],
        nextPageToken: page + 1 < pages.count ? "\(page + 1)" : nil)
    }
    try await ScriptedServer.run(router) { client async throws in
      var seen: [ReceivedNotificationEntry] = []
      for try await entry in client.notifications(request) { seen.append(entry) }
      #expect(seen == [5, 4, 3].map { entry($0) })
    }
  }

  @Test("An export comes in pieces, and one that breaks off is no export")
  func export() async throws {
    var router = RPCRouter()
    let method = WireMethods.exportCustomer
    router.serverStreaming(method) { call, stream in
      let account = (try? ExportCustomerRequest.decode(from: call.payload))?.accountID
      for piece in [#"{"a":""#, "é", #""}"#] {
        if let message = try? ExportedPiece(json: Array(piece.utf8)).encoded() {
          stream.send(message)
        }
      }
      if account == "whole" { stream.finish() } else { stream.fail(RPCStatus(.unavailable, "no")) }
    }
    func document(of account: AccountID, _ client: EntitlementClient) async throws -> String {
      var bytes: [UInt8] = []
      let request = ExportCustomerRequest(scope: ScriptedServer.scope, accountID: account)
      for try await piece in try client.exportCustomer(request) { bytes += piece }
      return String(decoding: bytes, as: UTF8.self)
    }
    try await ScriptedServer.run(router) { client async throws in
      #expect(try await document(of: "whole", client) == #"{"a":"é"}"#)
      let broken = await #expect(throws: RPCClientError.self) {
        try await document(of: "broken", client)
      }
      #expect(broken?.code == .status(.unavailable))
    }
  }
}
