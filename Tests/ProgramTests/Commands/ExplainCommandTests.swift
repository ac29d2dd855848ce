import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing

@Suite("entitlectl customer explain", .timeLimit(.minutes(5)))
struct ExplainCommandTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private func explain(
    _ server: RunningServer, _ arguments: String..., output: String = "jsonl", input: String = ""
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl,
      [
        "customer", "explain", "--server", "\(server.address)", "--output", output, "--bundle-id",
        "com.example.scribe",
      ] + arguments, input: input)
  }

  private func ids(_ name: String, _ tree: JSONTree?) -> [String?] {
    tree?.elements.map { $0[name]?.text } ?? []
  }

  /// The simulator's catalog with another entitlement that all subscriptions confer.
  private static let otherCatalog = SimulatedApp.catalogYAML
    .replacing(
      "entitlements:\n",
      with: "entitlements:\n  - id: archive\n    description: The archive\n", maxReplacements: 1
    )
    .replacing("basic]\n", with: "basic, archive]\n")

  @Test func `the state is the same as that of get, and every part of it has its reasons`()
    async throws
  {
    let server = try await bench.startServer()
    let population = Bench.population(1)
    try await bench.submit(population, to: server)
    let at = "\(population.now.rawValue)"
    let run = try await explain(server, "customer-001", "--at", at)
    #expect(run.exit == .code(0))
    #expect(run.errors == "")
    let explanation = try run.document(JSONTree.self)
    let get = try await Bench.control(
      server, "customer", "get", "customer-001", "--bundle-id", "com.example.scribe", "--at", at,
      "--output", "json")
    let state = try get.document(JSONTree.self)
    #expect(explanation["state"] == state)

    let entitlements = explanation["entitlements"]
    #expect(ids("entitlementId", entitlements) == ["ad_free", "basic", "pro", "season"])
    let conferred = entitlements?.elements.filter { $0["conferred"] == .boolean(true) } ?? []
    #expect(
      ids("entitlementId", .array(conferred)) == ids("entitlementId", state["entitlements"]))
    #expect(ids("groupId", explanation["groups"]) == ids("groupId", state["groups"]))
    let parts = (entitlements?.elements ?? []) + (explanation["groups"]?.elements ?? [])
    for part in parts {
      let decision = part["reasoning"]?["decision"]
      #expect((1...67).contains(decision?["rule"]?.integer ?? 0))
      #expect(decision?["sentence"]?.text?.isEmpty == false)
    }
    // The decisive fact is the one that confers the entitlement.
    let transaction = try #require(
      state["entitlements"]?.elements.first?["sources"]?.elements.first?["transactionId"]?.text)
    let decisive = conferred.first?["reasoning"]?["considered"]?.elements
      .filter { $0["decisive"] == .boolean(true) }
    #expect(ids("identifier", .array(decisive ?? [])).contains(transaction))
  }

  @Test func `the table has a heading, the rule that decided and its facts for each`()
    async throws
  {
    let server = try await bench.startServer()
    let population = Bench.population(1)
    try await bench.submit(population, to: server)
    let run = try await explain(
      server, "customer-001", "--at", "\(population.now.rawValue)", output: "table")
    #expect(run.exit == .code(0))
    #expect(run.errors == "")
    let blocks = run.output.split(separator: "\n\n").map { $0.split(separator: "\n") }
    #expect(
      blocks.first?.prefix(3) == [
        "customer        customer-001", "app             com.example.scribe (Production)",
        "state           ACTIVE",
      ])
    let headings = [
      "entitlement ad_free: not conferred", "entitlement basic: conferred",
      "entitlement season: not conferred", "group 21000001: ACTIVE",
    ]
    // Some of the simulator's subscriptions also confer pro.
    let told = blocks.dropFirst().compactMap { $0.first.map(String.init) }
    #expect(told.filter { !$0.hasPrefix("entitlement pro: ") } == headings)
    for block in blocks.dropFirst() {
      #expect(block.dropFirst().first?.wholeMatch(of: #/  R[0-9]+: .+/#) != nil)
    }
    let transaction = try #require(
      population.customer(at: 0).timeline.events.first?.transactions.first?.transactionID)
    #expect(blocks[2].contains("  decided by"))
    #expect(blocks[2].contains { $0.hasPrefix("    transaction \(transaction), ") })
    #expect(blocks[2].contains("  would change it"))
  }

  @Test func `another moment has another answer`() async throws {
    let server = try await bench.startServer()
    let population = Bench.population(1)
    try await bench.submit(population, to: server)
    let before = population.customer(at: 0).timeline.start.advanced(by: -Milliseconds.dayLength)
    let document = try await explain(server, "customer-001", "--at", "\(before)")
      .document(JSONTree.self)
    #expect(document["state"]?["evaluatedAtMs"]?.integer == before.rawValue)
    #expect(
      document["entitlements"]?.elements.allSatisfy { $0["conferred"] == nil } == true)
  }

  @Test func `another catalog is answered under, and not kept`() async throws {
    let server = try await bench.startServer()
    let population = Bench.population(1)
    try await bench.submit(population, to: server)
    let path = try bench.folder.write(Self.otherCatalog, to: "other.yaml")
    let fromFile = try await explain(
      server, "customer-001", "--at", "\(population.now)", "--catalog", path)
    #expect(fromFile.exit == .code(0))
    let document = try fromFile.document(JSONTree.self)
    let before = try await explain(server, "customer-001", "--at", "\(population.now)")
      .document(JSONTree.self)
    #expect(
      ids("entitlementId", document["state"]?["entitlements"])
        == ["archive"] + ids("entitlementId", before["state"]?["entitlements"]))
    let fromStdin = try await explain(
      server, "customer-001", "--at", "\(population.now)", "--catalog", "-",
      input: Self.otherCatalog)
    #expect(try fromStdin.document(JSONTree.self) == document)
    let table = try await explain(
      server, "customer-001", "--catalog", path, output: "table")
    #expect(table.output.contains("\ncatalog         \(path)\n"))
    #expect(table.output.contains("\nentitlement archive: conferred\n"))

    let kept = try await explain(server, "customer-001", "--at", "\(population.now)")
      .document(JSONTree.self)
    #expect(kept == before)
  }

  @Test func `a catalog that is not valid is refused, with everything that is wrong`()
    async throws
  {
    let server = try await bench.startServer()
    let broken = SimulatedApp.catalogYAML
      .replacing("duration: P3M", with: "duration: soon")
      .replacing("level: 2", with: "level: high")
    let run = try await explain(
      server, "customer-001", "--catalog", "-", output: "table", input: broken)
    #expect(run.exit == .code(2))
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("entitlectl: "))
    #expect(run.errors.contains("products[0].level"))
    #expect(run.errors.contains("products[3].duration"))
  }

  @Test func `a catalog that cannot be read or sent fails before anything is asked`()
    async throws
  {
    let server = try await bench.startServer()
    let large = try bench.folder.write(
      String(repeating: "#", count: 1 << 20 + 1), to: "large.yaml")
    let empty = try bench.folder.write("", to: "empty.yaml")
    let none = bench.folder.file("none.yaml")
    let rows: [(String, Int32, String)] = [
      (large, 1, "larger than 1 MiB"), (empty, 2, "empty"), (none, 1, "cannot be read"),
    ]
    for (path, code, reason) in rows {
      let run = try await explain(server, "customer-001", "--catalog", path)
      #expect(run.exit == .code(code))
      #expect(run.output == "")
      #expect(run.errors == "entitlectl: \(path): \(reason)\n")
    }
  }

  @Test func `nobody known is new, and nothing is conferred`() async throws {
    let server = try await bench.startServer()
    let run = try await explain(server, "nobody", output: "table")
    #expect(run.exit == .code(0))
    #expect(run.output.contains("\nstate           NEW\n"))
    #expect(run.output.contains("\nentitlement pro: not conferred\n"))
    #expect(!run.output.contains(": conferred"))
    #expect(!run.output.contains("\ngroup "))
  }
}
