import EntitlementDomain
import Foundation
import StoreSimulator
import TestSupport
import Testing

@Suite("storesim serve, and the commands that act on it", .timeLimit(.minutes(5)))
struct SimulatorServeTests {
  private static let start = "2026-03-01T12:00:00Z"

  /// A running `storesim serve`. It is killed when this object is released.
  private final class RunningSimulator: Sendable {
    let child: ChildProcess
    let url: String

    /// Starts one on a free port, and waits until it listens.
    init(_ directory: String, _ more: String...) async throws {
      child = try ChildProcess(
        .storesim,
        [
          "serve", "--listen", "127.0.0.1:0", "--directory", directory, "--start",
          SimulatorServeTests.start, "--speed", "0",
        ] + more)
      url = try await child.journal.first("listening simulator") { contents in
        if let exit = contents.exit {
          throw HarnessFailure("it ended with \(exit):\n\(contents.errorText)")
        }
        return contents.errorLines.compactMap { line in
          line.hasPrefix("listening on ") ? "http://\(line.dropFirst(13))" : nil
        }.first
      }
    }

    deinit {
      child.signal(SIGKILL)
    }

    func run(_ arguments: String...) async throws -> ProgramRun {
      try await ProgramRun.of(.storesim, arguments + ["--server", url])
    }

    /// Runs a command that must succeed, and reads its JSON.
    func json(_ arguments: String...) async throws -> JSONTree {
      let run = try await ProgramRun.of(.storesim, arguments + ["--server", url, "--json"])
      guard run.exit == .code(0) else {
        throw HarnessFailure("\(arguments) ended with \(run.exit): \(run.errors)")
      }
      return try run.document()
    }

    func stop() async throws -> ProgramExit {
      child.signal(SIGTERM)
      return try await child.exit()
    }
  }

  @Test func `a server gets purchases by notifications, and time passes for both`() async throws {
    let bench = try Bench()
    let folder = bench.folder.file("sim")
    let authority = try SigningAuthority.loadOrCreate(inDirectory: folder)
    let server = try await bench.startServer(
      "--trust-root", "\(authority.rootFingerprint)", "--webhook-listen", "127.0.0.1:0",
      listeners: 2)
    let webhook = try #require(server.webhookAddresses.first)
    let simulator = try await RunningSimulator(
      folder, "--notify", "http://\(webhook)/apple/notifications", "--population", "12")
    let played = try await simulator.json("clock", "advance", "1s")
    #expect(played["isComplete"] == .boolean(true))
    let bought = try await simulator.json("buy", "pro.monthly", "--customer", "anna")
    #expect(bought["notifications"]?.elements.first?["sendAttemptResult"]?.text == "SUCCESS")
    let chain = try #require(
      bought["transactions"]?.elements.first?["originalTransactionId"]?.text)
    let advanced = try await simulator.run("clock", "advance", "31d")
    #expect(advanced.output.hasPrefix("2026-04-01T12:00:01.001Z, speed 0.0: "))

