import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing

/// Every command against a simulated App Store, with its success and with Apple's errors.
@Suite("entitlectl app-store", .timeLimit(.minutes(5)))
struct AppStoreCommandTests {
  /// A server with the key of a simulated App Store, which has one customer of whom it has not heard.
  private struct Parts {
    let bench: Bench
    let simulator: RunningSimulator
    let server: RunningServer
    /// The URL of notifications.
    let posted: CollectorStub
    let chain: String

    func run(_ arguments: String...) async throws -> ProgramRun {
      try await ProgramRun.of(
        .entitlectl,
        ["app-store"] + arguments
          + ["--app", "com.example.scribe", "--server", "\(server.address)"])
    }

    /// A command that must succeed, with its JSON.
    func json(_ arguments: String...) async throws -> JSONTree {
      let run = try await ProgramRun.of(
        .entitlectl,
        ["app-store"] + arguments
          + [
            "--app", "com.example.scribe", "--server", "\(server.address)", "--output", "json",
          ])
      guard run.exit == .code(0) else {
        throw HarnessFailure("\(arguments) ended with \(run.exit): \(run.errors)")
      }
      return try run.document(JSONTree.self)
    }

    func stop() async throws {
      #expect(try await server.stop() == .code(0))
      #expect(try await simulator.stop() == .code(0))
    }
  }

