import EntitlementDomain
import Foundation
import StoreSimulator
import Testing

@Suite("entitlectl customer", .timeLimit(.minutes(5)))
struct CustomerCommandTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private let app = ["--bundle-id", "com.example.scribe"]

  private func get(
    _ server: RunningServer, _ arguments: String..., output: String = "jsonl"
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl,
      ["customer", "get", "--server", "\(server.address)", "--output", output] + app + arguments)
  }

  private func list(
    _ server: RunningServer, _ arguments: String..., output: String = "json"
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl,
      ["customer", "list", "--server", "\(server.address)", "--output", output] + app + arguments)
  }

  @Test func `a customer is found by every kind of id`() async throws {
    let server = try await bench.startServer()
    let population = Bench.population(4)
    try await bench.submit(population, to: server)
    let customer = try #require(
      population.customers.first {
        $0.timeline.events.first?.transactions.first?.appAccountToken != nil
      })
    let transaction = try #require(customer.timeline.events.first?.transactions.first)
    let at = "\(population.now.rawValue)"
    let rows = [
      ("account", customer.accountID.rawValue),
      ("original-transaction", transaction.originalTransactionID.rawValue),
      ("transaction", transaction.transactionID.rawValue),
      ("app-transaction", try #require(transaction.appTransactionID?.rawValue)),
      ("app-account-token", try #require(transaction.appAccountToken?.rawValue)),
    ]
    let byAccount = try await get(server, customer.accountID.rawValue, "--at", at)
    #expect(byAccount.exit == .code(0))
    let state = try byAccount.document(JSONTree.self)
    #expect(state["coreState"]?.text == "CORE_STATE_ACTIVE")
    #expect(state["accountId"]?.text == customer.accountID.rawValue)
    for (kind, id) in rows {
      let run = try await get(server, id, "--by", kind, "--at", at)
      #expect(run.exit == .code(0), "\(kind)")
      #expect(try run.document(JSONTree.self) == state, "\(kind)")
    }
  }

  @Test func `the three forms of output say the same`() async throws {
    let server = try await bench.startServer()
    let population = Bench.population(1)
    try await bench.submit(population, to: server)
    let at = "\(population.now.rawValue)"
    let line = try await get(server, "customer-001", "--at", at)
    #expect(line.output.count { $0 == "\n" } == 1)
    let document = try await get(server, "customer-001", "--at", at, output: "json")
    #expect(document.output.count { $0 == "\n" } > 10)
    let state = try line.document(JSONTree.self)
    #expect(try document.document(JSONTree.self) == state)
    let table = try await get(server, "customer-001", "--at", at, output: "table")
    #expect(table.exit == .code(0))
    #expect(table.errors == "")
    let rows = table.output.split(separator: "\n")
    #expect(rows.first == "customer        customer-001")
    #expect(rows.contains("app             com.example.scribe (Production)"))
    #expect(rows.contains("state           ACTIVE"))
    #expect(rows.contains { $0.hasPrefix("group 21000001") && $0.contains("ACTIVE") })
    #expect(rows.contains { $0.hasPrefix("basic ") })
  }

  @Test func `a customer without facts is new, not unknown`() async throws {
    let server = try await bench.startServer()
    for kind in ["account", "original-transaction", "app-account-token"] {
      let run = try await get(server, "nobody", "--by", kind)
      #expect(run.exit == .code(0))
      let state = try run.document(JSONTree.self)
      #expect(state["coreState"]?.text == "CORE_STATE_NEW")
      #expect(state["revision"] == nil)
      #expect(state["callsToAction"] == .array([.text("CALL_TO_ACTION_MERCHANDISE")]))
    }
  }

  @Test func `the state of an earlier moment can be asked for, in both spellings`() async throws {
    let server = try await bench.startServer()
    let population = Bench.population(1)
    try await bench.submit(population, to: server)
    let start = population.customer(at: 0).timeline.start
    let before = Date(timeIntervalSince1970: Double(start.rawValue) / 1_000 - 86_400)
    for at in [before.formatted(.iso8601), "\(Int64(before.timeIntervalSince1970) * 1_000)"] {
      let state = try await get(server, "customer-001", "--at", at).document(JSONTree.self)
      #expect(state["entitlements"] == nil)
      #expect(
        state["evaluatedAtMs"]?.integer == Int64(before.timeIntervalSince1970) * 1_000)
    }
    let now = try await get(server, "customer-001").document(JSONTree.self)
    #expect(now["coreState"]?.text == "CORE_STATE_ACTIVE")
  }

  @Test func `a revision that is known is waited for no longer, a later one is an error`()
    async throws
  {
    let server = try await bench.startServer()
    try await bench.submit(Bench.population(1), to: server)
    let state = try await get(server, "customer-001").document(JSONTree.self)
    let revision = try #require(state["revision"]?.integer)
    let known = try await get(server, "customer-001", "--min-revision", "\(revision)")
    #expect(known.exit == .code(0))
    #expect(try known.document(JSONTree.self)["revision"]?.integer == revision)
    let later = try await get(server, "customer-001", "--min-revision", "\(revision + 1)")
    #expect(later.exit == .code(1))
    #expect(later.output == "")
    #expect(later.errors.hasPrefix("entitlectl: UNAVAILABLE: "))
  }

  @Test func `another app or environment has customers of its own`() async throws {
    let server = try await bench.startServer()
    try await bench.submit(Bench.population(1), to: server)
    let sandbox = try await get(server, "customer-001", "--environment", "sandbox")
    #expect(try sandbox.document(JSONTree.self)["coreState"]?.text == "CORE_STATE_NEW")
    #expect(
      try await list(server, "--environment", "sandbox").document(JSONTree.self) == .array([]))
  }

  @Test func `all customers are listed over several pages, by account id`() async throws {
    let server = try await bench.startServer()
    // More than the largest page, which has 200.
    let count = 230
    let population = Bench.population(count)
    try await bench.submit(population, to: server, "--via", "transactions")
    let all = try await list(server)
    #expect(all.exit == .code(0))
    let accounts = try all.document(JSONTree.self).elements.map { $0["accountId"]?.text }
    #expect(accounts == population.customers.map(\.accountID.rawValue))

    for limit in [1, 200, 201, count + 1] {
      let run = try await list(server, "--limit", "\(limit)", output: "jsonl")
      let told = try run.lines(JSONTree.self).map { $0["accountId"]?.text }
      #expect(told == Array(accounts.prefix(limit)))
    }

    let table = try await list(server, output: "table").output.split(separator: "\n")
    #expect(table.count == count + 1)
    let titles = ["CUSTOMER", "STATE", "ENTITLEMENTS", "PRODUCT", "STATUS", "UNTIL", "SUGGEST"]
    #expect(table[0].split(separator: " ").map(String.init) == titles)
    #expect(table.dropFirst().map { String($0.prefix(12)) } == accounts.compactMap(\.self))
  }
}
