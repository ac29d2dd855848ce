import EntitlementDomain
import Foundation
import TestSupport
import Testing

@Suite("entitlectl consumption", .timeLimit(.minutes(5)))
struct ConsumptionProgramTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private func run(
    _ server: RunningServer, _ arguments: String..., output: String = "json"
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl,
      ["consumption"] + arguments
        + [
          "--server", "\(server.address)", "--bundle-id", "com.example.scribe", "--output", output,
        ])
  }

  @Test func `consent is recorded, shown and withdrawn`() async throws {
    let server = try await bench.startServer()
    let unknown = try await run(server, "consent", "get", "anna")
    #expect(unknown.exit == .code(2) && unknown.output == "")
    #expect(unknown.errors.contains("nothing is recorded of account anna"))
    let set = try await run(server, "consent", "set", "anna", "yes", "--reason", "a form")
    #expect(set.exit == .code(0) && set.errors == "")
    #expect(try set.document(JSONTree.self)["changed"] == .boolean(true))
    let again = try await run(server, "consent", "set", "anna", "yes", "--reason", "another form")
    #expect(again.exit == .code(0) && again.errors == "nothing changed\n")
    let shown = try await run(server, "consent", "get", "anna")
    #expect(shown.exit == .code(0) && shown.errors == "")
    let consent = try shown.document(JSONTree.self)
    #expect(consent["consented"] == .boolean(true))
    #expect(consent["author"]?.text == "local")
    #expect(consent["reason"]?.text == "a form")
    _ = try await run(server, "consent", "set", "anna", "no")
    let table = try await run(server, "consent", "get", "anna", output: "table")
    #expect(table.output.hasPrefix("consents        no\n"), "\(table.output)")
  }

  @Test func `a percentage is recorded, and nothing is listed or sent that was not asked for`()
    async throws
  {
    let server = try await bench.startServer()
    let set = try await run(
      server, "percentage", "set", "2000000001", "42.5", "--delivery", "delivered",
      output: "table")
    #expect(set.exit == .code(0) && set.output == "recorded\n" && set.errors == "")
    let again = try await run(
      server, "percentage", "set", "2000000001", "42.5", "--delivery", "delivered",
      output: "table")
    #expect(again.output == "nothing changed\n")
    let undelivered = try await run(
      server, "percentage", "set", "2000000001", "1", "--delivery", "other")
    #expect(undelivered.exit == .code(1) && undelivered.output == "")
    let list = try await run(server, "list", "--all")
    #expect(list.exit == .code(0) && list.output == "[]\n" && list.errors == "")
    let show = try await run(server, "show", "2000000001")
    #expect(show.exit == .code(2))
    #expect(show.errors.contains("has not asked about this purchase"))
    let send = try await run(server, "send", "2000000001", "--dry-run")
    #expect(send.exit == .code(2) && send.output == "")
    #expect(send.errors.contains("no key of the App Store Server API"), "\(send.errors)")
    let unasked = try await run(server, "send", "2000000001")
    #expect(unasked.exit == .code(64) || unasked.exit == .code(1), "it did not ask")
  }
}
