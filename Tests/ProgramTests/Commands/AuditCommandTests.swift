import EntitlementDomain
import Foundation
import StoreSimulator
import TestSupport
import Testing

@Suite("entitlectl audit", .timeLimit(.minutes(5)))
struct AuditCommandTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private static let app = ["--bundle-id", "com.example.scribe"]

  /// One entry as entitlectl prints it.
  struct Entry: Decodable, Hashable {
    let chain: String
    let position: String
    let node: String
    let peer: String
    let method: String
    let app: String?
    let appEnvironment: String?
    let account: String?
    let author: String?
    let onBehalfOf: String?
    let proof: String?
    let reason: String?
    let subject: String?
    let hash: String
  }

  private func control(
    _ server: RunningServer, _ arguments: [String]
  ) async throws -> ProgramRun {
    try await ProgramRun.of(.entitlectl, arguments + ["--server", "\(server.address)"])
  }

  /// Two grants for an account, one withdrawn, and then the account is deleted.
  private func eraseTraces(_ server: RunningServer) async throws {
    let id = "0190a000-0000-4000-8000-00000000000a"
    let grant = ["grant", "add", "customer-001", "season"] + Self.app
    let calls = [
      grant + ["--id", id, "--on-behalf-of", "ada", "--reason", "a favour"],
      ["grant", "withdraw", id, "--yes", "--on-behalf-of", "grace", "--reason", "nobody must know"]
        + Self.app,
      [
        "customer", "delete", "customer-001", "--yes", "--on-behalf-of", "mallory", "--reason",
        "gone",
      ]
        + Self.app,
    ]
    for call in calls {
      let run = try await control(server, call)
      try #require(run.exit == .code(0), "\(run.errors)")
    }
  }

  private func entries(_ server: RunningServer, _ more: String...) async throws -> [Entry] {
    let run = try await control(server, ["audit", "list", "--output", "jsonl"] + more)
    try #require(run.exit == .code(0), "\(run.errors)")
    return try run.lines(Entry.self)
  }

  @Test func `authors and reasons are found after a deletion, and no account (R76)`() async throws {
    let server = try await bench.startServer("--node-name", "node-1")
    try await eraseTraces(server)
    let run = try await control(server, ["audit", "list", "--output", "jsonl"])
    #expect(run.exit == .code(0))
    #expect(run.errors == "")
    #expect(!run.output.contains("customer-001"))
    let entries = try run.lines(Entry.self)
    #expect(entries.map(\.method) == ["AddGrant", "WithdrawGrant", "DeleteCustomer"])
    #expect(entries.map(\.author) == ["local", "local", "local"])
    #expect(entries.map(\.onBehalfOf) == ["ada", "grace", "mallory"])
    #expect(entries.map(\.proof) == ["none", "none", "none"])
    #expect(entries.map(\.reason) == ["a favour", "nobody must know", "gone"])
    #expect(entries.allSatisfy { $0.node == "node-1" && $0.peer.hasPrefix("127.0.0.1:") })
    #expect(entries.allSatisfy { $0.app == "com.example.scribe" })
    #expect(entries.allSatisfy { $0.appEnvironment == "Production" })
    #expect(Set(entries.map(\.account)).count == 1)
    // Filters, and the table.
    #expect(try await self.entries(server, "--on-behalf-of", "mallory") == [entries[2]])
    #expect(try await self.entries(server, "--method", "AddGrant") == [entries[0]])
    #expect(try await self.entries(server, "--author", "local") == entries)
    #expect(try await self.entries(server, "--author", "mallory") == [])
    #expect(try await self.entries(server, "--limit", "2") == Array(entries.prefix(2)))
    #expect(
      try await self.entries(
        server, "--account", "customer-001", "--bundle-id", "com.example.scribe") == [])
    let table = try await control(server, ["audit", "list"])
    #expect(table.output.hasPrefix("TIME"))
    #expect(table.output.split(separator: "\n").count == 4)
    #expect(table.output.contains("DeleteCustomer"))
    let verify = try await control(server, ["audit", "verify"])
    #expect(verify.exit == .code(0))
    #expect(
      verify.output == """
        trail      whole
        entries    3 in 1 chains, and 0 removed for their age
        last seal  none

        """)
    let statistics = try await control(server, ["statistics", "--output", "json"])
    #expect(statistics.output.contains("audit.entries"))
    #expect(try await server.stop() == .code(0))
  }

  @Test func `exports, reloads and link changes are in it, and a dry run is not (R76)`()
    async throws
  {
    let server = try await bench.startServer()
    let facts = try bench.signed(.nonConsumable).flatMap(\.facts).joined(separator: "\n")
    let submitted = try await Bench.control(server, "submit", "-", "--account", "a", input: facts)
    try #require(submitted.exit == .code(0))
    let why = ["--on-behalf-of", "ada", "--reason", "a ticket"]
    let path = bench.folder.file("export.json")
    let export = try await control(
      server, ["customer", "export", "a", "--output", path] + Self.app)
    try #require(export.exit == .code(0), "\(export.errors)")
    let merge = try await control(
      server, ["link", "merge", "a", "b", "--yes"] + Self.app + why)
    try #require(merge.exit == .code(0), "\(merge.errors)")
    let same = try await control(server, ["catalog", "reload"])
    try #require(same.exit == .code(0))
    try Data((SimulatedApp.catalogYAML + "\n# another\n").utf8).write(
      to: URL(filePath: bench.catalogPath), options: .atomic)
    let dry = try await control(server, ["catalog", "reload", "--dry-run"])
    try #require(dry.exit == .code(0), "\(dry.errors)")
    try await server.logged("another catalog is in force")
    let entries = try await entries(server)
    #expect(entries.map(\.method) == ["ExportCustomer", "MergeAccounts", "ReloadCatalog"])
    #expect(entries[2].peer == "server")
    #expect(entries[2].subject?.count == 64)
    #expect(try await server.stop() == .code(0))
  }

  // MARK: Verification

  /// Runs Python, which is part of what deploy/test installs.
  private func python(_ arguments: [String]) throws -> (output: String, status: Int32) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/python3")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (String(decoding: output, as: UTF8.self), process.terminationStatus)
  }

  private static let verifier = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "AuditVerifier/verify_audit.py").path

  @Test func `an independent program verifies the trail, and a change of the file is found (R78)`()
    async throws
  {
    let log = bench.folder.file("audit.jsonl")
    for _ in 0..<2 {
      let server = try await bench.startServer("--audit-log", log)
      try await eraseTraces(server)
      // Each run has a chain of its own, and seals it at its end.
      #expect(try await server.stop() == .code(0))
    }
    let server = try await bench.startServer()
    let list = try await control(server, ["audit", "list", "--output", "jsonl"])
    // What was written at once is what is stored.
    #expect(try String(contentsOfFile: log, encoding: .utf8) == list.output)
    let seals = try await control(server, ["audit", "seals", "--output", "jsonl"])
    let sealFile = try bench.folder.write(seals.output, to: "seals.jsonl")
    let outcome = try python([Self.verifier, log, sealFile])
    #expect(outcome.status == 0, "\(outcome.output)")
    let head = try #require(outcome.output.split(separator: " ").last).trimmingCharacters(
      in: .newlines)
    #expect(outcome.output == "6 entries, 2 seals, head \(head)\n")
    let noted = try await control(server, ["audit", "verify", "--head", head, "--output", "json"])
    #expect(noted.exit == .code(0), "\(noted.errors)")
    #expect(noted.output.contains("\"hash\": \"\(head)\""))
    #expect(noted.output.contains("\"whole\": true"))
    let unknown = try await control(
      server, ["audit", "verify", "--head", String(repeating: "0", count: 64)])
    #expect(unknown.exit == .code(1))
    #expect(unknown.errors.contains("no entry and no seal has this hash"))
    #expect(try await server.stop() == .code(0))

    let chain = try #require(try list.lines(Entry.self).first).chain
    let changed = try python([
      "-c",
      """
      import sqlite3, sys
      database = sqlite3.connect(sys.argv[1])
      database.execute("DROP TRIGGER audit_entries_stay")
      database.execute(
        "UPDATE audit_entries SET author = 'ada' WHERE position = 3 AND chain = ?", [sys.argv[2]])
      database.commit()
      """, bench.databasePath, chain,
    ])
    #expect(changed.status == 0, "\(changed.output)")
    let again = try await bench.startServer()
    let verify = try await control(again, ["audit", "verify"])
    #expect(verify.exit == .code(1))
    #expect(verify.output.hasPrefix("trail      broken\n"))
    #expect(
      verify.errors == """
        entitlectl: the audit trail is broken at entry 3 of chain \(chain): its hash is not that of \
        its content

        """)
    #expect(try await again.stop() == .code(0))
  }

  // MARK: The log

  @Test func `the log is opened again on SIGHUP`() async throws {
    let log = bench.folder.file("audit.jsonl")
    let server = try await bench.startServer("--audit-log", log)
    try await eraseTraces(server)
    let rotated = bench.folder.file("audit.jsonl.1")
    try FileManager.default.moveItem(atPath: log, toPath: rotated)
    server.signal(SIGHUP)
    try await server.logged("the catalog file is already in force")
    try await eraseTraces(server)
    for path in [rotated, log] {
      let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      #expect(lines.count == 3, "\(path)")
    }
    #expect(try await server.stop() == .code(0))
  }

  @Test func `a log that cannot be written fails no call, and is told of`() async throws {
    let server = try await bench.startServer("--audit-log", "/dev/full")
    try await eraseTraces(server)
    try await server.logged("the audit log cannot be written")
    #expect(try await entries(server).count == 3)
    let statistics = try await control(server, ["statistics", "--output", "json"])
    let document = try statistics.document(JSONTree.self)
    guard case .array(let counters)? = document["counters"] else {
      throw HarnessFailure("no counters: \(statistics.output)")
    }
    let failures = counters.first { $0["name"]?.text == "audit.log_failures" }
    #expect(failures?["value"]?.text == "3")
    #expect(try server.log.count { $0.message == "the audit log cannot be written" } == 1)
    #expect(try await server.stop() == .code(0))
  }

  @Test func `a log that cannot be opened is an error of the configuration`() async throws {
    for target in ["/nonexistent/audit.jsonl", "fd:1999"] {
      let run = try await ProgramRun.of(
        .entitled, bench.serverArguments + ["--audit-log", target])
      #expect(run.exit == .code(78), "\(target)")
      #expect(run.errors.contains("the audit log \(target)"), "\(run.errors)")
    }
  }
}
