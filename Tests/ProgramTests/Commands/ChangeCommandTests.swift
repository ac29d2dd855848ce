import EntitlementDomain
import Programs
import RPCClient
import StoreSimulator
import Testing
import Wire

@Suite("entitlectl change list and statistics", .timeLimit(.minutes(5)))
struct ChangeCommandTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private func changes(
    _ server: RunningServer, _ arguments: String..., output: String = "jsonl"
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl,
      ["change", "list", "--server", "\(server.address)", "--output", output] + arguments)
  }

  private func sequences(_ run: ProgramRun) throws -> [Int64] {
    try run.lines(JSONTree.self).compactMap { $0["sequence"]?.integer }
  }

  /// Makes several pages with more changes than the largest page, which has 1,000.
  private func makeChanges(_ count: Int, on server: RunningServer) async throws {
    let client = try await server.client()
    // As many at once as one connection takes.
    for start in stride(from: 0, to: count, by: 500) {
      try await withThrowingTaskGroup { group in
        for index in start..<min(start + 500, count) {
          group.addTask {
            _ = try await client.addGrant(
              AddGrantRequest(
                scope: Bench.scope, accountID: AccountID("account-\(index)"),
                entitlementID: "pro", reason: "a test", onBehalfOf: "ada"))
          }
        }
        try await group.waitForAll()
      }
    }
    await client.close()
  }

  @Test func `the feed is read in parts of any size, over several pages`() async throws {
    let server = try await bench.startServer()
    try await makeChanges(1_005, on: server)
    let run = try await changes(server, "--all")
    #expect(run.exit == .code(0))
    #expect(run.errors == "")
    let all = try sequences(run)
    #expect(all.count == 1_005)
    #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 })

    #expect(try sequences(await changes(server)) == Array(all.prefix(100)))
    for limit in [1, 100, 1_000, 1_001] {
      #expect(
        try sequences(await changes(server, "--limit", "\(limit)")) == Array(all.prefix(limit)))
    }
    let after = all[500]
    #expect(
      try sequences(await changes(server, "--after", "\(after)", "--all"))
        == Array(all.dropFirst(501)))
    let last = try #require(all.last)
    let nothing = try await changes(server, "--after", "\(last)", "--all")
    #expect(nothing.exit == .code(0))
    #expect(nothing.output == "")
    let array = try await changes(server, "--all", output: "json").document(JSONTree.self)
    #expect(try array.elements == run.lines(JSONTree.self))
  }

  @Test func `an entry says whom it concerns and what happened, with its events`() async throws {
    let server = try await bench.startServer()
    let events = try bench.signed(.refunded)
    for event in events {
      guard let notification = event.notification else { continue }
      let run = try await Bench.control(
        server, "notification", "submit", "-", "--account", "account-1", input: notification)
      try #require(run.exit == .code(0))
    }
    let entries = try await changes(server).lines(JSONTree.self)
    let first = try #require(entries.first)
    #expect(first["accountId"]?.text == "account-1")
    #expect(first["bundleId"]?.text == "com.example.scribe")
    #expect(first["environment"]?.text == "STORE_ENVIRONMENT_PRODUCTION")
    #expect(first["facts"] == .boolean(true))
    #expect(first["linked"] == .boolean(true))
    #expect(first["events"] == nil)
    let last = try #require(entries.last)
    #expect(last["linked"] == nil)
    let refund = try #require(last["events"]?.elements.first)
    #expect(refund["kind"]?.text == "FEED_EVENT_KIND_REFUNDED")
    #expect(refund["transactionId"]?.text != nil)

    let table = try await changes(server, output: "table").output.split(separator: "\n")
    #expect(table.count == entries.count + 1)
    #expect(
      table[0].split(separator: " ").map(String.init)
        == ["SEQUENCE", "TIME", "CUSTOMER", "WHAT", "EVENTS"])
    #expect(table.last?.contains("account-1") == true)
    #expect(table.last?.hasSuffix("REFUNDED") == true)
  }

  @Test func `a grant is in the feed`() async throws {
    let server = try await bench.startServer()
    let grant = try await Bench.control(
      server, "grant", "add", "account-1", "pro", "--bundle-id",
      "com.example.scribe", "--reason", "a test", "--on-behalf-of", "ada")
    try #require(grant.exit == .code(0))
    let entries = try await changes(server).lines(JSONTree.self)
    #expect(entries.count == 1)
    #expect(entries.first?["grants"] == .boolean(true))
    #expect(entries.first?["facts"] == nil)
    #expect(entries.first?["accountId"]?.text == "account-1")
  }

  @Test func `the counters have their names, and count`() async throws {
    let server = try await bench.startServer()
    let fact = try #require(try bench.signed(.nonConsumable).first?.transactions.first)
    let submission = try await Bench.control(
      server, "submit", "-", input: "\(fact)\nnonsense")
    try #require(submission.exit == .code(2))
    let run = try await Bench.control(server, "statistics", "--output", "jsonl")
    #expect(run.exit == .code(0))
    #expect(run.errors == "")
    let document = try run.document(JSONTree.self)
    #expect(document["version"]?.text == ProgramVersion.current)
    let counters = try #require(document["counters"]).elements
    let names = counters.compactMap { $0["name"]?.text }
    #expect(names.count == counters.count)
    #expect(names == names.sorted())
    func value(_ name: String) -> Int64? {
      // Zero values are omitted.
      counters.first { $0["name"]?.text == name }.map { $0["value"]?.integer ?? 0 }
    }
    #expect(value("submissions.facts.ADDED") == 1)
    #expect(value("submissions.facts.DUPLICATE") == 0)
    #expect(value("submissions.refused.MALFORMED") == 1)

    let table = try await Bench.control(server, "statistics")
    let rows = table.output.split(separator: "\n")
    #expect(rows.first?.split(separator: " ").map(String.init) == ["NAME", "VALUE"])
    #expect(
      rows.dropFirst().map { row in row.split(separator: " ").first.map(String.init) }
        == ["version"] + names)
  }
}
