import EntitlementDomain
import Foundation
import StoreSimulator
import TestSupport
import Testing

@Suite("entitlectl and legacy receipts", .timeLimit(.minutes(5)))
struct ReceiptCommandTests {
  private let bench: Bench
  private let trust: [String]

  init() throws {
    bench = try Bench()
    let receipts = try ReceiptAuthority.loadOrCreate(inDirectory: bench.authorityPath)
    trust = ["--trust-root", "production=\(receipts.rootFingerprint)"]
  }

  /// A receipt, or an archived response, of a life cycle at the date with the state of its name.
  private func made(_ lifeCycle: LifeCycle, _ more: String...) async throws -> ProgramRun {
    let run = try await ProgramRun.of(
      .storesim,
      [
        "receipt", "--life-cycle", lifeCycle.rawValue, "--authority", bench.authorityPath,
        "--environment", "production",
      ] + more)
    try #require(run.exit == .code(0), "\(run.errors)")
    return run
  }

  private func receipt(_ lifeCycle: LifeCycle) async throws -> String {
    try bench.folder.write(try await made(lifeCycle).output, to: "\(lifeCycle.rawValue).base64")
  }

  private func control(
    _ server: RunningServer, _ arguments: [String]
  ) async throws -> (run: ProgramRun, document: JSONTree) {
    let run = try await ProgramRun.of(
      .entitlectl, arguments + ["--output", "jsonl", "--server", "\(server.address)"])
    return (run, try #require(try run.lines(JSONTree.self).first, "\(run.errors)"))
  }

  private func state(_ server: RunningServer, of account: String) async throws -> JSONTree {
    try await Bench.control(
      server, "customer", "get", account, "--bundle-id", "com.example.scribe", "--output", "json"
    ).document()
  }

  @Test func `a receipt is verified, in base64 and in DER, and shown`() async throws {
    let text = try await receipt(.nonConsumable)
    let der = bench.folder.file("receipt.der")
    _ = try await made(.nonConsumable, "--output", der)
    for path in [text, der] {
      let run = try await ProgramRun.of(
        .entitlectl, ["verify", path, "--output", "jsonl"] + trust)
      #expect(run.exit == .code(0))
      let document = try #require(try run.lines(JSONTree.self).first)
      #expect(document["kind"]?.text == "PAYLOAD_KIND_RECEIPT")
      #expect(document["verdict"]?.text == "VERDICT_OK")
      #expect(document["payload"] == nil)
      #expect(document["receipt"]?["bundleId"]?.text == "com.example.scribe")
      #expect(document["receipt"]?["environment"]?.text == "STORE_ENVIRONMENT_PRODUCTION")
      #expect(
        document["receipt"]?["inApp"]?.elements.map { $0["productId"]?.text }
          == ["com.example.scribe.adfree"])
    }
    let table = try await ProgramRun.of(.entitlectl, ["verify", text] + trust)
    #expect(table.output.hasPrefix("\(text)  RECEIPT  OK\n"))
    #expect(table.output.contains("com.example.scribe.adfree"))
  }

  @Test func `verify refuses a receipt of another root, app, environment or device`() async throws {
    let path = try await receipt(.nonConsumable)
    let rows: [([String], String)] = [
      ([], "VERDICT_UNTRUSTED_CHAIN"),
      (trust + ["--bundle-id", "com.example.other"], "VERDICT_WRONG_APP"),
      (trust + ["--environment", "sandbox"], "VERDICT_WRONG_ENVIRONMENT"),
      (trust + ["--device-identifier", "00:11:22:33:44:55"], "VERDICT_WRONG_DEVICE"),
    ]
    for (arguments, verdict) in rows {
      let run = try await ProgramRun.of(
        .entitlectl, ["verify", path, "--output", "jsonl"] + arguments)
      #expect(run.exit == .code(2))
      let document = try #require(try run.lines(JSONTree.self).first)
      #expect(document["verdict"]?.text == verdict)
      #expect(document["detail"]?.text?.isEmpty == false)
      #expect(document["receipt"] != nil)
    }
  }

  @Test func `the device of a receipt is checked where it is named`() async throws {
    let device = "6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b"
    let path = bench.folder.file("device.der")
    _ = try await made(.nonConsumable, "--device-identifier", device, "--output", path)
    for spelling in [device, device.uppercased(), device.replacing("-", with: "")] {
      let run = try await ProgramRun.of(
        .entitlectl, ["verify", path, "--device-identifier", spelling] + trust)
      #expect(run.exit == .code(0), "\(run.output)")
    }
    let wrong = try await ProgramRun.of(
      .entitlectl, ["verify", path, "--device-identifier", "not hexadecimal"] + trust)
    #expect(wrong.exit == .code(64))
  }

