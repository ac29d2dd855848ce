import Foundation
import StoreSimulator
import TestSupport
import Testing

@Suite("entitlectl customer history, export and delete", .timeLimit(.minutes(5)))
struct CustomerRecordCommandTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private static let app = ["--bundle-id", "com.example.scribe"]
  private static let why = ["--reason", "asked for", "--on-behalf-of", "ada"]

  private func control(_ server: RunningServer, _ arguments: [String]) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl, arguments + ["--server", "\(server.address)"] + Self.app)
  }

  /// A customer with a purchase, a notification and a withdrawn grant.
  ///
  /// - Returns: the facts that were submitted.
  @discardableResult
  private func fill(_ server: RunningServer, account: String = "a") async throws -> [String] {
    let events = try bench.signed(.refunded)
    for event in events {
      guard let notification = event.notification else { continue }
      let run = try await Bench.control(
        server, "notification", "submit", "-", "--account", account, input: notification)
      try #require(run.exit == .code(0))
    }
    let id = "0190a000-0000-4000-8000-00000000000a"
    let given = try await control(
      server,
      ["grant", "add", account, "pro", "--id", id] + Self.why)
    try #require(given.exit == .code(0))
    let withdrawn = try await control(server, ["grant", "withdraw", id, "--yes"] + Self.why)
    try #require(withdrawn.exit == .code(0))
    return events.flatMap(\.transactions)
  }

  @Test func `the history has links, grants and notifications, oldest first`() async throws {
    let server = try await bench.startServer()
    try await fill(server)
    let run = try await control(server, ["customer", "history", "a", "--output", "json"])
    #expect(run.exit == .code(0))
    #expect(run.errors == "")
    let document = try run.document(JSONTree.self)
    #expect(document["accountId"]?.text == "a")
    let entries = try #require(document["entries"]).elements
    let moments = entries.compactMap { $0["atMs"]?.integer }
    #expect(moments.count == entries.count)
    #expect(moments == moments.sorted())
    for kind in ["link", "grant", "grantWithdrawal", "notification"] {
      #expect(entries.contains { $0[kind] != nil }, "\(kind)")
    }
    #expect(entries.compactMap { $0["link"]?["reason"]?.text }.first == "LINK_REASON_NAMED")
    let table = try await control(server, ["customer", "history", "a"])
    #expect(table.output.split(separator: "\n").count == entries.count + 1)
    let nobody = try await control(server, ["customer", "history", "nobody"])
    #expect(nobody.exit == .code(2))
    #expect(nobody.output == "")
  }

  @Test func `an export is one document, on stdout or in a file of one's own`() async throws {
    let server = try await bench.startServer()
    let facts = try await fill(server)
    let printed = try await control(server, ["customer", "export", "a"])
    #expect(printed.exit == .code(0))
    #expect(printed.errors == "")
    let document = try printed.document(JSONTree.self)
    #expect(document["accountId"]?.text == "a")
    let exported = Set(
      (document["facts"]?.elements ?? []).compactMap { $0["signedPayload"]?.text })
    #expect(!exported.isEmpty)
    #expect(exported.contains(try #require(facts.last)))

    let path = bench.folder.file("export.json")
    let kept = try await control(server, ["customer", "export", "a", "--output", path])
    #expect(kept.exit == .code(0))
    #expect(kept.output == "")
    let bytes = try Data(contentsOf: URL(filePath: path))
    let written = try JSONTree(parsing: bytes)
    // The state depends on the time of evaluation.
    #expect(written.without("state") == document.without("state"))
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  @Test func `who asks by a name that was merged is told whose history and export it is`()
    async throws
  {
    let server = try await bench.startServer()
    try await fill(server)
    let merged = try await control(
      server, ["link", "merge", "a", "b", "--yes"] + Self.why)
    try #require(merged.exit == .code(0))
    for (verb, answer) in [("history", "its history"), ("export", "its export")] {
      for (name, note) in [("a", "a was merged into b: \(answer)\n"), ("b", "")] {
        let run = try await control(server, ["customer", verb, name])
        #expect(run.exit == .code(0))
        #expect(run.errors == note, "\(verb) \(name)")
        #expect(!run.output.isEmpty)
      }
    }
  }

  @Test func `the names in an export are a contract`() async throws {
    let server = try await bench.startServer()
    try await fill(server)
    let run = try await control(server, ["customer", "export", "a"])
    let places = try run.document(JSONTree.self)
      .places(closed: ["payload", "state", "grants"])
    let target = ["target", "target.appTransactionId", "target.originalTransactionId"]
    let expected =
      [
        "accountId", "accountTokens", "appAccountTokens", "bundleId", "changedAtMs", "documents",
        "environment", "facts", "grants", "importRows", "linkHistory", "links",
        "mergedAccounts", "notifications", "revision", "state", "versions",
      ]
      + ["accountId", "appAccountToken", "sinceMs", "state"].map { "accountTokens[].\($0)" }
      + ["evidence", "identifier", "kind", "payload", "signedPayload"].map { "facts[].\($0)" }
      + ["evidence", "identifier", "kind", "payload", "signedDatesMs", "signedPayload", "standing"]
      .map { "versions[].\($0)" }
      + (target + ["reason", "sinceMs"]).map { "links[].\($0)" }
      + (target + ["atMs", "author", "reason", "toAccountId"]).map { "linkHistory[].\($0)" }
      + [
        "notificationUuid", "payload", "receivedAtMs", "signedDateMs", "signedPayload",
        "subtype", "type",
      ].map { "notifications[].\($0)" }
    #expect(places.sorted() == expected.map { ".\($0)" }.sorted())
  }

  @Test func `an export that fails leaves nothing, and what was there stands`() async throws {
    let server = try await bench.startServer()
    let path = try bench.folder.write("before", to: "export.json")
    let nobody = try await control(server, ["customer", "export", "nobody", "--output", path])
    #expect(nobody.exit == .code(2))
    #expect(nobody.output == "")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "before")
    try await fill(server)
    let unwritable = bench.folder.file("none/export.json")
    let failed = try await control(server, ["customer", "export", "a", "--output", unwritable])
    #expect(failed.exit == .code(1))
    #expect(failed.errors.hasPrefix("entitlectl: \(unwritable): cannot be written: "))
    let format = try await control(server, ["customer", "export", "a", "--output", "jsonl"])
    #expect(format.exit == .code(64))
  }

  @Test func `who is deleted is gone, and what Apple signed can be claimed again`() async throws {
    let server = try await bench.startServer()
    let facts = try await fill(server)
    let run = try await control(
      server, ["customer", "delete", "a", "--yes", "--output", "json"] + Self.why)
    #expect(run.exit == .code(0))
    let document = try run.document(JSONTree.self)
    #expect(document["changed"] == .boolean(true))
    #expect(document["targets"]?.elements.isEmpty == false)
    for arguments in [["history"], ["export"]] {
      let gone = try await control(server, ["customer"] + arguments + ["a"])
      #expect(gone.exit == .code(2), "\(arguments)")
    }
    let again = try await control(server, ["customer", "delete", "a", "--yes"] + Self.why)
    #expect(again.exit == .code(0))
    #expect(again.errors == "nothing changed: it was deleted before\n")
    let stranger = try await control(
      server, ["customer", "delete", "nobody", "--yes"] + Self.why)
    #expect(stranger.exit == .code(2))
    let targets = try #require(document["targets"]).elements
    let chains = targets.compactMap { $0["originalTransactionId"]?.text }
    let chain = try #require(chains.first)
    let history = try await control(
      server, ["link", "history", "--original-transaction", chain, "--output", "json"])
    let steps = try history.document(JSONTree.self).elements
    #expect(steps.last?["reason"]?.text == "LINK_REASON_DELETED")
    #expect(steps.last?["fromAccountId"] == nil)
    #expect(steps.last?["fromDeleted"] == .boolean(true))

    let claim = try await Bench.control(
      server, "submit", "-", "--account", "b", "--output", "jsonl",
      input: facts.joined(separator: "\n"))
    #expect(claim.exit == .code(0))
    #expect(try claim.lines(JSONTree.self).first?["link"]?.text == "LINK_OUTCOME_LINKED")
  }
}
