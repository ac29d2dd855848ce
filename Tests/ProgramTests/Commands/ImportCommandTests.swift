import Foundation
import StoreSimulator
import TestSupport
import Testing

/// With a simulated App Store, as an operator uses it.
@Suite("entitlectl import", .timeLimit(.minutes(5)))
struct ImportCommandProgramTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private func control(_ server: RunningServer, _ arguments: String...) async throws -> ProgramRun {
    try await ProgramRun.of(.entitlectl, arguments + ["--server", "\(server.address)"])
  }

  @Test func `a table is checked, imported, reported and deleted`() async throws {
    let simulator = try await RunningSimulator(bench.folder.file("sim"), "--rate-factor", "1000")
    let bought = try await simulator.json("buy", "pro.monthly", "--customer", "anna")
    let id = try #require(bought["transactions"]?.elements.first?["transactionId"]?.text)
    let config = try bench.folder.write(try await simulator.settings(), to: "entitled.yaml")
    #expect(try await simulator.settings().contains("\n  rate_factor: 800.0\n"))
    let server = try await RunningServer.start([
      "--config", config, "--catalog", bench.catalogPath, "--listen", "127.0.0.1:0", "--store",
      "sqlite:\(bench.databasePath)", "--create", "--log-format", "json",
    ])
    let file = try bench.folder.write(
      """
      account_id,transaction_id,environment
      a-1,\(id),sandbox
      a-1,\(id),sandbox
      b-1,\(id),sandbox
      nonsense
      c-1,abc,sandbox
      """, to: "accounts.csv")
    let report = bench.folder.file("report.jsonl")

    let dry = try await control(
      server, "import", "accounts", file, "--dry-run", "--report", report, "--output", "json")
    #expect(dry.exit == .code(2))
    #expect(dry.errors.contains("line 5: 1 fields, where the header has 3"))
    let checked = try dry.document(JSONTree.self)
    #expect(checked["dryRun"] == .boolean(true) && checked["waiting"]?.text == "1")
    #expect(checked["duplicates"]?.text == "1" && checked["rejected"]?.text == "1")
    #expect(checked["failures"]?["CONFLICT"]?.text == "1")
    #expect(checked["failures"]?["INVALID"]?.text == "1")
    #expect(try await control(server, "import", "list", "--output", "jsonl").output.isEmpty)

    let run = try await control(
      server, "import", "accounts", file, "--report", report, "--output", "json")
    #expect(run.exit == .code(2), "\(run.errors)")
    #expect(run.errors.contains("3 rows failed or not accepted"))
    let summary = try run.document(JSONTree.self)
    let name = try #require(summary["importId"]?.text)
    #expect(name.count == 32)
    #expect(summary["done"]?.text == "1" && summary["waiting"]?.text == "0")
    let reported = try String(contentsOfFile: report, encoding: .utf8).split(separator: "\n")
      .map { try JSONTree(parsing: $0.utf8) }
    #expect(reported.map { $0["row"]?.text } == ["5", "4", "6"])
    #expect(
      reported.map { $0["failure"]?.text } == [
        "IMPORT_FAILURE_INVALID", "IMPORT_FAILURE_CONFLICT", "IMPORT_FAILURE_INVALID",
      ])
    let customer = try await control(
      server, "customer", "get", "a-1", "--environment", "sandbox", "--output", "json")
    #expect(try customer.document(JSONTree.self)["coreState"]?.text == "CORE_STATE_ACTIVE")

    // What is done is done.
    let again = try await control(server, "import", "accounts", file, "--output", "json")
    #expect(try again.document(JSONTree.self)["known"]?.text == "4")
    #expect(again.errors.contains("continues after line 6"))
    let status = try await control(server, "import", "status", name)
    #expect(status.exit == .code(0) && status.output.contains("done            1"))
    #expect(try await control(server, "import", "status", name, "--wait").exit == .code(2))
    let failed = try await control(server, "import", "failed", name, "--output", "jsonl")
    #expect(try failed.lines(JSONTree.self).map { $0["row"]?.text } == ["4", "6"])
    let list = try await control(server, "import", "list")
    #expect(list.output.contains(name) && list.output.hasPrefix("IMPORT"))

    // The conflict is decided by the links now: the purchase has an owner.
    #expect(try await control(server, "import", "retry", name).output == "1 row to be done again\n")
    #expect(try await control(server, "import", "status", name, "--wait").exit == .code(2))
    let decided = try await control(server, "import", "failed", name, "--output", "jsonl")
    #expect(
      try decided.lines(JSONTree.self).first?["failure"]?.text == "IMPORT_FAILURE_LINKED_ELSEWHERE")
    #expect(!decided.output.contains("a-1"))

    #expect(try await control(server, "import", "delete", name).exit == .code(64))
    #expect(
      try await control(server, "import", "delete", name, "--yes", "--reason", "done").output
        == "4 rows deleted\n")
    #expect(try await control(server, "import", "status", name).exit == .code(2))
    #expect(try await server.stop() == .code(0))
    #expect(try await simulator.stop() == .code(0))
  }

  @Test func `what cannot be imported says why`() async throws {
    let server = try await bench.startServer()
    let file = try bench.folder.write(
      #"{"account_id":"a","transaction_id":"1"}"#, to: "accounts.jsonl")
    let app = ["--app", "com.example.scribe"]
    func run(_ arguments: [String], input: String = "") async throws -> ProgramRun {
      try await ProgramRun.of(
        .entitlectl, ["import", "accounts"] + arguments + app + ["--server", "\(server.address)"],
        input: input)
    }
    let noKey = try await run([file])
    #expect(noKey.exit == .code(2))
    #expect(noKey.errors.contains("this server has no key of the App Store Server API"))
    let missing = try await run([bench.folder.file("missing.csv")])
    #expect(missing.exit == .code(1) && missing.errors.contains("cannot be read"))
    let header = try await run(["-"], input: "a,b\n1,2\n")
    #expect(header.exit == .code(1) && header.errors.contains("the header needs account_id"))
    // Nothing of it is a row: nothing is sent.
    let nothing = try await run(["-"], input: "account_id,transaction_id\nx\n")
    #expect(nothing.exit == .code(2) && nothing.errors.contains("1 row failed or not"))
    #expect(try await run([file, "--dry-run", "--no-wait"]).exit == .code(64))
    #expect(try await run([file, "--environment", "xcode"]).exit == .code(64))
    #expect(try await server.stop() == .code(0))
  }
}