  @Test func `inspect shows a receipt without trusting it, and an archived response`()
    async throws
  {
    let path = try await receipt(.renewals)
    let run = try await ProgramRun.of(.entitlectl, ["inspect", path, "--output", "jsonl"])
    #expect(run.exit == .code(0))
    let document = try #require(try run.lines(JSONTree.self).first)
    #expect(document["kind"]?.text == "PAYLOAD_KIND_RECEIPT")
    #expect(document["verdict"] == nil)
    #expect(document["digestAlgorithm"]?.text == "SHA-256")
    #expect(document["certificates"]?.elements.count == 3)
    #expect(document["receipt"]?["inApp"]?.elements.isEmpty == false)

    let archive = bench.folder.file("archive.json")
    _ = try await made(.renewals, "--archive", "--output", archive)
    let shown = try await ProgramRun.of(.entitlectl, ["inspect", archive, "--output", "jsonl"])
    let response = try #require(try shown.lines(JSONTree.self).first)
    #expect(response["kind"]?.text == "PAYLOAD_KIND_ARCHIVED_RESPONSE")
    #expect(response["certificates"] == nil)
    let refused = try await ProgramRun.of(
      .entitlectl, ["verify", archive, "--output", "jsonl"] + trust)
    #expect(refused.exit == .code(2))
    let verdict = try #require(try refused.lines(JSONTree.self).first)
    #expect(verdict["detail"]?.text?.contains("is not signed") == true)
  }

