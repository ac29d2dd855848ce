import StoreSimulator
import TestSupport
import Testing

/// Against a server without a key of the App Store Server API: jobs are kept until it has one.
@Suite("entitlectl job and reconcile", .timeLimit(.minutes(5)))
struct JobCommandProgramTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private func control(_ server: RunningServer, _ arguments: String...) async throws -> ProgramRun {
    try await ProgramRun.of(.entitlectl, arguments + ["--server", "\(server.address)"])
  }

  /// A server with the job that a notification opens whose status the facts contradict (R47).
  private func startServer() async throws -> RunningServer {
    let server = try await bench.startServer()
    let event = try #require(try bench.signed(.firstPurchase).first)
    let payload = """
      {"notificationType":"SUBSCRIBED","subtype":"INITIAL_BUY","version":"2.0",\
      "notificationUUID":"0190a000-0000-4000-8000-00000000000b","signedDate":\(event.at),\
      "data":{"appAppleId":\(SimulatedApp.appAppleID),"bundleId":"com.example.scribe",\
      "environment":"Production","status":2,\
      "signedTransactionInfo":"\(try #require(event.transactions.first))",\
      "signedRenewalInfo":"\(try #require(event.renewalInfo))"}}
      """
    let run = try await ProgramRun.of(
      .entitlectl, ["notification", "submit", "-", "--server", "\(server.address)"],
      input: try bench.authority.sign(payloadJSON: Array(payload.utf8)))
    try #require(run.exit == .code(0), "\(run.errors)")
    return server
  }

  private let noKey = "this server has no key of the App Store Server API for com.example.scribe"

  @Test func `a job that a notification opened is listed, shown, cancelled and not retried`()
    async throws
  {
    let server = try await startServer()
    let list = try await control(server, "job", "list", "--output", "jsonl")
    #expect(list.exit == .code(0))
    let job = try #require(try list.lines(JSONTree.self).first)
    let id = try #require(job["jobId"]?.text)
    #expect(job["kind"]?.text == "JOB_KIND_REFETCH")
    #expect(job["state"]?.text == "JOB_STATE_OPEN")
    #expect(try list.lines(JSONTree.self).count == 1)
    let shown = try await control(server, "job", "show", id, "--output", "jsonl")
    #expect(try shown.lines(JSONTree.self).first?["jobId"]?.text == id)

    let refused = try await control(server, "job", "retry", id)
    #expect(refused.exit == .code(2))
    #expect(refused.errors.contains(noKey))
    #expect(refused.output.isEmpty)

    // Without a terminal there is nobody to ask.
    #expect(try await control(server, "job", "cancel", id).exit == .code(64))
    // One that is not known does not stop the others.
    let cancelled = try await control(
      server, "job", "cancel", "987654321", id, "--yes", "--reason", "a test", "--on-behalf-of",
      "ada", "--output", "jsonl")
    #expect(cancelled.exit == .code(2))
    #expect(cancelled.errors.contains("job 987654321: "))
    #expect(
      try cancelled.lines(JSONTree.self).map { $0["state"]?.text } == ["JOB_STATE_CANCELLED"])
    let again = try await control(server, "job", "cancel", id, "--yes")
    #expect(again.exit == .code(0))
    #expect(again.errors.contains("job \(id): nothing changed: it had ended before"))

    func ids(_ filters: String...) async throws -> [String?] {
      let run = try await ProgramRun.of(
        .entitlectl,
        ["job", "list", "--output", "jsonl", "--server", "\(server.address)"] + filters)
      try #require(run.exit == .code(0), "\(run.errors)")
      return try run.lines(JSONTree.self).map { $0["jobId"]?.text }
    }
    #expect(try await ids("--state", "cancelled", "--kind", "refetch") == [id])
    #expect(try await ids("--state", "open") == [])
    #expect(try await ids("--app", "com.example.scribe", "--environment", "production") == [id])
    #expect(try await ids("--app", "com.example.other") == [])
    #expect(try await ids("--chain", "0") == [])
    let table = try await control(server, "job", "list")
    #expect(table.output.hasPrefix("JOB  KIND"))
    #expect(try await control(server, "job", "show", "987654321").exit == .code(2))
    #expect(try await server.stop() == .code(0))
  }

  @Test func `a reconciliation without a key is refused, and says what is missing`() async throws {
    let server = try await bench.startServer()
    let run = try await control(
      server, "reconcile", "--app", "com.example.scribe", "--environment", "sandbox", "--since",
      "36h")
    #expect(run.exit == .code(2))
    #expect(run.errors.contains(noKey))
    #expect(run.output.isEmpty)
    let run2 = try await control(
      server, "reconcile", "--app", "com.example.scribe", "--environment", "xcode", "--since",
      "2026-01-01", "--no-wait")
    #expect(run2.exit == .code(1))
    #expect(run2.errors.contains("sends no notifications"))
    #expect(try await control(server, "reconcile").exit == .code(64))
    #expect(try await server.stop() == .code(0))
  }
}
