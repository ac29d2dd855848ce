import EntitlementDomain
import Foundation
import RPCClient
import StoreSimulator
import TestSupport
import Testing
import Wire

@Suite("storesim serve, and the commands that act on it", .timeLimit(.minutes(5)))
struct SimulatorServeTests {
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

  @Test func `it prints the settings of a server, and keeps its keys`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("sim")
    var settings: [String] = []
    for _ in 0..<2 {
      let simulator = try await RunningSimulator(path)
      settings.append(
        try await simulator.settings().replacing(simulator.url.dropFirst(7), with: "ADDRESS"))
      #expect(try await simulator.stop() == .code(0))
    }
    #expect(settings[0] == settings[1])
    let root = try SigningAuthority.load(fromDirectory: path).rootFingerprint
    let key = try StoreAPIKey.loadOrCreate(inDirectory: path)
    #expect(
      settings[0] == """
        # Settings of entitled, for the file of --config:
        trust_roots: ['\(root)']
        without_apple_roots: true
        development_clock: http://ADDRESS
        app_store_api: production=http://ADDRESS/production,sandbox=http://ADDRESS/sandbox
        app_store:
          keys:
            - issuer_id: \(key.issuerID)
              key_id: \(key.keyID)
              private_key_file: '\(path)/AuthKey_\(key.keyID).p8'
              bundle_ids: [com.example.scribe]
        # Other clients of the API have the same key, and the URL http://ADDRESS

        """)
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
  }

  @Test(
    "The settings of each kind of simulator are valid, and only one with a virtual time is followed",
    arguments: [
      (["--environment", "sandbox"], true), (["--environment", "production"], false),
      (["--clock", "real"], false),
    ])
  func settings(arguments: [String], isFollowed: Bool) async throws {
    let bench = try Bench()
    let child = try ChildProcess(
      .storesim,
      ["serve", "--listen", "127.0.0.1:0", "--directory", bench.folder.file("it's")] + arguments)
    let printed = try await child.journal.first("settings") { contents in
      contents.outputText.contains("# Other clients") ? contents.outputText : nil
    }
    child.signal(SIGTERM)
    #expect(try await child.exit() == .code(0))
    let file = try bench.folder.write(printed, to: "entitled.yaml")
    let run = try await ProgramRun.of(
      .entitled, ["--check-config", "--config", file, "--catalog", bench.catalogPath])
    #expect(run.exit == .code(0), "\(run.errors)")
    #expect(!run.output.contains("development_clock: none\n") == isFollowed)
    #expect(run.output.contains("app_store: "))
  }

  @Test func `a server with the printed settings follows the virtual time`() async throws {
    let bench = try Bench()
    let posted = try CollectorStub()
    let simulator = try await RunningSimulator(bench.folder.file("sim"), "--notify", posted.url)
    let config = try bench.folder.write(try await simulator.settings(), to: "entitled.yaml")
    let arguments = ["--config", config, "--catalog", bench.catalogPath]
    let check = try await ProgramRun.of(.entitled, ["--check-config"] + arguments)
    #expect(check.exit == .code(0), "\(check.errors)")
    #expect(check.output.contains("development_clock: \(simulator.url)\n"))
    let warning =
      "development_clock: time is the virtual time of \(simulator.url): for development only"
    #expect(check.output.contains("warning: \(warning)\n"), "\(check.output)")

    let server = try await RunningServer.start(
      arguments + [
        "--listen", "127.0.0.1:0", "--store", "sqlite:\(bench.databasePath)", "--create",
        "--log-format", "json",
      ])
    #expect(try server.log.contains { $0.level == "warning" && $0.issue == warning })
    func now() async throws -> Int64? {
      let health = try await Bench.control(server, "health", "--output", "json")
      return try health.document(JSONTree.self)["developmentClockMs"]?.integer
    }
    let start = try #require(Milliseconds(written: RunningSimulator.start))
    #expect(try await now() == start.rawValue)
    let health = try await Bench.control(server, "health")
    #expect(health.output.contains("\nvirtual time    2026-03-01 12:00:00Z\n"), "\(health.output)")

    // The first reconciliation, of a server without a past, is over before the purchase.
    try await eventually {
      try await Bench.control(
        server, "job", "list", "--environment", "sandbox", "--output", "jsonl"
      ).lines(JSONTree.self).contains { $0["state"]?.text == "JOB_STATE_DONE" }
    }

    // The purchase reaches the server, and nothing after it: what ends it is time.
    let bought = try await simulator.json("buy", "pro.monthly", "--customer", "anna")
    let chain = try #require(
      bought["transactions"]?.elements.first?["originalTransactionId"]?.text)
    let body = try JSONTree(parsing: try #require(posted.requests.first?.body))
    let client = try await server.client()
    _ = try await client.submitNotification(
      SubmitNotificationRequest(signedPayload: try #require(body["signedPayload"]?.text)))
    func state() async throws -> CustomerState {
      let answer = try await client.customerState(
        GetCustomerStateRequest(
          customer: .originalTransaction(OriginalTransactionID(chain)),
          scope: AppScope(bundleID: SimulatedApp.bundleID, environment: .sandbox)))
      guard case .state(let state) = answer else { throw HarnessFailure("no state") }
      return state
    }
    func hits() async throws -> Int64 {
      try await client.statistics().counters.first { $0.name == "cache.hits" }?.value ?? 0
    }
    // A jump is answered when the followers of the clock know it, if they already follow.
    _ = try await simulator.json("clock", "advance", "1s")
    try await eventually { try await now() ?? 0 >= start.rawValue + 1_000 }
    #expect(try await state().coreState == .active)
    // An answer is dropped if the server reads the feed only after it.
    try await eventually {
      let before = try await hits()
      #expect(try await state().coreState == .active)
      return try await hits() == before + 1
    }

    // A reload changes the keys of the App Store, and no root.
    let authority = try SigningAuthority.load(fromDirectory: bench.folder.file("sim"))
    let root = "production=\(authority.rootFingerprint)"
    _ = try bench.folder.write(
      try await simulator.settings().replacing(
        "trust_roots: ['", with: "trust_roots: ['\(root)', '"),
      to: "entitled.yaml")
    server.signal(SIGHUP)
    try await server.logged("the keys of the App Store Server API were read again")
    #expect(
      try await Bench.control(server, "health").output.contains("for Production") == false)
    let refused = try await ProgramRun.of(.entitled, ["--check-config"] + arguments)
    #expect(refused.exit == .code(78))

    // Cancelled: the reconciliation that the jump makes due finds no renewal.
    _ = try await simulator.json("cancel", "anna")
    _ = try await simulator.json("clock", "advance", "31d")
    let end = start.rawValue + 31 * Milliseconds.dayLength + 1_000
    try await eventually { try await now() ?? 0 >= end }
    let lapsed = try await state()
    #expect(lapsed.coreState == .inactive)
    #expect(lapsed.evaluatedAt.rawValue >= end)
    await client.close()
    #expect(try await simulator.stop() == .code(0))
    // Time goes on without the simulator; here it stood still.
    try await server.logged(
      "the development clock cannot be reached: time goes on at its last speed")
    #expect(try await now() ?? 0 >= end)
    #expect(try await server.stop() == .code(0))

    // Without the simulator there is no time to start with.
    _ = try bench.folder.write(try await simulator.settings(), to: "entitled.yaml")
    let alone = try await ProgramRun.of(
      .entitled,
      arguments + ["--listen", "127.0.0.1:0", "--store", "sqlite:\(bench.databasePath)"])
    #expect(alone.exit == .code(1))
    #expect(alone.errors.contains("entitled: development_clock: \(simulator.url) did not say"))
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