  @Test func `a receipt is submitted, known the second time, and told as such`() async throws {
    let server = try await bench.startServer(trust[0], trust[1])
    let path = try await receipt(.nonConsumable)
    let arguments = ["receipt", "submit", path, "--account", "account-1"]
    for disposition in ["DISPOSITION_ADDED", "DISPOSITION_DUPLICATE"] {
      let (run, document) = try await control(server, arguments)
      #expect(run.exit == .code(0))
      #expect(document["verdict"]?.text == "VERDICT_OK")
      #expect(document["receipt"]?["receiptType"]?.text == "Production")
      #expect(document["receipt"]?["inAppCount"]?.integer == 1)
      let results = try #require(document["results"]?.elements)
      #expect(
        results.map { $0["kind"]?.text } == [
          "PAYLOAD_KIND_APP_TRANSACTION", "PAYLOAD_KIND_TRANSACTION",
        ])
      #expect(results.map { $0["disposition"]?.text } == [disposition, disposition])
    }
    let source = try await state(server, of: "account-1")["entitlements"]?.elements.first?[
      "sources"]?.elements.first
    #expect(source?["evidence"]?.text == "EVIDENCE_RECEIPT")
    let table = try await Bench.control(
      server, "customer", "get", "account-1", "--bundle-id", "com.example.scribe")
    #expect(table.output.contains("(receipt)"))
  }

  @Test func `an import may be submitted as bulk`() async throws {
    let server = try await bench.startServer(trust[0], trust[1])
    let path = try await receipt(.nonConsumable)
    let (run, _) = try await control(server, ["receipt", "submit", path, "--priority", "bulk"])
    #expect(run.exit == .code(0))
    let signed = try bench.signed(.firstPurchase)
    let facts = try bench.folder.write(
      signed.flatMap(\.facts).joined(separator: "\n"), to: "facts")
    let notice = try bench.folder.write(try #require(signed.first?.notification), to: "notice")
    for arguments in [["submit", facts], ["notification", "submit", notice]] {
      let (run, _) = try await control(server, arguments + ["--priority", "bulk"])
      #expect(run.exit == .code(0))
    }
  }

  @Test func `what is no receipt is not sent`() async throws {
    let transaction = try #require(try bench.signed(.nonConsumable).first?.transactions.first)
    for (text, words) in [
      (transaction, "(entitlectl submit)"), ("{}", "neither DER nor base64"), ("", "empty"),
    ] {
      let path = try bench.folder.write(text, to: "input")
      let run = try await ProgramRun.of(
        .entitlectl, ["receipt", "submit", path, "--server", "unix:/nonexistent/e.sock"])
      #expect(run.exit == .code(1))
      #expect(run.output == "")
      #expect(run.errors.hasPrefix("entitlectl: \(path): "))
      #expect(run.errors.contains(words))
    }
    let path = try await receipt(.nonConsumable)
    for command in [["submit"], ["receipt", "import", "--bundle-id", "com.example.scribe"]] {
      let run = try await ProgramRun.of(
        .entitlectl, command + [path, "--server", "unix:/nonexistent/e.sock"])
      #expect(run.exit == .code(1))
      #expect(run.errors.contains("(entitlectl receipt submit)"))
    }
  }

  @Test func `an archived response is imported where the catalog says so, and marked`()
    async throws
  {
    let archive = bench.folder.file("archive.json")
    _ = try await made(.nonConsumable, "--archive", "--output", archive)
    let arguments = [
      "receipt", "import", archive, "--bundle-id", "com.example.scribe", "--account", "account-1",
    ]
    let strict = try await bench.startServer()
    let refused = try await ProgramRun.of(
      .entitlectl, arguments + ["--server", "\(strict.address)"])
    #expect(refused.exit == .code(1))
    #expect((refused.output + refused.errors).contains("archived responses"))
    #expect(try await strict.stop() == .code(0))

    let catalog = SimulatedApp.catalogYAML.replacing(
      "environments: [Production, Sandbox]\n",
      with: "environments: [Production, Sandbox]\n    archived_responses: accept\n")
    _ = try bench.folder.write(catalog, to: "catalog.yaml")
    let server = try await bench.startServer()
    let (run, document) = try await control(server, arguments)
    #expect(run.exit == .code(0))
    #expect(document["verdict"]?.text == "VERDICT_OK")
    let source = try await state(server, of: "account-1")["entitlements"]?.elements.first?[
      "sources"]?.elements.first
    #expect(source?["evidence"]?.text == "EVIDENCE_UNSIGNED_ARCHIVE")
    let table = try await Bench.control(
      server, "customer", "get", "account-1", "--bundle-id", "com.example.scribe")
    #expect(table.output.contains("(UNSIGNED)"))

    // In the style of iOS 6, with the environment and the date beside it.
    let old = try bench.folder.write(
      """
      {"status":0,"receipt":{"bid":"com.example.scribe","product_id":"com.example.scribe.adfree",\
      "transaction_id":"7","purchase_date_ms":"1447821281000"}}
      """, to: "old.json")
    let place = ["receipt", "import", old, "--app", "com.example.scribe", "--account", "account-2"]
    let (unnamed, told) = try await control(server, place)
    #expect(unnamed.exit == .code(2))
    #expect(told["verdict"]?.text == "VERDICT_WRONG_ENVIRONMENT")
    let (named, accepted) = try await control(
      server, place + ["--environment", "production", "--as-of", "2016-01-01"])
    #expect(named.exit == .code(0))
    #expect(accepted["receipt"]?["creationMs"]?.integer == 1_451_606_400_000)

    // A signed transaction of the same purchase replaces it.
    let signed = try #require(try bench.signed(.nonConsumable).first?.transactions.first)
    _ = try await Bench.control(server, "submit", "-", input: signed)
    let proven = try await state(server, of: "account-1")["entitlements"]?.elements.first?[
      "sources"]?.elements
    #expect(proven?.map { $0["evidence"]?.text } == ["EVIDENCE_SIGNED_TRANSACTION"])
  }

  @Test func `the table says what became of each receipt`() async throws {
    let server = try await bench.startServer(trust[0], trust[1])
    let good = try await receipt(.nonConsumable)
    let foreign = bench.folder.file("foreign.der")
    let other = try ReceiptAuthority.generate()
    let receipt = Timeline(.nonConsumable, seed: 1, start: 1_704_067_200_000)
      .receipt(at: 1_704_153_600_000)
    try Data(try other.sign(receipt)).write(to: URL(filePath: foreign))
    let run = try await Bench.control(server, "receipt", "submit", good, foreign)
    #expect(run.exit == .code(2))
    let rows = run.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(
      rows[0] == ["FILE", "VERDICT", "TYPE", "CREATED", "PURCHASES", "NEW", "REASON"])
    #expect(rows[1].prefix(3) == [good, "OK", "Production"])
    #expect(rows[2].prefix(2) == [foreign, "UNTRUSTED_CHAIN"])
    #expect(run.errors == "2 submitted: 1 OK (2 ADDED), 1 UNTRUSTED_CHAIN\n")
  }
}
