import Programs
import StoreSimulator
import TestSupport
import Testing

@Suite("entitlectl submit, notification submit and health", .timeLimit(.minutes(5)))
struct SubmitCommandTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private func column(_ name: String, _ run: ProgramRun) throws -> [String?] {
    try run.lines(JSONTree.self).map { $0[name]?.text }
  }

  private func state(_ server: RunningServer, of account: String) async throws -> JSONTree {
    try await Bench.control(
      server, "customer", "get", account, "--bundle-id", "com.example.scribe", "--output", "json"
    ).document()
  }

  @Test func `what is accepted is there at once, and known the second time`() async throws {
    let server = try await bench.startServer()
    let facts = try bench.signed(.firstPurchase).flatMap(\.facts)
    let path = try bench.folder.write(facts.joined(separator: "\n"), to: "facts.jws")
    let arguments = ["--account", "account-1", "--output", "jsonl"]
    let first = try await Bench.control(
      server, "submit", path, arguments[0], arguments[1], arguments[2], arguments[3])
    #expect(first.exit == .code(0))
    #expect(try column("verdict", first) == facts.map { _ in "VERDICT_OK" })
    #expect(try column("disposition", first) == facts.map { _ in "DISPOSITION_ADDED" })
    #expect(try column("link", first).first == "LINK_OUTCOME_LINKED")
    #expect(try column("file", first) == facts.indices.map { "\(path)#\($0 + 1)" })
    let known = try await state(server, of: "account-1")
    #expect(known["coreState"]?.text == "CORE_STATE_ACTIVE")

    let second = try await Bench.control(
      server, "submit", "-", arguments[0], arguments[1], arguments[2], arguments[3],
      input: facts.joined(separator: "\n"))
    #expect(second.exit == .code(0))
    #expect(try column("disposition", second) == facts.map { _ in "DISPOSITION_DUPLICATE" })
    #expect(try column("link", second) == facts.map { _ in "LINK_OUTCOME_UNCHANGED" })
    #expect(try column("file", second) == facts.indices.map { "stdin#\($0 + 1)" })
    #expect(try await state(server, of: "account-1")["revision"] == known["revision"])
  }

  @Test func `a JSON array of JWS is submitted whole`() async throws {
    let server = try await bench.startServer()
    let facts = try bench.signed(.firstPurchase).flatMap(\.facts)
    let list = "[" + facts.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    let run = try await Bench.control(server, "submit", "-", "--output", "jsonl", input: list)
    #expect(run.exit == .code(0))
    #expect(try column("verdict", run) == facts.map { _ in "VERDICT_OK" })
  }

  @Test func `one that is refused keeps no other out`() async throws {
    let server = try await bench.startServer()
    let good = try #require(try bench.signed(.nonConsumable).first?.transactions.first)
    let other = try #require(try bench.signed(.nonRenewing).first?.transactions.first)
    let forged = try CompactJWS(other).forged(replacing: "PURCHASED", with: "ASSIGNED!")
    let run = try await Bench.control(
      server, "submit", "-", "--account", "account-1", "--output", "jsonl",
      input: "\(forged)\n\(good)\nnonsense")
    #expect(run.exit == .code(2))
    #expect(
      try column("verdict", run) == [
        "VERDICT_INVALID_SIGNATURE", "VERDICT_OK", "VERDICT_MALFORMED",
      ])
    #expect(try column("disposition", run) == [nil, "DISPOSITION_ADDED", nil])
    #expect(try column("link", run) == [nil, "LINK_OUTCOME_LINKED", nil])
    #expect(try column("detail", run).map { $0 == nil } == [false, true, false])
    let state = try await state(server, of: "account-1")
    #expect(
      state["products"]?.elements.map { $0["productId"]?.text } == ["com.example.scribe.adfree"])
  }

  @Test func `a payload of another app than the one named is refused`() async throws {
    let server = try await bench.startServer()
    let facts = try bench.signed(.nonConsumable).flatMap(\.transactions)
    let run = try await Bench.control(
      server, "submit", "-", "--bundle-id", "com.example.other", "--output", "jsonl",
      input: facts.joined(separator: "\n"))
    #expect(run.exit == .code(2))
    #expect(try column("verdict", run) == facts.map { _ in "VERDICT_WRONG_APP" })
  }

  @Test func `more than one request holds goes in several, with progress on stderr`()
    async throws
  {
    let server = try await bench.startServer()
    let fact = try #require(try bench.signed(.nonConsumable).first?.transactions.first)
    let input = String(repeating: fact + "\n", count: 501)
    let run = try await Bench.control(server, "submit", "-", "--output", "jsonl", input: input)
    #expect(run.exit == .code(0))
    #expect(
      run.errors == """
        submitted 500 of 501
        submitted 501 of 501
        501 submitted: 501 OK (500 DUPLICATE, 1 ADDED)

        """)
    #expect(try column("file", run) == (1...501).map { "stdin#\($0)" })
    #expect(try column("disposition", run).count { $0 == "DISPOSITION_ADDED" } == 1)
    #expect(try column("disposition", run).count { $0 == "DISPOSITION_DUPLICATE" } == 500)
  }

  @Test func `a table of many payloads has the refused ones, and the total counts all`()
    async throws
  {
    let server = try await bench.startServer()
    let fact = try #require(try bench.signed(.nonConsumable).first?.transactions.first)
    let input = String(repeating: fact + "\n", count: 101)
    let run = try await Bench.control(server, "submit", "-", input: input + "not.a.jws\n")
    #expect(run.exit == .code(2))
    let rows = run.output.split(separator: "\n")
    #expect(rows.count == 2 && rows[1].hasPrefix("stdin#102 "), "\(run.output)")
    #expect(
      run.errors == "102 submitted: 101 OK (100 DUPLICATE, 1 ADDED), 1 MALFORMED\n")
    let few = try await Bench.control(server, "submit", "-", input: fact)
    #expect(few.output.split(separator: "\n").count == 2)
    #expect(few.errors == "1 submitted: 1 OK (1 DUPLICATE)\n")
  }

  @Test func `what was answered before a call failed is printed`() async throws {
    let server = try await bench.startServer()
    let event = try #require(try bench.signed(.firstPurchase).first)
    // More than a frame holds.
    let huge = String(repeating: "a", count: 5 << 20)
    let rows = [
      (["submit"], try #require(event.transactions.first)),
      (["notification", "submit"], try #require(event.notification)),
    ]
    for (command, good) in rows {
      let input = try bench.folder.write("\(good)\n\(huge)", to: "input")
      let run = try await ProgramRun.of(
        .entitlectl, command + [input, "--output", "jsonl", "--server", "\(server.address)"])
      #expect(run.exit == .code(1))
      #expect(try column("verdict", run) == ["VERDICT_OK"])
      let errors = run.errors.split(separator: "\n")
      #expect(errors.last?.hasPrefix("entitlectl: ") == true)
      #expect(errors.contains { $0.hasPrefix("1 of 2 submitted: 1 OK (1 ") }, "\(run.errors)")
    }
  }

  @Test func `an archive of a webhook is submitted as it is`() async throws {
    let server = try await bench.startServer()
    let notifications = try bench.signed(.renewals).compactMap(\.notification).prefix(3)
    #expect(notifications.count == 3)
    let lines = notifications.map { #"{"signedPayload":"\#($0)"}"# }
    let archive = "\u{FEFF}\(lines[0])\r\n\r\n\(lines[1])\r\n\"\(notifications[2])\"\r\n"
    let run = try await Bench.control(
      server, "notification", "submit", "-", "--output", "jsonl", input: archive)
    #expect(run.exit == .code(0))
    #expect(try column("verdict", run) == Array(repeating: "VERDICT_OK", count: 3))
    #expect(try column("file", run) == ["stdin#1", "stdin#2", "stdin#3"])

    let broken = try await Bench.control(
      server, "notification", "submit", "-", input: archive + #"{"signedPayload":"eySECRET"#)
    #expect(broken.exit == .code(1))
    #expect(broken.output == "")
    #expect(
      broken.errors
        == "entitlectl: stdin#4: line 5: no signed payload in it: it begins like JSON, but is not "
        + "valid\n")
  }

  @Test func `the table says what became of each`() async throws {
    let server = try await bench.startServer()
    let event = try #require(try bench.signed(.firstPurchase).first)
    let fact = try #require(event.transactions.first)
    let facts = try await Bench.control(server, "submit", "-", input: fact)
    let rows = facts.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(rows.count == 2)
    #expect(rows[0] == ["FILE", "KIND", "VERDICT", "DISPOSITION", "LINK", "CHAIN", "REASON"])
    #expect(rows[1].prefix(5) == ["stdin", "TRANSACTION", "OK", "ADDED", "UNLINKED"])

    let notification = try #require(event.notification)
    let told = try await Bench.control(server, "notification", "submit", "-", input: notification)
    let table = told.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(table[0] == ["FILE", "TYPE", "SUBTYPE", "VERDICT", "KNOWN", "EVENTS", "REASON"])
    #expect(table[1] == ["stdin", "SUBSCRIBED", "INITIAL_BUY", "OK", "no", "-", "-"])
  }

  @Test func `a claim moves what was bought, and both hear of it`() async throws {
    let server = try await bench.startServer()
    let fact = try #require(try bench.signed(.nonConsumable).first?.transactions.first)
    for (account, link) in [
      ("account-1", "LINK_OUTCOME_LINKED"), ("account-2", "LINK_OUTCOME_TRANSFERRED"),
      ("account-2", "LINK_OUTCOME_UNCHANGED"),
    ] {
      let run = try await Bench.control(
        server, "submit", "-", "--account", account, "--output", "jsonl", input: fact)
      #expect(run.exit == .code(0))
      #expect(try column("link", run) == [link])
    }
    #expect(try await state(server, of: "account-1")["products"] == nil)
    #expect(try await state(server, of: "account-2")["coreState"]?.text == "CORE_STATE_ACTIVE")
  }

  @Test func `a claim that the policy refuses is told, and nothing about the owner`() async throws {
    let catalog = SimulatedApp.catalogYAML.replacing(
      "environments: [Production, Sandbox]\n",
      with: "environments: [Production, Sandbox]\n    link_policy: keep\n")
    _ = try bench.folder.write(catalog, to: "catalog.yaml")
    let server = try await bench.startServer()
    let fact = try #require(try bench.signed(.nonConsumable).first?.transactions.first)
    for (account, link) in [
      ("the-owner", "LINK_OUTCOME_LINKED"), ("a-claimer", "LINK_OUTCOME_ALREADY_LINKED"),
    ] {
      let run = try await Bench.control(
        server, "submit", "-", "--account", account, "--output", "jsonl", input: fact)
      #expect(run.exit == .code(0))
      #expect(try column("link", run) == [link])
      #expect(!run.output.contains("the-owner"))
    }
    #expect(try await state(server, of: "a-claimer")["coreState"]?.text == "CORE_STATE_NEW")
    #expect(try await state(server, of: "the-owner")["coreState"]?.text == "CORE_STATE_ACTIVE")
  }

  @Test func `what a notification asks for is told once, with its deadline`() async throws {
    let server = try await bench.startServer()
    let events = try bench.signed(.refundDeclined)
    let notifications = events.compactMap(\.notification).joined(separator: "\n")
    let first = try await Bench.control(
      server, "notification", "submit", "-", "--output", "jsonl", input: notifications)
    #expect(first.exit == .code(0))
    let documents = try first.lines(JSONTree.self)
    let request = try #require(
      documents.first { $0["notificationType"]?.text == "CONSUMPTION_REQUEST" })
    let event = try #require(request["events"]?.elements.first)
    #expect(event["kind"]?.text == "FEED_EVENT_KIND_CONSUMPTION_REQUESTED")
    #expect(event["notificationUuid"] == request["notificationUuid"])
    #expect(event["deadlineMs"]?.integer != nil)
    let second = try await Bench.control(
      server, "notification", "submit", "-", "--output", "jsonl", input: notifications)
    #expect(try second.lines(JSONTree.self).allSatisfy { $0["events"] == nil })
  }

  @Test func `the table names the events of a notification`() async throws {
    let server = try await bench.startServer()
    let notifications = try bench.signed(.refundDeclined).compactMap(\.notification)
    let run = try await Bench.control(
      server, "notification", "submit", "-", input: notifications.joined(separator: "\n"))
    let row = run.output.split(separator: "\n").first { $0.contains("  CONSUMPTION_REQUEST  ") }
    #expect(row?.contains("  CONSUMPTION_REQUESTED until 20") == true)
  }

  @Test func `a notification is taken in once, with what is inside it`() async throws {
    let server = try await bench.startServer()
    let notification = try #require(try bench.signed(.firstPurchase).first?.notification)
    let input = #"{"signedPayload":"\#(notification)"}"#
    for isDuplicate in [false, true] {
      let run = try await Bench.control(
        server, "notification", "submit", "-", "--account", "account-1", "--output", "json",
        input: input)
      #expect(run.exit == .code(0))
      let document = try #require(try run.document(JSONTree.self).elements.first)
      #expect(document["verdict"]?.text == "VERDICT_OK")
      #expect(document["notificationType"]?.text == "SUBSCRIBED")
      #expect(document["duplicate"] == (isDuplicate ? .boolean(true) : nil))
      #expect(
        document["results"]?.elements.map { $0["kind"]?.text }
          == ["PAYLOAD_KIND_TRANSACTION", "PAYLOAD_KIND_RENEWAL_INFO"])
      #expect(
        document["results"]?.elements.map { $0["disposition"]?.text }
          == (isDuplicate
            ? ["DISPOSITION_DUPLICATE", "DISPOSITION_DUPLICATE"]
            : ["DISPOSITION_ADDED", "DISPOSITION_ADDED"]))
    }
    #expect(try await state(server, of: "account-1")["coreState"]?.text == "CORE_STATE_ACTIVE")
  }

  @Test func `a notification and a fact are not taken for each other`() async throws {
    let server = try await bench.startServer()
    let event = try #require(try bench.signed(.firstPurchase).first)
    let fact = try #require(event.transactions.first)
    let notification = try #require(event.notification)
    let wrongNotification = try await Bench.control(
      server, "notification", "submit", "-", "--output", "jsonl", input: fact)
    #expect(wrongNotification.exit == .code(2))
    #expect(try column("verdict", wrongNotification) == ["VERDICT_MALFORMED"])
    let wrongFact = try await Bench.control(
      server, "submit", "-", "--output", "jsonl", input: notification)
    #expect(wrongFact.exit == .code(2))
    #expect(try column("verdict", wrongFact) == ["VERDICT_MALFORMED"])
  }

  @Test func `health says whether the server serves, its version, and what is unsafe`()
    async throws
  {
    let server = try await bench.startServer()
    let whole = try await Bench.control(server, "health")
    #expect(whole.exit == .code(0))
    let warning =
      "trust_roots: \(bench.authority.rootFingerprint) is trusted for Production beside Apple's "
      + "roots: its key can sign purchases that nobody paid for"
    #expect(whole.output.hasPrefix(Bench.serving))
    #expect(whole.output.contains(warning))
    let service = try await Bench.control(
      server, "health", "--service", "entitle.v1.SubmissionService", "--output", "jsonl")
    let document = try service.document(JSONTree.self)
    #expect(document["status"]?.text == "SERVING")
    #expect(document["version"]?.text == ProgramVersion.current)
    #expect(document["server"]?["warnings"] == .array([.text(warning)]))
    #expect(service.output.count { $0 == "\n" } == 1)
    let unknown = try await Bench.control(server, "health", "--service", "com.example.None")
    #expect(unknown.exit == .code(2))
    #expect(unknown.output == "")
    #expect(unknown.errors.hasPrefix("entitlectl: NOT_FOUND: "))
  }

  @Test func `the environment names the server, and an option goes before it`() async throws {
    let server = try await bench.startServer()
    let environment = ["ENTITLECTL_SERVER": "\(server.address)"]
    let named = try await ProgramRun.of(.entitlectl, ["health"], environment: environment)
    #expect(named.output.hasPrefix(Bench.serving))
    let nowhere = "unix:\(bench.folder.file("none.sock"))"
    let other = try await ProgramRun.of(
      .entitlectl, ["health", "--server", nowhere], environment: environment)
    #expect(other.exit == .code(3))
  }

  @Test func `a server on a Unix socket answers too`() async throws {
    let path = bench.folder.file("e.sock")
    let server = try await bench.startServer("--listen", "unix:\(path)", listeners: 2)
    let run = try await ProgramRun.of(.entitlectl, ["health", "--server", "unix:\(path)"])
    #expect(run.output.hasPrefix(Bench.serving))
    #expect(try await server.stop() == .code(0))
    let gone = try await ProgramRun.of(.entitlectl, ["health", "--server", "unix:\(path)"])
    #expect(gone.exit == .code(3))
  }
}
