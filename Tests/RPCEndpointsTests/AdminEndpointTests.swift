import EntitlementDomain
import Foundation
import RPCClient
import ServiceSupport
import SQLiteStore
import StoreSimulator
import Testing
import Wire

@Suite("AdminService on the wire")
struct AdminEndpointTests {
  private static let grantID: GrantID = "6f1f4f0e-2c8a-4d5f-9b1e-00000000000a"

  private func request(expires: Milliseconds? = nil) -> AddGrantRequest {
    AddGrantRequest(
      grantID: Self.grantID, scope: ServiceBench.scope, accountID: "anna", entitlementID: "pro",
      expires: expires, reason: "a long outage", onBehalfOf: "ops@example.com")
  }

  @Test("A grant is given, read, listed and withdrawn")
  func grants() async throws {
    try await ServiceBench.run { bench async throws in
      let end = ServiceBench.now.advanced(by: 1_000)
      let given = try await bench.client.addGrant(request(expires: end))
      #expect(given.isChanged)
      #expect(given.grant.starts == ServiceBench.now)
      guard case .state(let state) = try await bench.state(of: .account("anna")) else {
        Issue.record("no state")
        return
      }
      #expect(state.revision == given.revision)
      #expect(state.nextTransitionAt == end)
      #expect(state.entitlements.flatMap(\.sources).map(\.origin) == [.grant(Self.grantID)])
      #expect(try await !bench.client.addGrant(request()).isChanged)

      let withdrawn = try await bench.client.withdrawGrant(
        WithdrawGrantRequest(
          grantID: Self.grantID, scope: ServiceBench.scope, reason: "over", onBehalfOf: "ops"))
      #expect(withdrawn.isChanged)
      #expect(withdrawn.revision > given.revision)
      #expect(withdrawn.grant.withdrawal?.at == ServiceBench.now)
      let listed = try await bench.client.grants(
        ListGrantsRequest(scope: ServiceBench.scope, accountID: "anna"))
      #expect(listed.grants == [withdrawn.grant])
    }
  }

