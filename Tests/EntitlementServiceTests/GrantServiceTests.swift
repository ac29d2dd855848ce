import EntitlementDomain
import EntitlementService
import EntitlementStore
import SQLiteStore
import Testing

@Suite("Operator grants (R32)")
struct GrantServiceTests {
  private static let day = Milliseconds.dayLength
  private static let id: GrantID = "6f1f4f0e-2c8a-4d5f-9b1e-00000000000a"

  private func request(_ change: (inout GrantRequest) -> Void = { _ in }) -> GrantRequest {
    var request = GrantRequest(
      id: Self.id, scope: ServiceBench.scope, accountID: "anna", entitlementID: "pro",
      reason: "a long outage", onBehalfOf: "ops@example.com")
    change(&request)
    return request
  }

  @Test("A grant confers from its start until its end, and the state has its end (R30, R31)")
  func lifeTime() async throws {
    try await ServiceBench.run { bench async throws in
      let start = ServiceBench.now.advanced(by: Self.day)
      let end = ServiceBench.now.advanced(by: 3 * Self.day)
      #expect(try await bench.state(of: "anna").coreState == .new)
      let receipt = try await bench.grants.add(
        request {
          $0.starts = start
          $0.expires = end
        })
      #expect(receipt.isChanged)
      #expect(receipt.grant.createdAt == ServiceBench.now)
      #expect(bench.changed.all == [.account(ServiceBench.scope, "anna")])

      let before = try await bench.state(of: "anna")
      #expect(before.entitlements.isEmpty)
      #expect(before.nextTransitionAt == start)
      #expect(before.revision == receipt.customer.revision)
      bench.clock.set(start)
      let during = try await bench.state(of: "anna")
      #expect(during.coreState == .active)
      #expect(
        during.entitlements == [
          EntitlementState(
            entitlementID: "pro",
            sources: [EntitlementSource(origin: .grant(Self.id), since: start, until: end)])
        ])
      #expect(during.nextTransitionAt == end)
      bench.clock.set(end)
      #expect(try await bench.state(of: "anna").entitlements.isEmpty)
    }
  }

  @Test("A withdrawal ends a grant at once, and never a purchase")
  func withdraw() async throws {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.submit([try bench.purchase()], account: "anna")
      _ = try await bench.grants.add(request { $0.entitlementID = "ad_free" })
      let both = try await bench.state(of: "anna")
      #expect(both.entitlements.flatMap(\.sources).count == 2)
      bench.clock.set(ServiceBench.now.advanced(by: 1))
      let receipt = try await bench.grants.withdraw(
        Self.id, in: ServiceBench.scope, reason: "by mistake", onBehalfOf: "ops")
      #expect(receipt.isChanged)
      let after = try await bench.state(of: "anna")
      #expect(after.entitlements.map(\.entitlementID) == ["ad_free"])
      #expect(after.entitlements.flatMap(\.sources).count == 1)
      #expect(after.revision == receipt.customer.revision)

      let again = try await bench.grants.withdraw(
        Self.id, in: ServiceBench.scope, reason: "again", onBehalfOf: "somebody")
      #expect(!again.isChanged)
      #expect(again.grant == receipt.grant)
      let listed = try await bench.grants.grants(of: "anna", in: ServiceBench.scope)
      #expect(listed == [receipt.grant])
      #expect(listed[0].withdrawal?.reason == "by mistake")
      #expect(bench.counters[.grantAdded] == 1)
      #expect(bench.counters[.grantWithdrawn] == 1)
    }
  }

  @Test("With an id, in any letter case, a repeat changes nothing; without one each grant is new")
  func repeated() async throws {
    try await ServiceBench.run { bench async throws in
      let first = try await bench.grants.add(request())
      let again = try await bench.grants.add(
        request {
          $0.id = GrantID(Self.id.rawValue.uppercased())
          $0.reason = "another"
        })
      #expect(!again.isChanged)
      #expect(again.grant == first.grant)
      #expect(bench.changed.all.count == 1)
      let made = try await bench.grants.add(request { $0.id = nil })
      #expect(made.isChanged)
      #expect(made.grant.id.rawValue == made.grant.id.rawValue.lowercased())
      #expect(try await bench.grants.grants(of: "anna", in: ServiceBench.scope).count == 2)
    }
  }

  @Test("An invalid request is refused with its field, and nothing is stored")
  func invalid() async throws {
    try await ServiceBench.run { bench async throws in
      let long = String(repeating: "é", count: 129)
      let rows: [(String, (inout GrantRequest) -> Void)] = [
        ("bundle_id", { $0.scope = AppScope(bundleID: "com.example.x", environment: .production) }),
        (
          "environment",
          { $0.scope = AppScope(bundleID: ServiceBench.scope.bundleID, environment: .xcode) }
        ),
        ("entitlement_id", { $0.entitlementID = "unheard_of" }),
        ("account_id", { $0.accountID = "" }), ("account_id", { $0.accountID = AccountID(long) }),
        ("reason", { $0.reason = "" }),
        ("reason", { $0.reason = String(repeating: "x", count: 1_025) }),
        ("on_behalf_of", { $0.onBehalfOf = "" }), ("on_behalf_of", { $0.onBehalfOf = long }),
        ("grant_id", { $0.id = "grant-1" }),
        ("expires_ms", { $0.expires = ServiceBench.now }),
        (
          "expires_ms",
          {
            $0.starts = Milliseconds(.max)
            $0.expires = Milliseconds(.min)
          }
        ),
      ]
      for (field, change) in rows {
        let error = await #expect(throws: ServiceError.self) {
          try await bench.grants.add(request(change))
        }
        #expect(error?.code == .invalidArgument(field: field))
      }
      #expect(try await bench.store.changes(after: 0, limit: 10).isEmpty)
      #expect(bench.counters[.grantAdded] == 0)
    }
  }

  @Test("The id of another account's grant is refused without details of that grant")
  func idOfAnother() async throws {
    try await ServiceBench.run { bench async throws in
      let first = try await bench.grants.add(request { $0.reason = "a secret" })
      let error = await #expect(throws: ServiceError.self) {
        try await bench.grants.add(request { $0.accountID = "bert" })
      }
      #expect(error?.code == .invalidArgument(field: "grant_id"))
      #expect(error?.message.contains("anna") == false)
      #expect(try await bench.state(of: "bert").coreState == .new)
      #expect(try await bench.grants.grants(of: "anna", in: ServiceBench.scope) == [first.grant])
      #expect(bench.counters[.grantAdded] == 1)
      // In another environment the id is free (R9).
      let sandbox = AppScope(bundleID: ServiceBench.scope.bundleID, environment: .sandbox)
      let other = try await bench.grants.add(
        request {
          $0.scope = sandbox
          $0.accountID = "bert"
        })
      #expect(other.isChanged)
    }
  }

  @Test("A grant may start in the past; one that is withdrawn before its start never confers")
  func unusualTimes() async throws {
    try await ServiceBench.run { bench async throws in
      let past = ServiceBench.now.advanced(by: -Self.day)
      _ = try await bench.grants.add(request { $0.starts = past })
      let sources = try await bench.state(of: "anna").entitlements.flatMap(\.sources)
      #expect(sources.map(\.since) == [past])

      let future = ServiceBench.now.advanced(by: Self.day)
      let later: GrantID = "6f1f4f0e-2c8a-4d5f-9b1e-00000000000b"
      _ = try await bench.grants.add(
        request {
          $0.id = later
          $0.accountID = "bert"
          $0.starts = future
        })
      #expect(try await bench.state(of: "bert").nextTransitionAt == future)
      let receipt = try await bench.grants.withdraw(
        later, in: ServiceBench.scope, reason: "by mistake", onBehalfOf: "ops")
      #expect(receipt.isChanged)
      let withdrawn = try await bench.state(of: "bert")
      #expect(withdrawn.nextTransitionAt == nil)
      #expect(withdrawn.revision == receipt.customer.revision)
      bench.clock.set(future)
      #expect(try await bench.state(of: "bert").entitlements.isEmpty)
    }
  }

  @Test("A grant from the first to the last possible moment confers, and is explained")
  func extremeTimes() async throws {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.grants.add(
        request {
          $0.starts = Milliseconds(.min)
          $0.expires = Milliseconds(.max)
        })
      let state = try await bench.state(of: "anna")
      #expect(state.coreState == .active)
      #expect(state.nextTransitionAt == Milliseconds(.max))
      let explanation = try await bench.explanations.explain(
        ExplanationQuery(selector: .account("anna"), scope: ServiceBench.scope))
      #expect(explanation.state.entitlements == state.entitlements)
    }
  }

  @Test("A text with a NUL is refused with its field")
  func nul() async throws {
    try await ServiceBench.run { bench async throws in
      let rows: [(String, (inout GrantRequest) -> Void)] = [
        ("account_id", { $0.accountID = "an\u{0}na" }), ("reason", { $0.reason = "a\u{0}" }),
        ("on_behalf_of", { $0.onBehalfOf = "\u{0}" }),
      ]
      for (field, change) in rows {
        let error = await #expect(throws: ServiceError.self) {
          try await bench.grants.add(request(change))
        }
        #expect(error?.code == .invalidArgument(field: field))
      }
    }
  }

  @Test("An unknown grant, or one of another environment, is not found")
  func unknown() async throws {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.grants.add(request())
      let sandbox = AppScope(bundleID: ServiceBench.scope.bundleID, environment: .sandbox)
      for (id, scope) in [
        (GrantID("00000000-0000-0000-0000-000000000000"), ServiceBench.scope), (Self.id, sandbox),
      ] {
        let error = await #expect(throws: ServiceError.self) {
          try await bench.grants.withdraw(id, in: scope, reason: "r", onBehalfOf: "a")
        }
        #expect(error?.code == .notFound)
      }
    }
  }
}
