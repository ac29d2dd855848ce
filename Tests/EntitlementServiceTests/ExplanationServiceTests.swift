import EntitlementDomain
import EntitlementService
import StoreSimulator
import Testing

@Suite("Explaining a customer's state (R31)")
struct ExplanationServiceTests {
  private func query(
    _ account: AccountID = "anna", at: Milliseconds? = nil, catalog: String? = nil
  ) -> ExplanationQuery {
    ExplanationQuery(
      selector: .account(account), scope: ServiceBench.scope, at: at, catalogYAML: catalog)
  }

  @Test("The explained state is the answered state")
  func state() async throws {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.submit(
        try bench.signed(.renewals).flatMap(\.facts), account: "anna")
      let explanation = try await bench.explanations.explain(query())
      #expect(explanation.state == (try await bench.state(of: "anna", .fullyConsistent)))
      #expect(
        explanation.entitlements.map(\.entitlementID) == ["ad_free", "basic", "pro", "season"])
      #expect(
        explanation.entitlements.filter(\.isConferred).map(\.entitlementID)
          == explanation.state.entitlements.map(\.entitlementID))
      #expect(explanation.groups.map(\.groupID) == explanation.state.groups.map(\.groupID))
    }
  }

  @Test("It answers for another moment, and with another catalog that is not stored")
  func otherwise() async throws {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.submit([try bench.purchase()], account: "anna")
      let before = try await bench.explanations.explain(
        query(at: ServiceBench.now.advanced(by: -2 * Milliseconds.dayLength)))
      #expect(before.state.entitlements.isEmpty)
      let other = SimulatedApp.catalogYAML.replacing(
        "entitlements: [ad_free]", with: "entitlements: [pro]")
      let explanation = try await bench.explanations.explain(query(catalog: other))
      #expect(explanation.state.entitlements.map(\.entitlementID) == ["pro"])
      #expect(try await bench.state(of: "anna").entitlements.map(\.entitlementID) == ["ad_free"])
      #expect(
        try await bench.explanations.explain(query()).state.entitlements.map(\.entitlementID)
          == ["ad_free"])
    }
  }

  @Test(
    "A query may have any moment",
    arguments: [.min, .min + 1, -62_167_219_200_001, -1, 0, 253_402_300_800_000, .max - 1, .max])
  func anyMoment(at: Int64) async throws {
    try await ServiceBench.run { bench async throws in
      for (index, lifeCycle) in LifeCycle.allCases.enumerated() {
        let facts = try bench.signed(lifeCycle, seed: UInt64(index)).flatMap(\.facts)
        if !facts.isEmpty { _ = try await bench.submit(facts, account: "anna") }
      }
      _ = try await bench.grants.add(
        GrantRequest(
          scope: ServiceBench.scope, accountID: "anna", entitlementID: "pro",
          starts: Milliseconds(.min), expires: Milliseconds(.max), reason: "r", onBehalfOf: "a"))
      let leeway = "renewal_leeway: PT72H\n" + SimulatedApp.catalogYAML
      for catalog in [nil, leeway.replacing("renewal_leeway: PT0S\n", with: "")] {
        let explanation = try await bench.explanations.explain(
          query(at: Milliseconds(at), catalog: catalog))
        #expect(explanation.state.evaluatedAt == Milliseconds(at))
        #expect(explanation.state.nextTransitionAt.map { $0.rawValue > at } ?? true)
      }
      let answer = try await bench.reader.answer(
        to: CustomerQuery(
          selector: .account("anna"), scope: ServiceBench.scope, at: Milliseconds(at)))
      #expect(try answer.state.evaluatedAt == Milliseconds(at))
    }
  }

  @Test("The catalog of a cancelled query is not parsed")
  func givenUp() async throws {
    try await ServiceBench.run { bench async throws in
      let catalog = query(catalog: SimulatedApp.catalogYAML)
      let cancelled = await #expect(throws: ServiceError.self) {
        try await bench.explanations.explain(catalog, isCancelled: { true })
      }
      #expect(cancelled?.code == .cancelled)
      let late = await #expect(throws: ServiceError.self) {
        try await bench.explanations.explain(catalog, deadline: .now)
      }
      #expect(late?.code == .deadlineExceeded)
    }
  }

  @Test("Warnings do not hide the errors of a refused catalog")
  func warningsFirst() async throws {
    try await ServiceBench.run { bench async throws in
      let doubtful = (0..<90).map { "  - {id: p\($0), type: non_renewing}\n" }.joined()
      let text = SimulatedApp.catalogYAML
        .replacing("products:\n", with: "products:\n" + doubtful)
        .replacing("type: consumable", with: "type: eternal")
      let error = await #expect(throws: ServiceError.self) {
        try await bench.explanations.explain(query(catalog: text))
      }
      #expect(error?.message.contains("products[95].type: error") == true)
    }
  }

  @Test("It never comes from the cache")
  func fresh() async throws {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.state(of: "anna")
      _ = try await bench.grants.add(
        GrantRequest(
          scope: ServiceBench.scope, accountID: "anna", entitlementID: "pro", reason: "r",
          onBehalfOf: "a"))
      #expect(try await bench.explanations.explain(query()).state.coreState == .active)
      #expect(bench.reader.statistics.entries == 0)
    }
  }

  @Test("A catalog that is invalid, too large, or without the app is refused with every reason")
  func badCatalog() async throws {
    try await ServiceBench.run { bench async throws in
      let rows: [(String, [String])] = [
        (
          SimulatedApp.catalogYAML.replacing("type: consumable", with: "type: eternal")
            .replacing("level: 2", with: "level: 0"),
          ["products[0].level", "products[5].type", "line "]
        ),
        ("not a catalog", []),
        (
          String(repeating: "#", count: ExplanationLimits.catalogBytes + 1),
          ["larger than 1048576 bytes"]
        ),
        (
          SimulatedApp.catalogYAML.replacing("com.example.scribe\n", with: "com.example.other\n"),
          ["it names no app"]
        ),
        (
          SimulatedApp.catalogYAML.replacing("[Production, Sandbox]", with: "[Sandbox]"),
          ["it does not accept this environment"]
        ),
      ]
      for (catalog, expected) in rows {
        let error = await #expect(throws: ServiceError.self) {
          try await bench.explanations.explain(query(catalog: catalog))
        }
        #expect(error?.code == .invalidArgument(field: "catalog_yaml"))
        for text in expected {
          #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
        }
      }
    }
  }

  @Test("The message about a catalog with many errors is bounded")
  func boundedText() async throws {
    try await ServiceBench.run { bench async throws in
      let products = (0..<5_000).map { "  - id: p\($0)\n    type: eternal\n" }.joined()
      let error = await #expect(throws: ServiceError.self) {
        try await bench.explanations.explain(query(catalog: "version: 1\nproducts:\n\(products)"))
      }
      let message = try #require(error?.message)
      #expect(message.utf8.count < 20_000)
      #expect(message.contains(" more"))
    }
  }

  @Test("An app that is not in the catalog in force is refused")
  func notServed() async throws {
    try await ServiceBench.run { bench async throws in
      let error = await #expect(throws: ServiceError.self) {
        try await bench.explanations.explain(
          ExplanationQuery(
            selector: .account("anna"),
            scope: AppScope(bundleID: "com.example.other", environment: .production)))
      }
      #expect(error?.code == .invalidArgument(field: "bundle_id"))
    }
  }
}