  private func parts() async throws -> Parts {
    let bench = try Bench()
    let posted = try CollectorStub()
    let simulator = try await RunningSimulator(bench.folder.file("sim"), "--notify", posted.url)
    let config = try bench.folder.write(try await simulator.settings(), to: "entitled.yaml")
    let server = try await RunningServer.start([
      "--config", config, "--catalog", bench.catalogPath, "--listen", "127.0.0.1:0", "--store",
      "sqlite:\(bench.databasePath)", "--create", "--log-format", "json",
    ])
    // The first reconciliation, which finds nothing, is over before the purchase.
    try await eventually {
      try await Bench.control(
        server, "job", "list", "--environment", "sandbox", "--output", "jsonl"
      ).lines(JSONTree.self).contains { $0["state"]?.text == "JOB_STATE_DONE" }
    }
    let bought = try await simulator.json("buy", "pro.monthly", "--customer", "anna")
    let chain = try #require(
      bought["transactions"]?.elements.first?["originalTransactionId"]?.text)
    return Parts(
      bench: bench, simulator: simulator, server: server, posted: posted, chain: chain)
  }

  private let product = SimulatedApp.proMonthly.id.rawValue

  @Test func `questions show what Apple says, and store it only with --store`() async throws {
    let parts = try await parts()
    let chain = parts.chain
    // Without an environment, Sandbox is found.
    let transaction = try await parts.json("transaction", chain)
    #expect(transaction["environment"]?.text == "STORE_ENVIRONMENT_SANDBOX")
    let payload = transaction["payloads"]?.elements.first
    #expect(payload?["verdict"]?.text == "VERDICT_OK")
    #expect(payload?["kind"]?.text == "PAYLOAD_KIND_TRANSACTION")
    #expect(payload?["payload"]?["transactionId"]?.text == chain)
    #expect(payload?["payload"]?["productId"]?.text == product)
    #expect(payload?["signedPayload"] == nil && payload?["stored"] == nil)
    let signed = try await parts.json("transaction", chain, "--show-signed")
    #expect(signed["payloads"]?.elements.first?["signedPayload"]?.text?.hasPrefix("ey") == true)

    let history = try await parts.json(
      "history", chain, "--type", "auto-renewable", "--no-revoked", "--all")
    #expect(history["payloads"]?.elements.count == 1)
    let revision = try #require(history["revision"]?.text)
    let later = try await parts.json(
      "history", chain, "--type", "auto-renewable", "--no-revoked", "--environment", "sandbox",
      "--revision", revision)
    #expect(later["payloads"] == nil)
    let table = try await parts.run("history", chain)
    #expect(table.output.hasPrefix("TRANSACTION") && table.output.contains(chain))
    #expect(table.errors.contains("--environment sandbox --revision "))
    #expect(
      try await parts.run("history", chain, "--output", "jsonl").lines(JSONTree.self).count == 1)

    let statuses = try await parts.json("statuses", chain, "--status", "active")
    let subscription = statuses["subscriptions"]?.elements.first
    #expect(subscription?["status"]?.text == "APP_STORE_STATUS_ACTIVE")
    #expect(subscription?["renewalInfo"]?["payload"]?["autoRenewStatus"]?.integer == 1)
    #expect(try await parts.json("refunds", chain)["payloads"] == nil)
    let app = try await parts.json("app-transaction", chain)
    #expect(
      app["payloads"]?.elements.first?["payload"]?["bundleId"]?.text == "com.example.scribe")
    let notifications = try await parts.json(
      "notifications", "--environment", "sandbox", "--since", "2026-02-20", "--until",
      "2026-03-02T00:00:00Z")
    let notification = notifications["notifications"]?.elements.first
    #expect(notification?["attempts"]?.elements.first?["result"]?.text == "SUCCESS")
    #expect(notification?["payloads"]?.elements.count == 2)

    // Nothing of this was stored.
    func customer(_ more: String...) async throws -> JSONTree {
      try await ProgramRun.of(
        .entitlectl,
        [
          "customer", "get", chain, "--by", "original-transaction", "--bundle-id",
          "com.example.scribe", "--environment", "sandbox", "--output", "json", "--server",
          "\(parts.server.address)",
        ] + more
      ).document(JSONTree.self)
    }
    #expect(try await customer()["coreState"]?.text == "CORE_STATE_NEW")
    let stored = try await parts.json("statuses", chain, "--store")
    let disposition = stored["subscriptions"]?.elements.first?["transaction"]?["stored"]
    #expect(disposition?["disposition"]?.text == "DISPOSITION_ADDED")
    #expect(try await customer()["coreState"]?.text == "CORE_STATE_ACTIVE")
    try await parts.stop()
  }

  @Test func `an unknown customer is fetched by a read that asks for it`() async throws {
    let parts = try await parts()
    func read(_ id: String, _ more: String...) async throws -> ProgramRun {
      try await ProgramRun.of(
        .entitlectl,
        [
          "customer", "get", id, "--by", "transaction", "--bundle-id", "com.example.scribe",
          "--environment", "sandbox", "--output", "json", "--server", "\(parts.server.address)",
        ] + more)
    }
    func state(_ run: ProgramRun) throws -> String? {
      try run.document(JSONTree.self)["coreState"]?.text
    }
    #expect(try state(try await read(parts.chain)) == "CORE_STATE_NEW")
    #expect(try state(try await read(parts.chain, "--fetch")) == "CORE_STATE_ACTIVE")
    #expect(try state(try await read(parts.chain)) == "CORE_STATE_ACTIVE")
    // What Apple does not know either is answered as without it.
    let unknown = try await read("987654321", "--fetch")
    #expect(unknown.exit == .code(0))
    #expect(try state(unknown) == "CORE_STATE_NEW")

    let other = try await parts.simulator.json("buy", "pro.monthly", "--customer", "bert")
    let id = try #require(other["transactions"]?.elements.first?["transactionId"]?.text)
    #expect(
      try await parts.simulator.run("fault", "api", "error", "--code", "5000000").exit == .code(0))
    let failed = try await read(id, "--fetch")
    #expect(failed.exit == .code(1))
    #expect(failed.errors.contains("5000000 GeneralInternal"))
    #expect(failed.output.isEmpty)
    #expect(try await parts.simulator.run("fault", "clear").exit == .code(0))
    #expect(try state(try await read(id, "--fetch")) == "CORE_STATE_ACTIVE")
    let usage = try await Bench.control(
      parts.server, "customer", "get", "a", "--fetch", "--bundle-id", "com.example.scribe")
    #expect(usage.exit == .code(64))
    try await parts.stop()
  }

  @Test func `changes ask, can be tried, and are audited`() async throws {
    let parts = try await parts()
    let chain = parts.chain
    let sandbox = ["--environment", "sandbox"]
    func run(_ arguments: String...) async throws -> ProgramRun {
      try await ProgramRun.of(
        .entitlectl,
        ["app-store"] + arguments + sandbox
          + ["--app", "com.example.scribe", "--server", "\(parts.server.address)"])
    }
    // Without a terminal there is nobody to ask.
    for arguments in [
      ["extend", chain, "--days", "10"], ["extend-mass", product, "--days", "10"],
      ["set-account-token", chain, "7e3fb20b-4cdb-47cc-936d-99d65f608138"], ["finish", chain],
    ] {
      let refused = try await ProgramRun.of(
        .entitlectl,
        ["app-store"] + arguments + sandbox
          + ["--app", "com.example.scribe", "--server", "\(parts.server.address)"])
      #expect(refused.exit == .code(64), "\(arguments)")
      let tried = try await ProgramRun.of(
        .entitlectl,
        ["app-store"] + arguments + sandbox + [
          "--dry-run", "--app", "com.example.scribe", "--server", "\(parts.server.address)",
          "--output", "json",
        ])
      #expect(tried.exit == .code(0), "\(arguments): \(tried.errors)")
      #expect(try tried.document(JSONTree.self)["dryRun"] == .boolean(true), "\(arguments)")
    }
    let tried = try await run("extend", chain, "--days", "10", "--dry-run")
    #expect(tried.output.contains("none: a dry run") && tried.output.contains("ACTIVE"))
    let audited = try await Bench.control(parts.server, "audit", "list", "--output", "jsonl")
    #expect(audited.output.isEmpty)

    let extended = try await run(
      "extend", chain, "--days", "10", "--extend-reason", "service-issue", "--request-id",
      "outage-7", "--yes", "--reason", "an outage", "--on-behalf-of", "ada", "--output", "json")
    #expect(extended.exit == .code(0), "\(extended.errors)")
    #expect(try extended.document(JSONTree.self)["requestIdentifier"]?.text == "outage-7")
    #expect(try extended.document(JSONTree.self)["renewalDateMs"]?.text != nil)
    let entries = try await Bench.control(parts.server, "audit", "list", "--output", "jsonl")
      .lines(JSONTree.self)
    #expect(entries.map { $0["method"]?.text } == ["ExtendRenewal", "ExtendRenewal"])
    #expect(Set(entries.map { $0["outcome"]?.text }) == ["requested", "changed"])
    #expect(entries.allSatisfy { $0["subject"]?.text == "outage-7" })

    #expect(
      try await run("set-account-token", chain, "7e3fb20b-4cdb-47cc-936d-99d65f608138", "--yes")
        .exit == .code(0))
    #expect(try await run("finish", chain, "--yes").exit == .code(0))
    let mass = try await run(
      "extend-mass", product, "--days", "5", "--request-id", "all-7", "--yes")
    #expect(mass.exit == .code(0), "\(mass.errors)")
    let pending = try await run(
      "extend-mass", product, "--status", "--request-id", "all-7")
    #expect(pending.exit == .code(0) && pending.output.contains("complete        no"))
    let played = try await parts.simulator.json("clock", "advance", "2h")
    #expect(played["isComplete"] == .boolean(true))
    let complete = try await run(
      "extend-mass", product, "--status", "--request-id", "all-7", "--wait", "--output",
      "json")
    #expect(complete.exit == .code(0), "\(complete.errors)")
    #expect(try complete.document(JSONTree.self)["complete"] == .boolean(true))
    #expect(try complete.document(JSONTree.self)["succeeded"]?.text == "1")

    let requested = try await run("test-notification", "--output", "json")
    let token = try #require(try requested.document(JSONTree.self)["testNotificationToken"]?.text)
    _ = try await parts.simulator.json("clock", "advance", "1m")
    let arrived = try await run("test-notification", "--token", token, "--wait", "--output", "json")
    #expect(arrived.exit == .code(0), "\(arrived.errors)")
    let notification = try arrived.document(JSONTree.self)["notifications"]?.elements.first
    #expect(notification?["notification"]?["payload"]?["notificationType"]?.text == "TEST")
    try await parts.stop()
  }

  @Test func `Apple's errors have exit codes, and their codes are told`() async throws {
    let parts = try await parts()
    let chain = parts.chain
    let unknown = try await parts.run("transaction", "987654321")
    #expect(unknown.exit == .code(2) && unknown.output.isEmpty)
    #expect(unknown.errors.contains("4040010 TransactionIdNotFound"))
    let order = try await parts.run("order", "MX0000000")
    #expect(order.exit == .code(2), "\(order.errors)")
    #expect(order.errors.contains("it looks up no orders of Sandbox"), "\(order.errors)")
    let cases: [([String], Int32, String)] = [
      (["error", "--code", "4000006"], 2, "4000006 InvalidTransactionId"),
      (["error", "--code", "4030005"], 2, "4030005 SubscriptionMaxExtension"),
      // Others that Apple calls retryable are repeated.
      (["error", "--code", "5000000"], 1, "5000000 GeneralInternal"),
      (["unauthorized"], 2, "the key, its ids, the bundle id or the clock is wrong"),
      (["cut"], 1, "the App Store: "),
    ]
    for (fault, code, text) in cases {
      let set = try await ProgramRun.of(
        .storesim, ["fault", "api"] + fault + ["--server", parts.simulator.url])
      try #require(set.exit == .code(0), "\(set.errors)")
      // More time than all attempts take: close to its deadline, the command may end before the server
      // has told the reason.
      let run = try await parts.run(
        "transaction", chain, "--environment", "sandbox", "--timeout", "60")
      #expect(run.exit == .code(code), "\(fault): \(run.errors)")
      #expect(run.errors.contains(text), "\(fault): \(run.errors)")
      #expect(!run.errors.contains(chain), "\(fault)")
      #expect(run.output.isEmpty)
      #expect(try await parts.simulator.run("fault", "clear").exit == .code(0))
    }
    // A change whose outcome is not known.
    let cut = try await ProgramRun.of(
      .storesim,
      [
        "fault", "api", "cut", "--path", "/inApps/v1/subscriptions/extend", "--server",
        parts.simulator.url,
      ])
    try #require(cut.exit == .code(0), "\(cut.errors)")
    let extended = try await parts.run(
      "extend", chain, "--days", "10", "--yes", "--environment", "sandbox")
    #expect(extended.exit == .code(1))
    #expect(extended.errors.contains("the change may have been made"))
    let entries = try await Bench.control(parts.server, "audit", "list", "--output", "jsonl")
      .lines(JSONTree.self)
    #expect(Set(entries.map { $0["outcome"]?.text }) == ["requested", "unknown"])
    // What will be refused is seen before.
    #expect(try await parts.simulator.run("fault", "clear").exit == .code(0))
    _ = try await parts.simulator.json("cancel", "anna")
    _ = try await parts.simulator.json("clock", "advance", "40d")
    let tried = try await parts.run(
      "extend", chain, "--days", "10", "--dry-run", "--environment", "sandbox")
    #expect(tried.exit == .code(2))
    #expect(tried.output.contains("refused for     EXPIRED"))
    try await parts.stop()
  }

  @Test func `a server without a key says so`() async throws {
    let bench = try Bench()
    let server = try await bench.startServer()
    let noKey = "this server has no key of the App Store Server API for com.example.scribe"
    for arguments in [
      ["transaction", "1"], ["history", "1"], ["statuses", "1"], ["refunds", "1"], ["order", "1"],
      ["app-transaction", "1"], ["notifications", "--since", "1d"], ["test-notification"],
      ["extend", "1", "--days", "1", "--dry-run"],
      ["extend-mass", "p", "--status", "--request-id", "r"],
      ["set-account-token", "1", "7e3fb20b-4cdb-47cc-936d-99d65f608138", "--yes"],
      ["finish", "1", "--yes"],
    ] {
      let run = try await ProgramRun.of(
        .entitlectl,
        ["app-store"] + arguments
          + ["--app", "com.example.scribe", "--server", "\(server.address)"])
      #expect(run.exit == .code(2), "\(arguments): \(run.errors)")
      #expect(run.errors.contains(noKey), "\(arguments): \(run.errors)")
      #expect(run.output.isEmpty)
    }
    let fetched = try await Bench.control(
      server, "customer", "get", "1", "--by", "transaction", "--fetch", "--bundle-id",
      "com.example.scribe")
    #expect(fetched.exit == .code(2))
    #expect(fetched.errors.contains(noKey))
    #expect(try await server.stop() == .code(0))
  }
}
