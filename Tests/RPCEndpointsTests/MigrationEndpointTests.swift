import EntitlementDomain
import EntitlementService
import EntitlementStore
import Foundation
import Framing
import RPCClient
import SQLiteStore
import ServiceSupport
import StoreSimulator
import Testing
import Wire

/// R89, R90.
@Suite("Imports of accounts on the wire", .timeLimit(.minutes(1)))
struct MigrationEndpointTests {
  private static let app = ServiceBench.scope.bundleID
  private static let scopes = [StoreEnvironment.production, .sandbox].map {
    AppScope(bundleID: app, environment: $0)
  }
  private static let reach: JobRecords.Reach = { $0 == app ? [.production, .sandbox] : [] }

  private func row(
    _ number: Int64, _ account: AccountID, _ transaction: TransactionID,
    environment: StoreEnvironment = .production, sandboxToo: Bool = false,
    token: AppAccountToken? = nil
  ) -> ImportedAccount {
    ImportedAccount(
      row: number, accountID: account, transactionID: transaction, appAccountToken: token,
      environment: environment, asksSandboxToo: sandboxToo)
  }

  private func add(
    _ client: EntitlementClient, _ rows: [ImportedAccount], to name: String = "i",
    of app: BundleID = app, isDryRun: Bool = false
  ) async throws -> [ImportRowResult] {
    try await client.importAccounts(
      ImportAccountsRequest(importID: name, bundleID: app, rows: rows, isDryRun: isDryRun)
    ).results
  }

