import StoreSimulator
import Testing

@Suite("entitlectl link and chain", .timeLimit(.minutes(5)))
struct LinkCommandTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private static let app = ["--bundle-id", "com.example.scribe"]
  private static let why = ["--reason", "a lost receipt", "--on-behalf-of", "ada"]

  /// Runs `entitlectl` for the simulator's app.
  private func run(
    _ server: RunningServer, _ arguments: String..., output: String = "json", input: String = ""
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl,
      arguments + ["--server", "\(server.address)", "--output", output] + Self.app, input: input)
  }

  private func change(
    _ server: RunningServer, _ arguments: String..., output: String = "json"
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl,
      arguments + Self.why + ["--server", "\(server.address)", "--output", output] + Self.app)
  }

  /// Submits one customer's facts, with or without an account.
  ///
  /// - Returns: the chain, and the app transaction if there is one.
  @discardableResult
  private func submit(
    to server: RunningServer, account: String? = nil, seed: UInt64 = 1
  ) async throws -> String {
    let facts = try bench.signed(.firstPurchase, seed: seed).flatMap(\.transactions)
    let run = try await ProgramRun.of(
      .entitlectl,
      ["submit", "-", "--server", "\(server.address)", "--output", "jsonl"]
        + (account.map { ["--account", $0] } ?? []), input: facts.joined(separator: "\n"))
    try #require(run.exit == .code(0))
    let results = try run.lines(JSONTree.self)
    let chains = results.compactMap { $0["originalTransactionId"]?.text }
    return try #require(chains.first)
  }

  private func owned(_ server: RunningServer, by account: String) async throws -> [String] {
    let links = try await run(server, "link", "list", account)
    #expect(links.exit == .code(0))
    return try links.document(JSONTree.self).elements
      .compactMap { $0["target"]?["originalTransactionId"]?.text }
  }

  @Test func `what nobody has is given, taken and moved, and the history says who and why`()
    async throws
  {
    let server = try await bench.startServer()
    let chain = try await submit(to: server)
    let target = ["--original-transaction", chain]

    let added = try await change(server, "link", "add", "a", target[0], target[1])
    #expect(added.exit == .code(0))
    #expect(added.errors == "")
    let document = try added.document(JSONTree.self)
    #expect(document["changed"] == .boolean(true))
    // Its app transaction is linked with it.
    let targets = document["targets"]?.elements ?? []
    #expect(targets.compactMap { $0["originalTransactionId"]?.text } == [chain])
    #expect(document["customers"]?.elements.contains { $0["accountId"]?.text == "a" } == true)
    let repeated = try await change(server, "link", "add", "a", target[0], target[1])
    #expect(repeated.exit == .code(0))
    #expect(repeated.errors == "nothing changed: it already belongs to that account\n")
    #expect(try repeated.document(JSONTree.self)["changed"] == nil)
    #expect(try await owned(server, by: "a") == [chain])

    let moved = try await change(
      server, "link", "transfer", target[0], target[1], "--from", "a", "--to", "b", "--yes")
    #expect(moved.exit == .code(0))
    #expect(try await owned(server, by: "a") == [])
    #expect(try await owned(server, by: "b") == [chain])

    let removed = try await change(server, "link", "remove", target[0], target[1], "--yes")
    #expect(removed.exit == .code(0))
    #expect(try await owned(server, by: "b") == [])
    let nothing = try await change(server, "link", "remove", target[0], target[1], "--yes")
    #expect(nothing.exit == .code(0))
    #expect(nothing.errors == "nothing changed: it had no account\n")

    let history = try await run(server, "link", "history", target[0], target[1])
      .document(JSONTree.self).elements
    #expect(
      history.map { $0["reason"]?.text } == [
        "LINK_REASON_ASSIGNED", "LINK_REASON_TRANSFERRED", "LINK_REASON_UNASSIGNED",
      ])
    #expect(history.map { $0["fromAccountId"]?.text } == [nil, "a", "b"])
    #expect(history.map { $0["toAccountId"]?.text } == ["a", "b", nil])
    #expect(history.allSatisfy { $0["author"]?.text == "local" && $0["onBehalfOf"]?.text == "ada" })
    #expect(history.allSatisfy { $0["note"]?.text == "a lost receipt" })
    let ofAccount = try await run(server, "link", "history", "a")
      .document(JSONTree.self).elements
    #expect(
      ofAccount.filter { $0["target"]?["originalTransactionId"] != nil }
        == Array(history.prefix(2)))

    let table = try await run(
      server, "link", "history", target[0], target[1], output: "table"
    ).output.split(separator: "\n")
    #expect(table.count == 4)
    #expect(table[1].contains("chain \(chain)"))
  }

  @Test func `a merge gives everything to another account, under both names`() async throws {
    let server = try await bench.startServer()
    let chain = try await submit(to: server, account: "a")
    let merged = try await change(server, "link", "merge", "a", "b", "--yes")
    #expect(merged.exit == .code(0))
    #expect(try await owned(server, by: "b") == [chain])
    #expect(try await owned(server, by: "a") == [chain])
    let found = try await run(server, "link", "resolve", "a").document(JSONTree.self)
    #expect(found["accountId"]?.text == "b")
    #expect(found["revision"]?.integer != nil)
    let again = try await change(server, "link", "merge", "a", "b", "--yes")
    #expect(again.exit != .code(0) || again.errors.hasPrefix("nothing changed: "))

    let history = try await run(server, "customer", "history", "a")
    #expect(history.exit == .code(0))
    #expect(history.errors == "a was merged into b: its history\n")
    #expect(try history.document(JSONTree.self)["accountId"]?.text == "b")

    let changes = try await Bench.control(server, "change", "list", "--all", "--output", "jsonl")
      .lines(JSONTree.self)
    #expect(changes.contains { $0["merged"] == .boolean(true) })
  }

  @Test func `an identifier leads to an account, to a chain, or to nobody`() async throws {
    let server = try await bench.startServer()
    let chain = try await submit(to: server)
    let unclaimed = try await run(
      server, "link", "resolve", chain, "--by", "original-transaction")
    #expect(unclaimed.exit == .code(0))
    let document = try unclaimed.document(JSONTree.self)
    #expect(document["originalTransactionId"]?.text == chain)
    #expect(document["accountId"] == nil)
    let table = try await run(
      server, "link", "resolve", chain, "--by", "original-transaction", output: "table")
    #expect(table.output.split(separator: "\n").last?.hasPrefix("chain \(chain)  ") == true)

    let nobody = try await run(server, "link", "resolve", "nobody")
    #expect(nobody.exit == .code(2))
    #expect(nobody.output == "")
    #expect(nobody.errors == "entitlectl: no customer has this identifier\n")
  }

  @Test func `what cannot be is refused with exit code 2, and changes nothing`() async throws {
    let server = try await bench.startServer()
    let chain = try await submit(to: server, account: "a")
    let rows: [([String], String)] = [
      (["link", "add", "b", "--original-transaction", chain], "ALREADY_EXISTS"),
      (["link", "add", "b", "--original-transaction", "1"], "NOT_FOUND"),
      (["link", "remove", "--app-transaction", "1", "--yes"], "NOT_FOUND"),
      (
        ["link", "transfer", "--original-transaction", chain, "--from", "c", "--to", "b", "--yes"],
        "FAILED_PRECONDITION"
      ),
      (["link", "merge", "nobody", "b", "--yes"], "NOT_FOUND"),
      (["customer", "delete", "nobody", "--yes"], "NOT_FOUND"),
    ]
    for (arguments, status) in rows {
      let run = try await ProgramRun.of(
        .entitlectl, arguments + Self.why + Self.app + ["--server", "\(server.address)"])
      #expect(run.exit == .code(2), "\(arguments)")
      #expect(run.output == "")
      #expect(run.errors.hasPrefix("entitlectl: \(status): "), "\(arguments): \(run.errors)")
    }
    #expect(try await owned(server, by: "a") == [chain])
  }

  @Test(
    "Without a terminal, nothing is taken away without --yes",
    arguments: [
      ["link", "remove", "--original-transaction", "1"],
      ["link", "transfer", "--original-transaction", "1", "--to", "b"],
      ["link", "merge", "a", "b"], ["customer", "delete", "a"],
    ])
  func asks(arguments: [String]) async throws {
    // Refused before any call: there is no server.
    let run = try await ProgramRun.of(
      .entitlectl, arguments + Self.why + Self.app + ["--server", "127.0.0.1:1"], input: "y\n")
    #expect(run.exit == .code(64))
    #expect(run.output == "")
    #expect(run.errors.contains("--yes"))
  }

  @Test func `chains that nobody has are listed by id, as many as asked for`() async throws {
    let server = try await bench.startServer()
    var chains: [String] = []
    for seed in 1...3 as ClosedRange<UInt64> {
      chains.append(try await submit(to: server, seed: seed))
    }
    try await submit(to: server, account: "a", seed: 4)
    chains.sort()
    let all = try await run(server, "chain", "list", "--unlinked").document(JSONTree.self)
    #expect(all.elements.map { $0["originalTransactionId"]?.text } == chains)
    let two = try await run(server, "chain", "list", "--unlinked", "--limit", "2", output: "jsonl")
    #expect(
      try two.lines(JSONTree.self).map { $0["originalTransactionId"]?.text }
        == Array(chains.prefix(2)))
    let table = try await run(server, "chain", "list", "--unlinked", output: "table")
    #expect(table.output.split(separator: "\n").count == 4)

    let claimed = try await change(
      server, "link", "add", "b", "--original-transaction", chains[0])
    #expect(claimed.exit == .code(0))
    let rest = try await run(server, "chain", "list", "--unlinked").document(JSONTree.self)
    #expect(rest.elements.map { $0["originalTransactionId"]?.text } == Array(chains.dropFirst()))
  }
}