    // The state of the virtual time, as the simulator expects it.
    let expected = try await simulator.json("customers", "anna")
    #expect(expected["expected"]?.elements.first?["status"]?.text == "ACTIVE")
    let state = try await Bench.control(
      server, "customer", "get", chain, "--by", "original-transaction", "--environment", "sandbox",
      "--bundle-id", "com.example.scribe", "--at", "2026-04-01T12:00:02Z", "--output", "json")
    #expect(state.exit == .code(0), "\(state.errors)")
    #expect(state.output.contains("DETAILED_STATUS_ACTIVE"), "\(state.output)")
    #expect(try await simulator.stop() == .code(0))
    #expect(try await server.stop() == .code(0))
  }

  @Test func `it prints what servers and clients must know, and keeps its keys`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("sim")
    var settings: [String] = []
    for _ in 0..<2 {
      let simulator = try await RunningSimulator(path)
      let text = try await simulator.child.journal.first("settings") { contents in
        contents.outputText.contains("bundle id: ") ? contents.outputText : nil
      }
      settings.append(
        text.replacing(simulator.url.dropFirst("http://".count), with: "ADDRESS"))
      #expect(try await simulator.stop() == .code(0))
    }
    #expect(settings[0] == settings[1])
    let root = try SigningAuthority.load(fromDirectory: path).rootFingerprint
    let form = """
      # Option of entitled:
      --trust-root \(root)
      # For clients of the App Store Server API:
      url: http://ADDRESS
      issuer id:
      """
    #expect(settings[0].hasPrefix(form), "\(settings[0])")
    #expect(settings[0].hasSuffix("bundle id: com.example.scribe\n"))
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
  }

  @Test func `each action has a command, as text and as JSON`() async throws {
    let folder = try TemporaryFolder()
    let simulator = try await RunningSimulator(folder.file("sim"))
    let bought = try await simulator.run("buy", "basic.monthly", "--customer", "anna")
    #expect(
      bought.output.wholeMatch(
        of:
          /anna\n  transaction \d{16}, original \d{16}, order M\w+: com\.example\.scribe\.basic\.monthly\n  notification SUBSCRIBED INITIAL_BUY: not sent\n/
      ) != nil, "\(bought.output)")
    let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
    let once = try await simulator.json(
      "buy", "tokens", "--customer", "anna", "--app-account-token", token)
    let id = try #require(once["transactions"]?.elements.first?["transactionId"]?.text)
    let rows: [([String], [String])] = [
      (["cancel", "anna"], ["DID_CHANGE_RENEWAL_STATUS"]),
      (["resume", "anna"], ["DID_CHANGE_RENEWAL_STATUS"]),
      (["upgrade", "anna", "pro.monthly"], ["DID_CHANGE_RENEWAL_PREF"]),
      (["downgrade", "anna", "basic.monthly"], ["DID_CHANGE_RENEWAL_PREF"]),
      (["crossgrade", "anna", "pro.yearly"], ["DID_CHANGE_RENEWAL_PREF"]),
      (["share", "anna", "--with", "ben"], ["SUBSCRIBED"]),
      (["stop-sharing", "ben"], ["REVOKE"]),
      (["raise-price", "anna", "200000"], ["PRICE_INCREASE"]),
      (["consent", "anna"], ["PRICE_INCREASE"]),
      (["change-card", "anna", "--fails"], []), (["change-card", "anna", "--works"], []),
      (["request-consumption", id, "--reason", "LEGAL"], ["CONSUMPTION_REQUEST"]),
      (["refund", id, "--decline"], ["REFUND_DECLINED"]), (["refund", id], ["REFUND"]),
      (["refund", id, "--reverse"], ["REFUND_REVERSED"]),
      (
        ["buy", "basic.monthly", "--customer", "eva", "--offer", "introductory"], ["SUBSCRIBED"]
      ),
    ]
    for (arguments, names) in rows {
      let run = try await ProgramRun.of(
        .storesim, arguments + ["--server", simulator.url, "--json"])
      let told = (try? run.document(JSONTree.self))?["notifications"]?.elements
        .compactMap { $0["notificationType"]?.text }
      #expect(told == names, "\(arguments): \(run.errors)")
    }
    let fault = try await simulator.run("fault", "api", "error", "--code", "4040002", "--for", "1d")
    #expect(fault.output == "api  error  4040002  probability 1.0\n")
    #expect(
      try await simulator.run("fault", "notifications", "late", "--delay", "3h").exit == .code(0))
    #expect(try await simulator.run("fault", "clear").output == "no faults\n")
    #expect(try await simulator.run("clock", "speed", "8928").exit == .code(0))
    // The time runs on between any two requests.
    #expect(try await simulator.run("clock", "advance", "1s").exit == .code(0))
    let list = try await simulator.run("customers")
    #expect(
      list.output.contains("anna  -  com.example.scribe.pro.monthly ACTIVE"), "\(list.output)")
    #expect(try await simulator.stop() == .code(0))
  }

  @Test func `commands end with documented codes`() async throws {
    let folder = try TemporaryFolder()
    let simulator = try await RunningSimulator(folder.file("sim"))
    let rows: [(Int32, [String])] = [
      (2, ["cancel", "nobody"]), (2, ["buy", "nothing"]),
      (2, ["clock", "set", "2020-01-01T00:00:00Z"]), (2, ["customers", "nobody"]),
      (2, ["clock", "advance", "15250284452w"]), (64, ["clock", "advance", "31"]),
      (64, ["change-card", "anna"]),
      (64, ["fault", "notifications", "eaten"]),
    ]
    for (code, arguments) in rows {
      let run = try await ProgramRun.of(.storesim, arguments + ["--server", simulator.url])
      #expect(run.exit == .code(code), "\(arguments): \(run.errors)")
      #expect(run.output == "" && !run.errors.isEmpty)
    }
    let url = simulator.url
    let second = try await ProgramRun.of(
      .storesim,
      [
        "serve", "--directory", folder.file("second"), "--listen",
        String(url.dropFirst("http://".count)), "--notify", "http://127.0.0.1:1",
      ])
    #expect(second.exit == .code(1) && second.errors.contains("cannot listen on"), "\(second)")
    #expect(try await simulator.stop() == .code(0))
    #expect(try await ProgramRun.of(.storesim, ["clock", "--server", url]).exit == .code(3))
    for arguments in [
      ["--clock", "real", "--speed", "2"], ["--environment", "xcode"], ["--notify", "ftp://x"],
      ["--grace-days", "5"], ["--month", "5"], ["--speed", "-1"],
    ] {
      let run = try await ProgramRun.of(
        .storesim, ["serve", "--directory", folder.file("other")] + arguments)
      #expect(run.exit == .code(64), "\(arguments)")
    }
  }
}