  private func expect(
    _ code: RPCCode, _ message: String? = nil,
    at location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
  ) async {
    let failure = await #expect(throws: RPCClientError.self, sourceLocation: location) {
      try await body()
    }
    #expect(failure?.code == .status(code), sourceLocation: location)
    if let message {
      #expect(failure?.description.contains(message) == true, sourceLocation: location)
    }
  }

  @Test("Rows are stored once, and answered with what becomes of them")
  func add() async throws {
    try await ServiceBench.run(reach: Self.reach) { bench async throws in
      let rows = [
        row(2, "anna", "11", sandboxToo: true), row(3, "anna", "11"), row(4, "bert", "11"),
        row(5, "carl", "x1"), row(6, "dora", "12", token: "t"),
        row(7, "emil", "13", environment: .xcode),
        row(8, "fred", "14", environment: .sandbox, token: "7E3FB20B-4CDB-47CC-936D-99D65F608138"),
      ]
      let dry = try await add(bench.client, rows, isDryRun: true)
      await expect(.notFound) {
        _ = try await bench.client.getImport(.init(importID: "i", bundleID: Self.app))
      }
      let results = try await add(bench.client, rows)
      #expect(results == dry)
      #expect(
        results.map(\.state)
          == [.waiting, .duplicate, .failed, .failed, .failed, .failed, .waiting])
      #expect(
        results.map(\.failure) == [nil, nil, .conflict, .invalid, .invalid, .invalid, nil])
      #expect(results.allSatisfy { !$0.isKnown })
      #expect(try await add(bench.client, rows).allSatisfy(\.isKnown))

      let entry = try await bench.client.getImport(
        GetImportRequest(importID: "i", bundleID: Self.app)
      ).accountImport
      #expect(entry.importID == "i" && entry.bundleID == Self.app && entry.lastRow == 8)
      #expect(
        Set(entry.counts) == [
          ImportCount(state: .waiting, count: 2), ImportCount(state: .duplicate, count: 1),
          ImportCount(state: .failed, failure: .conflict, count: 1),
          ImportCount(state: .failed, failure: .invalid, count: 3),
        ])
      var failed: [ImportRowEntry] = []
      for try await row in bench.client.importRows(
        ListImportRowsRequest(importID: "i", pageSize: 1, bundleID: Self.app))
      {
        failed.append(row)
      }
      #expect(failed.map(\.row) == [4, 5, 6, 7])
      #expect(failed.first?.accountID == "bert" && failed.first?.transactionID == "11")
      let waiting = try await bench.client.listImportRows(
        ListImportRowsRequest(importID: "i", state: .waiting, bundleID: Self.app)
      ).rows
      #expect(waiting.map(\.appAccountToken) == [nil, "7e3fb20b-4cdb-47cc-936d-99d65f608138"])
      #expect(waiting.allSatisfy { $0.dueAt != nil })
      let stored = try await bench.store.importRows(
        AccountImportRowQuery(
          name: AccountImportName("i", of: Self.app), state: .waiting, scopes: Self.scopes, limit: 9
        ))
      #expect(stored.map(\.fallsBack) == [true, false])
      await expect(.failedPrecondition, "row 4 is stored with other values") {
        _ = try await add(bench.client, [row(4, "carl", "11")])
      }
      // One entry for what was stored, none for its repetition.
      let entries = try await bench.store.auditEntries(AuditQuery(limit: 10))
      #expect(entries.map(\.method) == ["ImportAccounts"])
      #expect(entries.map(\.subject) == ["import i"])
    }
  }

  @Test("A dry run finds purchases of other accounts, and names none")
  func links() async throws {
    try await ServiceBench.run(reach: Self.reach) { bench async throws in
      let owner = try await bench.submit(.firstPurchase)
      let links = try await bench.client.links(
        ListLinksRequest(scope: ServiceBench.scope, accountID: owner)
      ).links
      let chain = try #require(
        links.lazy.compactMap { link -> String? in
          if case .chain(let chain) = link.target { chain.rawValue } else { nil }
        }.first)
      let id = TransactionID(chain)
      let results = try await add(
        bench.client, [row(1, owner, id), row(2, "other", "99")], isDryRun: true)
      #expect(results.map(\.state) == [.waiting, .waiting])
      let taken = try await add(bench.client, [row(1, "other", id)], isDryRun: true)
      #expect(taken.map(\.failure) == [.linkedElsewhere])
      #expect(taken.first?.detail?.contains(owner.rawValue) == false)
    }
  }

  @Test("A dry run finds tokens that a request bound to another account")
  func boundTokens() async throws {
    try await ServiceBench.run(reach: Self.reach) { bench async throws in
      let token: AppAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
      // The UUIDs before them differ in the last digit, or in several.
      let others: [AppAccountToken] = [
        "7e3fb20b-4cdb-47cc-936d-99d65f60a000", "7e3fb20b-4cdb-47cc-936e-000000000000",
      ]
      for (token, account) in [
        (token, "anna"), (others[0], "anna"), (others[1], "anna"),
        ("7e3fb20b-4cdb-47cc-936d-99d65f608137", "carl"),
      ] {
        _ = try await bench.client.bindAccountToken(
          BindAccountTokenRequest(
            scope: ServiceBench.scope, appAccountToken: token, accountID: AccountID(account),
            reason: "r"))
      }
      let results = try await add(
        bench.client,
        [
          row(1, "anna", "11", token: token), row(2, "bert", "12", token: token),
          row(3, "bert", "13", token: "7e3fb20b-4cdb-47cc-936d-99d65f608139"),
          row(4, "bert", "14"), row(5, "bert", "15", token: others[0]),
          row(6, "bert", "16", token: others[1]),
        ], isDryRun: true)
      #expect(
        results.map(\.failure) == [
          nil, .tokenElsewhere, nil, nil, .tokenElsewhere, .tokenElsewhere,
        ])
      #expect(results[1].detail?.contains("anna") == false)
    }
  }

  @Test("The rows of an account without anything stored are exported, and deleted with it")
  func records() async throws {
    try await ServiceBench.run(reach: Self.reach) { bench async throws in
      func export(_ account: AccountID) async throws -> [String: Any] {
        var json: [UInt8] = []
        let request = ExportCustomerRequest(scope: ServiceBench.scope, accountID: account)
        for try await piece in try bench.client.exportCustomer(request) { json += piece }
        let object = try JSONSerialization.jsonObject(with: Data(json))
        return try #require(object as? [String: Any])
      }
      func delete(_ account: AccountID) async throws -> LinkResponse {
        try await bench.client.deleteCustomer(
          DeleteCustomerRequest(
            scope: ServiceBench.scope, accountID: account, reason: "they asked"))
      }
      let owner = try await bench.submit(.firstPurchase)
      let token: AppAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
      let rows = [
        row(1, "anna", "11", token: token), row(2, "bert", "12"), row(3, owner, "13"),
        row(4, "anna", "x"),
      ]
      _ = try await add(bench.client, rows)

      let document = try await export("anna")
      #expect(document["accountId"] as? String == "anna")
      #expect((document["facts"] as? [Any])?.isEmpty == true)
      let entries = try #require(document["importRows"] as? [[String: Any]])
      #expect(entries.map { $0["importId"] as? String } == ["i", "i"])
      #expect(entries.map { $0["transactionId"] as? String } == ["11", "x"])
      #expect(entries[0]["appAccountToken"] as? String == token.rawValue)
      #expect(entries[1]["state"] as? String == "IMPORT_ROW_STATE_FAILED")
      #expect((try await export(owner)["importRows"] as? [Any])?.count == 1)

      let deleted = try await delete("anna")
      #expect(deleted.isChanged && deleted.customers.isEmpty)
      await expect(.notFound) { _ = try await export("anna") }
      await expect(.notFound) { _ = try await delete("anna") }
      #expect(try await delete(owner).isChanged)
      // The table names it once more.
      _ = try await add(bench.client, [row(5, owner, "13")])
      #expect(try await export(owner)["importRows"] != nil)
      #expect(try await delete(owner).isChanged)
      #expect(try await !delete(owner).isChanged)
      await expect(.notFound) { _ = try await export(owner) }
      let left = try await bench.client.getImport(
        GetImportRequest(importID: "i", bundleID: Self.app)
      ).accountImport
      #expect(left.counts == [ImportCount(state: .waiting, count: 1)])
      let audited = try await bench.store.auditEntries(AuditQuery(limit: 20))
        .filter { $0.method == "DeleteCustomer" }
      #expect(audited.map(\.subject).filter { !$0.isEmpty }.count == 2)
      #expect(audited.count == 3 && audited.allSatisfy { $0.reason == "they asked" })
    }
  }

  @Test("Imports are listed, cancelled, done again and deleted, with entries of the audit trail")
  func changes() async throws {
    try await ServiceBench.run(reach: Self.reach) { bench async throws in
      _ = try await add(bench.client, (1...9).map { row($0, "anna", TransactionID("1\($0)")) })
      _ = try await add(bench.client, [row(1, "bert", "99")], to: "j")
      var found: [String?] = []
      for try await entry in bench.client.imports(ListImportsRequest(pageSize: 1)) {
        found.append(entry.importID)
      }
      #expect(found == ["i", "j"])
      func change(_ action: ImportAction) async throws -> ChangeImportResponse {
        try await bench.client.changeImport(
          ChangeImportRequest(
            importID: "i", action: action, onBehalfOf: "ada", reason: "why", bundleID: Self.app))
      }
      #expect(try await change(.cancel) == ChangeImportResponse(changedRows: 9, isComplete: true))
      #expect(try await change(.cancel).changedRows == 0)
      #expect(try await change(.retry).changedRows == 9)
      #expect(try await change(.delete).changedRows == 9)
      await expect(.notFound) { _ = try await change(.delete) }
      let entries = try await bench.store.auditEntries(AuditQuery(limit: 10))
      #expect(
        entries.map(\.method) == [
          "ImportAccounts", "ImportAccounts", "CancelImport", "RetryImport", "DeleteImport",
        ])
      #expect(entries.last?.onBehalfOf == "ada" && entries.last?.reason == "why")
    }
  }

  @Test("What cannot be imported is refused")
  func refusals() async throws {
    try await ServiceBench.run(reach: Self.reach) { bench async throws in
      let one = [row(1, "anna", "11")]
      await expect(.invalidArgument, "import_id") {
        _ = try await add(bench.client, one, to: "a b")
      }
      await expect(.invalidArgument, "order of their numbers") {
        _ = try await add(bench.client, one + one)
      }
      await expect(.invalidArgument, "at least 1") {
        _ = try await add(bench.client, [row(0, "anna", "11")])
      }
      await expect(.invalidArgument, "names no app") {
        _ = try await add(bench.client, one, of: "com.example.other")
      }
      await expect(.invalidArgument, "page token") {
        _ = try await bench.client.listImports(ListImportsRequest(pageToken: "x"))
      }
    }
    try await ServiceBench.run { bench async throws in
      await expect(.failedPrecondition, "no key of the App Store Server API") {
        _ = try await add(bench.client, [row(1, "anna", "11")])
      }
    }
    try await ServiceBench.run(reach: { _ in [.sandbox] }) { bench async throws in
      let results = try await add(
        bench.client, [row(1, "anna", "11"), row(2, "anna", "12", sandboxToo: true)])
      #expect(results.map(\.failure) == [.notServed, nil])
    }
  }

  @Test("A caller of one environment imports into that one, and of one app sees no other's imports")
  func scopes() async throws {
    let limited = BenchAccess.Member(
      name: "limited", fields: "roles: [operator]\napps: {\(Self.app): [Production]}")
    let stranger = BenchAccess.Member(
      name: "stranger", fields: "roles: [operator]\napps: {com.example.other: [Production]}")
    let access = try BenchAccess([limited, stranger])
    try await ServiceBench.run(access: access, reach: Self.reach) { bench async throws in
      func client(_ member: BenchAccess.Member) -> EntitlementClient {
        EntitlementClient(
          bench.addresses[0],
          configuration: EntitlementClientConfiguration(metadata: member.metadata, retries: .off))
      }
      let (own, other) = (client(limited), client(stranger))
      let results = try await add(
        own,
        [
          row(1, "anna", "11", sandboxToo: true), row(2, "anna", "12", environment: .sandbox),
        ])
      #expect(results.map(\.failure) == [nil, .notServed])
      let stored = try await bench.store.importRows(
        AccountImportRowQuery(
          name: AccountImportName("i", of: Self.app), state: .waiting, scopes: Self.scopes, limit: 9
        ))
      #expect(stored.map(\.fallsBack) == [false])
      // The row of the other environment is not shown, does not wait again, and is not deleted.
      let failed = try await own.listImportRows(
        ListImportRowsRequest(importID: "i", bundleID: Self.app))
      #expect(failed.rows.isEmpty)
      let retried = try await own.changeImport(
        ChangeImportRequest(importID: "i", action: .retry, bundleID: Self.app))
      #expect(retried == ChangeImportResponse(changedRows: 0, isComplete: true))
      await expect(.failedPrecondition, "an environment that the caller may not use") {
        _ = try await own.changeImport(
          ChangeImportRequest(importID: "i", action: .delete, bundleID: Self.app))
      }
      await expect(.permissionDenied) { _ = try await add(other, [row(3, "anna", "13")]) }
      await expect(.permissionDenied) {
        _ = try await other.getImport(GetImportRequest(importID: "i", bundleID: Self.app))
      }
      await expect(.permissionDenied) {
        _ = try await other.changeImport(
          ChangeImportRequest(importID: "i", action: .delete, bundleID: Self.app))
      }
      // Whether an id is in use elsewhere is not told.
      await expect(.notFound) {
        _ = try await other.getImport(
          GetImportRequest(importID: "i", bundleID: "com.example.other"))
      }
      await expect(.permissionDenied) { _ = try await own.listImports(ListImportsRequest()) }
      #expect(
        try await own.listImports(ListImportsRequest(bundleID: Self.app)).imports.map(\.importID)
          == ["i"])
      await own.close()
      await other.close()
    }
  }
}
