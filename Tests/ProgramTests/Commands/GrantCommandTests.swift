import EntitlementDomain
import Foundation
import StoreSimulator
import TestSupport
import Testing

@Suite("entitlectl grant", .timeLimit(.minutes(5)))
struct GrantCommandTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private static let app = ["--bundle-id", "com.example.scribe"]
  private static let id = "0190a000-0000-4000-8000-00000000000a"
  private static let why = ["--reason", "a lost receipt", "--on-behalf-of", "ada"]

  private func add(
    _ server: RunningServer, _ arguments: String..., account: String = "customer-001",
    entitlement: String = "season", output: String = "json"
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl,
      [
        "grant", "add", account, entitlement, "--server", "\(server.address)", "--output", output,
      ] + Self.app + Self.why + arguments)
  }

  private func withdraw(
    _ server: RunningServer, _ arguments: String..., id: String = id, input: String = "",
    through script: String? = nil
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl,
      [
        "grant", "withdraw", id, "--server", "\(server.address)", "--reason", "a mistake",
        "--on-behalf-of", "grace", "--output", "json",
      ] + Self.app + arguments, input: input, through: script)
  }

  private func list(
    _ server: RunningServer, _ account: String = "customer-001", output: String = "json"
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl,
      [
        "grant", "list", account, "--server", "\(server.address)", "--output", output,
      ] + Self.app)
  }

  private func state(
    _ server: RunningServer, at: Milliseconds? = nil, output: String = "json"
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl,
      ["customer", "get", "customer-001", "--server", "\(server.address)", "--output", output]
        + Self.app + (at.map { ["--at", "\($0)"] } ?? []))
  }

  @Test func `what is given confers at once, and is in the list and the state`() async throws {
    let server = try await bench.startServer()
    let run = try await add(
      server, "--id", Self.id.uppercased(), "--starts", "2026-01-01T00:00:00Z", "--expires",
      "2026-02-01T00:00:00Z")
    #expect(run.exit == .code(0))
    #expect(run.errors == "")
    let document = try run.document(JSONTree.self)
    #expect(document["changed"] == .boolean(true))
    let grant = try #require(document["grant"])
    #expect(grant["grantId"]?.text == Self.id)
    #expect(grant["accountId"]?.text == "customer-001")
    #expect(grant["entitlementId"]?.text == "season")
    #expect(grant["startsMs"]?.integer == 1_767_225_600_000)
    #expect(grant["expiresMs"]?.integer == 1_769_904_000_000)
    #expect(grant["reason"]?.text == "a lost receipt")
    #expect(grant["author"]?.text == "local")
    #expect(grant["onBehalfOf"]?.text == "ada")
    #expect(grant["withdrawal"] == nil)
    #expect(try await list(server).document(JSONTree.self) == .array([grant]))

    let during = try await state(server, at: 1_767_225_600_000).document(JSONTree.self)
    #expect(during["revision"] == document["revision"])
    #expect(during["coreState"]?.text == "CORE_STATE_ACTIVE")
    let source = during["entitlements"]?.elements.first?["sources"]?.elements.first
    #expect(source?["grantId"]?.text == Self.id)
    #expect(source?["transactionId"] == nil)
    #expect(during["nextTransitionAtMs"]?.integer == 1_769_904_000_000)
    let after = try await state(server, at: 1_769_904_000_000).document(JSONTree.self)
    #expect(after["entitlements"] == nil)
    let table = try await state(server, at: 1_767_225_600_000, output: "table")
    #expect(table.output.contains("  2026-02-01 00:00:00Z  grant \(Self.id)\n"))
  }

  @Test func `with an id it is given once`() async throws {
    let server = try await bench.startServer()
    let first = try await add(server, "--id", Self.id).document(JSONTree.self)
    let second = try await add(server, "--id", Self.id, entitlement: "pro")
    #expect(second.exit == .code(0))
    #expect(second.errors == "nothing changed: the grant was known\n")
    let document = try second.document(JSONTree.self)
    #expect(document["changed"] == nil)
    #expect(document["grant"] == first["grant"])
    #expect(document["revision"] == first["revision"])
    #expect(try await list(server).document(JSONTree.self).elements.count == 1)
  }

  @Test func `without an id or an end it gets an id, and lasts`() async throws {
    let server = try await bench.startServer()
    let first = try await add(server).document(JSONTree.self)["grant"]
    let second = try await add(server).document(JSONTree.self)["grant"]
    let id = try #require(first?["grantId"]?.text)
    #expect(id.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil)
    #expect(first?["grantId"] != second?["grantId"])
    #expect(first?["expiresMs"] == nil)
    #expect(first?["startsMs"] == first?["createdAtMs"])
  }

  @Test func `a length of time counts on the calendar`() async throws {
    let server = try await bench.startServer()
    let month = try await add(server, "--starts", "2026-01-31T12:00:00Z", "--for", "P1M")
      .document(JSONTree.self)["grant"]
    // 2026-02-28T12:00:00Z.
    #expect(month?["expiresMs"]?.integer == 1_772_280_000_000)
    let hours = try await add(server, "--for", "PT72H").document(JSONTree.self)["grant"]
    let starts = try #require(hours?["startsMs"]?.integer)
    let length = try #require(hours?["expiresMs"]?.integer) - starts
    // The end is computed by the clock of this machine, while the start is the server's, slightly
    // later.
    #expect((259_200_000 - 120_000...259_200_000).contains(length))
  }

  @Test func `withdrawing takes away nothing that was bought`() async throws {
    let server = try await bench.startServer()
    let population = Bench.population(1)
    try await bench.submit(population, to: server)
    let bought = try await state(server, at: population.now).document(JSONTree.self)
    _ = try await add(
      server, "--id", Self.id, "--starts", "\(population.now.advanced(by: -1_000))",
      entitlement: "basic")
    let given = try await state(server, at: population.now).document(JSONTree.self)
    #expect(given["entitlements"]?.elements.first?["sources"]?.elements.count == 2)

    let run = try await withdraw(server, "--yes")
    #expect(run.exit == .code(0))
    #expect(run.errors == "")
    let document = try run.document(JSONTree.self)
    #expect(document["changed"] == .boolean(true))
    let withdrawal = document["grant"]?["withdrawal"]
    #expect(withdrawal?["reason"]?.text == "a mistake")
    #expect(withdrawal?["author"]?.text == "local")
    #expect(withdrawal?["onBehalfOf"]?.text == "grace")
    let at = Milliseconds(try #require(withdrawal?["atMs"]?.integer))
    let left = try await state(server, at: at).document(JSONTree.self)
    #expect(left["entitlements"] == bought["entitlements"])
    #expect(left["products"] == bought["products"])

    let again = try await withdraw(server, "--yes")
    #expect(again.exit == .code(0))
    #expect(again.errors == "nothing changed: it was withdrawn before\n")
    #expect(try again.document(JSONTree.self)["grant"] == document["grant"])
    #expect(try await list(server).document(JSONTree.self).elements.first == document["grant"])
  }

  @Test func `where nobody can be asked, nothing is withdrawn without --yes`() async throws {
    let server = try await bench.startServer()
    _ = try await add(server, "--id", Self.id)
    let run = try await withdraw(server, input: "y\n")
    #expect(run.exit == .code(64))
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("Error: "))
    #expect(run.errors.contains("--yes"))
    let grant = try await list(server).document(JSONTree.self).elements.first
    #expect(grant?["withdrawal"] == nil)
  }

  /// Runs a program on a terminal; part of every Debian system.
  private static let terminal = "/usr/bin/script"

  // Without that program there is no terminal to confirm on.
  @Test(
    "On a terminal it asks, and only yes confirms",
    .enabled(if: FileManager.default.isExecutableFile(atPath: terminal)),
    arguments: [("n", 1), ("", 1), ("y", 0), ("yes", 0)] as [(String, Int32)])
  func asks(answer: String, code: Int32) async throws {
    let server = try await bench.startServer()
    _ = try await add(server, "--id", Self.id)
    let output = bench.folder.file("output")
    let run = try await withdraw(
      server, input: "\(answer)\n",
      through: """
        command=
        for word; do command="$command '$word'"; done
        exec \(Self.terminal) --quiet --return --command "$command >'\(output)'" /dev/null
        """)
    #expect(run.exit == .code(code))
    // The terminal shows stderr and the typed text.
    #expect(
      run.output.contains("Withdraw grant \(Self.id) of com.example.scribe (Production)? [y/N]"))
    let written = try String(contentsOfFile: output, encoding: .utf8)
    #expect(written.isEmpty == (code != 0))
    #expect(run.output.contains("entitlectl: nothing was changed") == (code != 0))
    let grant = try await list(server).document(JSONTree.self).elements.first
    #expect((grant?["withdrawal"] == nil) == (code != 0))
  }

  @Test func `a grant that is not there is refused`() async throws {
    let server = try await bench.startServer()
    _ = try await add(server, "--id", Self.id)
    for (id, more) in [
      ("0190a000-0000-4000-8000-00000000000b", []), (Self.id, ["--environment", "sandbox"]),
    ] {
      let run = try await ProgramRun.of(
        .entitlectl,
        ["grant", "withdraw", id, "--yes", "--server", "\(server.address)"] + Self.app + Self.why
          + more)
      #expect(run.exit == .code(2))
      #expect(run.output == "")
      #expect(run.errors.hasPrefix("entitlectl: NOT_FOUND: "))
    }
  }

  @Test func `the server refuses what makes no sense`() async throws {
    let server = try await bench.startServer()
    let rows = [
      try await add(server, entitlement: "unheard_of"),
      try await add(server, account: String(repeating: "a", count: 257)),
      try await add(server, "--expires", "2020-01-01T00:00:00Z"),
      try await add(server, "--reason", String(repeating: "a", count: 1_025)),
    ]
    for run in rows {
      #expect(run.exit == .code(1))
      #expect(run.output == "")
      #expect(run.errors.hasPrefix("entitlectl: INVALID_ARGUMENT: "))
    }
    #expect(try await list(server).document(JSONTree.self) == .array([]))
  }

  @Test func `the table has a line for each grant, oldest first`() async throws {
    let server = try await bench.startServer()
    #expect(try await list(server, output: "table").output.split(separator: "\n").count == 1)
    let added = try await add(
      server, "--id", Self.id, "--starts", "2026-01-01T00:00:00Z", "--expires",
      "2026-02-01T00:00:00Z", output: "table")
    let lines = """
      GRANT                                 ENTITLEMENT  FROM                  UNTIL                 \
      WITHDRAWN  AUTHOR         REASON
      0190a000-0000-4000-8000-00000000000a  season       2026-01-01 00:00:00Z  2026-02-01 00:00:00Z  \
      -          local for ada  a lost receipt

      """
    #expect(added.output == lines)
    #expect(try await list(server, output: "table").output == lines)
    _ = try await add(server, entitlement: "pro")
    let jsonl = try await list(server, output: "jsonl").lines(JSONTree.self)
    #expect(jsonl.map { $0["entitlementId"]?.text } == ["season", "pro"])
    #expect(try await list(server, "nobody").document(JSONTree.self) == .array([]))
  }
}