  @Test("An unknown grant is NOT_FOUND; an invalid one names its field")
  func refused() async throws {
    try await ServiceBench.run { bench async throws in
      let unknown = await #expect(throws: RPCClientError.self) {
        try await bench.client.withdrawGrant(
          WithdrawGrantRequest(
            grantID: Self.grantID, scope: ServiceBench.scope, reason: "r", onBehalfOf: "a"))
      }
      #expect(unknown?.code == .status(.notFound))
      let late = await #expect(throws: RPCClientError.self) {
        try await bench.client.addGrant(request(expires: 5))
      }
      #expect(late?.code == .status(.invalidArgument))
      #expect(late?.fieldViolations.map(\.field) == ["expires_ms"])
    }
  }

  @Test("GetCatalog returns the catalog in force and the result of the last reload")
  func catalog() async throws {
    try await ServiceBench.run { bench async throws in
      let start = try await bench.client.catalog()
      #expect(start.digest.count == 64)
      #expect(start.inForceSince == ServiceBench.now)
      #expect(start.appCount == 1)
      #expect(start.productCount == 6)
      #expect(start.entitlementCount == 4)
      #expect(start.lastAttempt == nil)

      try bench.setCatalog(
        SimulatedApp.catalogYAML.replacing("type: consumable", with: "type: eternal"))
      let dry = try await bench.client.reloadCatalog(ReloadCatalogRequest(isDryRun: true))
      #expect(dry.lastAttempt?.isValid == false)
      #expect(try await bench.client.catalog() == start)
      let broken = try await bench.client.reloadCatalog()
      #expect(broken.digest == start.digest)
      let attempt = try #require(broken.lastAttempt)
      #expect(!attempt.isValid)
      #expect(attempt.digest != start.digest)
      #expect(attempt.issues.map(\.field) == ["products[5].type"])
      #expect(try await bench.client.catalog() == broken)

      try FileManager.default.removeItem(atPath: bench.catalogPath)
      let gone = try await bench.client.reloadCatalog()
      #expect(gone.lastAttempt?.failure == "it is gone")
      #expect(gone.lastAttempt?.digest == nil)

      try bench.setCatalog(SimulatedApp.catalogYAML + "# mended\n")
      let mended = try await bench.client.reloadCatalog()
      #expect(mended.lastAttempt?.isValid == true)
      #expect(mended.digest == mended.lastAttempt?.digest)
      #expect(mended.digest != start.digest)
      #expect(mended.inForceSince > start.inForceSince)
    }
  }

  @Test("The issues of a catalog are returned, whatever characters its names have")
  func catalogWithControlCharacters() async throws {
    try await ServiceBench.run { bench async throws in
      try bench.setCatalog(SimulatedApp.catalogYAML + "\n\"a\\0b\": c\n")
      let attempt = try await bench.client.reloadCatalog().lastAttempt
      #expect(attempt?.issues.map(\.field) == [#"a\u{0}b"#])
      #expect(try await bench.client.catalog().lastAttempt == attempt)
      let account = try await bench.submit(.nonConsumable)
      let error = await #expect(throws: RPCClientError.self) {
        try await bench.client.explain(
          ExplainCustomerStateRequest(
            customer: .account(account), scope: ServiceBench.scope,
            catalogYAML: "{\"a\\0\": 1, \"a\\0\": 2}"))
      }
      #expect(error?.code == .status(.invalidArgument))
      #expect(error?.message.contains(#"the same key twice: a\u{0}"#) == true)
    }
  }

  @Test("A state from before a new catalog is never NOT_MODIFIED")
  func notModifiedAcrossCatalogs() async throws {
    try await ServiceBench.run { bench async throws in
      let account = try await bench.submit(.nonConsumable)
      guard case .state(let state) = try await bench.state(of: .account(account)) else { return }
      #expect(
        try await bench.state(of: .account(account), ifRevisionDiffers: state.revision)
          == .notModified(revision: state.revision))
      try bench.setCatalog(
        SimulatedApp.catalogYAML.replacing(
          "type: non_consumable\n    entitlements: [ad_free]",
          with: "type: non_consumable\n    entitlements: [pro]"))
      #expect(try await bench.client.reloadCatalog().lastAttempt?.isValid == true)
      guard
        case .state(let other) = try await bench.state(
          of: .account(account), ifRevisionDiffers: state.revision)
      else {
        Issue.record("NOT_MODIFIED although the state is another one")
        return
      }
      #expect(other.revision == state.revision)
      #expect(other.entitlements.map(\.entitlementID) == ["pro"])
    }
  }

  @Test("ListChanges returns every change in order, in pages")
  func changes() async throws {
    try await ServiceBench.run { bench async throws in
      try await bench.submit(.nonConsumable)
      let facts = try bench.signed(.firstPurchase, seed: 9).flatMap(\.facts)
      _ = try await bench.client.submitSignedTransactions(
        SubmitSignedTransactionsRequest(signedPayloads: facts))
      _ = try await bench.client.addGrant(request())
      let all = try await bench.client.changes(ListChangesRequest()).changes
      #expect(all.count == 3)
      #expect(all.map(\.sequence) == all.map(\.sequence).sorted())
      #expect(all.allSatisfy { $0.scope == ServiceBench.scope })
      #expect(all.map(\.hasFacts) == [true, true, false])
      #expect(all.map(\.isLinked) == [true, false, false])
      #expect(all.map(\.hasGrants) == [false, false, true])
      #expect(all[0].subject == .account(AccountID(LifeCycle.nonConsumable.rawValue)))
      #expect(all[2].subject == .account("anna"))
      guard case .unlinkedChain = all[1].subject else {
        Issue.record("nobody claimed the second purchase")
        return
      }
      let second = try await bench.client.changes(
        ListChangesRequest(afterSequence: all[0].sequence, pageSize: 1))
      #expect(second.changes == [all[1]])
      let none = try await bench.client.changes(ListChangesRequest(afterSequence: .max))
      #expect(none.changes.isEmpty)
    }
  }

  @Test("A notification's events are in its answer and in the feed")
  func events() async throws {
    try await ServiceBench.run { bench async throws in
      let jws = try #require(
        try bench.signed(.refunded, seed: 1).compactMap(\.notification).last)
      let answer = try await bench.client.submitNotification(
        SubmitNotificationRequest(signedPayload: jws, accountID: "anna"))
      #expect(answer.events.map(\.kind).contains(.refunded))
      let feed = try await bench.client.changes(ListChangesRequest())
      #expect(feed.changes.flatMap(\.events) == answer.events)
    }
  }

  @Test("A customer's state is explained, also under another catalog")
  func explain() async throws {
    try await ServiceBench.run { bench async throws in
      let account = try await bench.submit(.nonConsumable)
      let request = ExplainCustomerStateRequest(
        customer: .account(account), scope: ServiceBench.scope)
      guard case .state(let state) = try await bench.state(of: .account(account)) else { return }
      let explanation = try await bench.client.explain(request).explanation
      #expect(explanation.state == state)
      #expect(!explanation.entitlements.isEmpty)
      var other = request
      other.catalogYAML = SimulatedApp.catalogYAML.replacing(
        "entitlements: [ad_free]", with: "entitlements: [pro]")
      #expect(
        try await bench.client.explain(other).explanation.state.entitlements.map(\.entitlementID)
          == ["pro"])
      var wrong = request
      wrong.catalogYAML = "version: 2"
      let error = await #expect(throws: RPCClientError.self) {
        try await bench.client.explain(wrong)
      }
      #expect(error?.code == .status(.invalidArgument))
      #expect(error?.fieldViolations.map(\.field) == ["catalog_yaml"])
      #expect(error?.message.contains("line 1, version: error") == true)
    }
  }

  @Test("GetServer tells which server answers, with the catalog in force")
  func server() async throws {
    try await ServiceBench.run { bench async throws in
      var expected = GetServerResponse(
        version: ServiceBench.version, nodeName: "bench-1", storeKind: .sqlite,
        catalogDigest: try await bench.client.catalog().digest,
        warnings: ["a first warning", "a second warning"])
      #expect(try await bench.client.server() == expected)
      try bench.setCatalog(SimulatedApp.catalogYAML + "# another digest\n")
      let reloaded = try await bench.client.reloadCatalog().digest
      #expect(reloaded != expected.catalogDigest)
      expected.catalogDigest = reloaded
      // Without its store, the server still answers this.
      await bench.store.close()
      #expect(try await bench.client.server() == expected)
    }
  }

  @Test("GetStatistics returns the version and every metric by name")
  func statistics() async throws {
    try await ServiceBench.run { bench async throws in
      try await bench.submit(.nonConsumable)
      let response = try await bench.client.statistics()
      #expect(response.version == ServiceBench.version)
      let counters = response.counters
      let values = Dictionary(uniqueKeysWithValues: counters.map { ($0.name, $0.value) })
      #expect(values["submissions.links.LINKED"] == 1)
      #expect(values["connections.open"] == 1)
      #expect(values["cache.misses"] == 0)
      #expect((values["calls.OK"] ?? 0) >= 1)
    }
  }
}
