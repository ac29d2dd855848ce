import Foundation
import StoreSimulator
import TestSupport
import Testing

@Suite("entitlectl verify and inspect", .timeLimit(.minutes(5)))
struct VerifyCommandTests {
  private let bench: Bench
  private let events: [SignedEvent]
  private let trust: [String]

  init() throws {
    bench = try Bench()
    events = try bench.signed(.renewals)
    trust = ["--trust-root", "production=\(bench.authority.rootFingerprint)"]
  }

  private var transaction: String {
    get throws { try #require(events.first?.transactions.first) }
  }

  private var renewalInfo: String {
    get throws { try #require(events.first?.renewalInfo) }
  }

  private var notification: String {
    get throws { try #require(events.first?.notification) }
  }

  /// Verifies text on stdin.
  private func verify(_ input: String, _ arguments: [String]) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl, ["verify", "-", "--output", "jsonl"] + arguments, input: input)
  }

  private func verdicts(_ run: ProgramRun) throws -> [String?] {
    try run.lines(JSONTree.self).map { document in
      let verdict = try #require(document["verdict"]?.text)
      try #require(verdict.hasPrefix("VERDICT_"))
      return String(verdict.dropFirst("VERDICT_".count))
    }
  }

  @Test func `another root is trusted by its fingerprint`() async throws {
    let run = try await verify(try transaction, trust)
    #expect(run.exit == .code(0))
    #expect(try verdicts(run) == ["OK"])
  }

  @Test func `a JSON array of JWS is read, and what belongs elsewhere is named`() async throws {
    let (first, second) = (try transaction, try notification)
    let list = try await verify("[\n  \"\(first)\",\n  \"\(second)\"\n]\n", trust)
    #expect(list.exit == .code(0))
    #expect(try verdicts(list) == ["OK", "OK"])
    #expect(try list.lines(JSONTree.self).map { $0["file"]?.text } == ["stdin#1", "stdin#2"])
    let unity = try await verify(#"{"Store":"AppleAppStore","Payload":"SECRET"}"#, trust)
    #expect(unity.exit == .code(2))
    #expect(try verdicts(unity) == ["MALFORMED"])
    let detail = try unity.lines(JSONTree.self).first?["detail"]?.text
    #expect(detail?.contains("Unity IAP") == true && detail?.contains("SECRET") == false)
  }

  @Test func `another root is trusted by its file`() async throws {
    let pem = try bench.folder.write(
      String(decoding: try bench.authority.rootPEM(), as: UTF8.self), to: "root.pem")
    let der = bench.folder.file("root.der")
    try Data(bench.authority.root.certificate).write(to: URL(filePath: der))
    for path in [pem, der] {
      let run = try await verify(try transaction, ["--trust-root", "production=\(path)"])
      #expect(run.exit == .code(0))
      #expect(try verdicts(run) == ["OK"])
    }
  }

  @Test func `R9: a root counts for the environment before it, a bare one for all but Production`()
    async throws
  {
    let fingerprint = "\(bench.authority.rootFingerprint)"
    let pem = try bench.folder.write(
      String(decoding: try bench.authority.rootPEM(), as: UTF8.self), to: "root.pem")
    let rows: [([String], String)] = [
      ([fingerprint], "WRONG_ENVIRONMENT"), (["sandbox=\(fingerprint)"], "WRONG_ENVIRONMENT"),
      (["xcode=\(pem)"], "WRONG_ENVIRONMENT"), ([pem], "WRONG_ENVIRONMENT"),
      (["production=\(pem)"], "OK"), ([fingerprint, "PRODUCTION=\(fingerprint)"], "OK"),
    ]
    for (roots, verdict) in rows {
      let run = try await verify(
        try transaction, roots.flatMap { ["--trust-root", $0] })
      #expect(try verdicts(run) == [verdict], "\(roots)")
      #expect(run.exit == .code(verdict == "OK" ? 0 : 2))
    }
  }

  @Test func `a root that is not named is not trusted`() async throws {
    let other = try SigningAuthority.generate()
    for arguments in [[], ["--trust-root", "production=\(other.rootFingerprint)"]] {
      let run = try await verify(try transaction, arguments)
      #expect(run.exit == .code(2))
      #expect(try verdicts(run) == ["UNTRUSTED_CHAIN"])
    }
  }

  @Test(
    "A root that cannot be read is an error",
    arguments: [
      "sha256:12", "/nonexistent/root.pem", "/dev/null", "xcode=sha256:12",
      "sandbox=/nonexistent/root.pem", "production=/dev/null", "prod=sha256:12",
    ])
  func unreadableRoot(root: String) async throws {
    let run = try await verify(try transaction, ["--trust-root", root])
    #expect(run.exit == .code(1))
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("entitlectl: --trust-root \(root): "))
  }

  @Test func `what is not for the app and environment asked for is refused`() async throws {
    let rows: [([String], String)] = [
      (["--bundle-id", "com.example.scribe"], "OK"),
      (["--bundle-id", "com.example.other"], "WRONG_APP"),
      (["--environment", "production"], "OK"),
      (["--environment", "Sandbox"], "WRONG_ENVIRONMENT"),
      (["--environment", "xcode"], "WRONG_ENVIRONMENT"),
      (["--environment", "local-testing"], "WRONG_ENVIRONMENT"),
    ]
    for (arguments, verdict) in rows {
      let run = try await verify(try transaction, trust + arguments)
      #expect(try verdicts(run) == [verdict], "\(arguments)")
      #expect(run.exit == .code(verdict == "OK" ? 0 : 2))
    }
    for (id, verdict) in [("1234567890", "OK"), ("1", "WRONG_APP")] {
      let app = ["--bundle-id", "com.example.scribe", "--app-apple-id", id]
      let run = try await verify(try notification, trust + app)
      #expect(try verdicts(run) == [verdict])
    }
  }

  @Test func `what was changed after signing is refused, with a reason`() async throws {
    let jws = try CompactJWS(try transaction)
    var resigned = jws
    let other = try SigningAuthority.generate()
    resigned.signature = try CompactJWS(other.sign(payloadJSON: [UInt8](jws.contents))).signature
    var unsigned = jws
    unsigned.signature = ""
    let rows = [
      (try jws.forged(replacing: "\"quantity\":1", with: "\"quantity\":9"), "INVALID_SIGNATURE"),
      (resigned.text, "INVALID_SIGNATURE"),
      (try other.sign(payloadJSON: [UInt8](jws.contents)), "UNTRUSTED_CHAIN"),
      (unsigned.text, "MALFORMED"),
      ("not.a-jws", "MALFORMED"),
      (try bench.authority.sign(payloadJSON: Array("not JSON".utf8)), "MALFORMED"),
      (try bench.authority.sign(payloadJSON: Array("{}".utf8)), "MALFORMED"),
    ]
    let run = try await verify(rows.map(\.0).joined(separator: "\n"), trust)
    #expect(run.exit == .code(2))
    #expect(try verdicts(run) == rows.map(\.1))
    let documents = try run.lines(JSONTree.self)
    #expect(documents.allSatisfy { $0["detail"]?.text?.isEmpty == false })
    // The readable part is still shown.
    #expect(documents[0]["payload"]?["quantity"]?.integer == 9)
    #expect(documents[4]["payload"] == nil)
  }

  @Test func `JSON as the App Store Server API returns it is understood`() async throws {
    let (first, info, notice) = (try transaction, try renewalInfo, try notification)
    let inputs: [(String, [String])] = [
      (
        #"{"revision":"1","hasMore":false,"signedTransactions":["\#(first)","\#(first)"]}"#,
        ["PAYLOAD_KIND_TRANSACTION", "PAYLOAD_KIND_TRANSACTION"]
      ),
      (
        #"""
        {"environment":"Production","bundleId":"com.example.scribe","data":[
          {"subscriptionGroupIdentifier":"21000001","lastTransactions":[
            {"status":1,"originalTransactionId":"1","signedRenewalInfo":"\#(info)",
             "signedTransactionInfo":"\#(first)"}]}]}
        """#, ["PAYLOAD_KIND_TRANSACTION", "PAYLOAD_KIND_RENEWAL_INFO"]
      ),
      (#"{"signedPayload":"\#(notice)"}"#, ["PAYLOAD_KIND_NOTIFICATION"]),
      (
        #"[{"signedTransactionInfo":"\#(first)"},{"signedPayload":"\#(notice)"}]"#,
        ["PAYLOAD_KIND_TRANSACTION", "PAYLOAD_KIND_NOTIFICATION"]
      ),
    ]
    for (input, kinds) in inputs {
      let run = try await verify(input, trust)
      #expect(run.exit == .code(0))
      let documents = try run.lines(JSONTree.self)
      #expect(documents.map { $0["kind"]?.text } == kinds)
      let names = kinds.count == 1 ? ["stdin"] : kinds.indices.map { "stdin#\($0 + 1)" }
      #expect(documents.map { $0["file"]?.text } == names)
    }
  }

  @Test func `lines may end in any way, and blank ones do not count`() async throws {
    let run = try await verify("\n  \(try transaction)\r\n\r\n\t\(try renewalInfo)  ", trust)
    #expect(run.exit == .code(0))
    #expect(
      try run.lines(JSONTree.self).map { $0["kind"]?.text } == [
        "PAYLOAD_KIND_TRANSACTION", "PAYLOAD_KIND_RENEWAL_INFO",
      ])
  }

  @Test(
    "Without a signed payload there is an error",
    arguments: ["", "\n \n", "{}", "[]", #"{"signedTransactions":[]}"#, "{\"signed"])
  func nothing(input: String) async throws {
    for (verb, reason) in [("verify", "detail"), ("inspect", "error")] {
      let run = try await ProgramRun.of(
        .entitlectl, [verb, "-", "--output", "jsonl"], input: input)
      #expect(run.exit == .code(2))
      #expect(run.errors == "")
      let document = try #require(try run.lines(JSONTree.self).first)
      #expect(document["file"]?.text == "stdin")
      #expect(document["verdict"]?.text == (verb == "verify" ? "VERDICT_MALFORMED" : nil))
      #expect(document[reason]?.text?.contains("no signed payload in it") == true)
    }
    // Nothing is sent: a server is not needed.
    let run = try await ProgramRun.of(
      .entitlectl, ["submit", "-", "--server", "unix:/nonexistent/e.sock"], input: input)
    #expect(run.exit == .code(1))
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("entitlectl: stdin: no signed payload in it"))
  }

  @Test func `one file hides nothing of what is found about the others`() async throws {
    let good = try bench.folder.write(try transaction, to: "good.jws")
    let empty = try bench.folder.write("{}", to: "empty.json")
    let missing = bench.folder.file("missing.jws")
    for (verb, trust) in [("verify", trust), ("inspect", [])] {
      let run = try await ProgramRun.of(
        .entitlectl, [verb, missing, good, empty, good, "--output", "jsonl"] + trust)
      #expect(run.exit == .code(1))
      #expect(run.errors == "entitlectl: \(missing): cannot be read\n")
      let documents = try run.lines(JSONTree.self)
      #expect(documents.map { $0["file"]?.text } == [good, empty, good])
      #expect(
        documents.map { $0["kind"]?.text } == [
          "PAYLOAD_KIND_TRANSACTION", nil, "PAYLOAD_KIND_TRANSACTION",
        ])
      let refused = try await ProgramRun.of(
        .entitlectl, [verb, good, empty, "--output", "jsonl"] + trust)
      #expect(refused.exit == .code(2))
    }
  }

  @Test func `a renewal info is held to the app of its chain, where that is here`() async throws {
    let other = try bench.authority.sign(
      payloadJSON: [UInt8](
        try CompactJWS(try transaction).contents
      ).replacing(
        Array("com.example.scribe\"".utf8), with: Array("com.example.other\"".utf8)))
    let app = ["--bundle-id", "com.example.scribe"]
    let rows: [(name: String, input: [String], app: [String], verdict: String, isTold: Bool)] = [
      ("with its transaction", [try renewalInfo, try transaction], app, "OK", false),
      ("with its notification", [try renewalInfo, try notification], app, "OK", false),
      ("alone", [try renewalInfo], app, "OK", true),
      ("alone, for any app", [try renewalInfo], [], "OK", false),
      ("of another app", [try renewalInfo, other], app, "WRONG_APP", true),
      ("of another app, for any", [try renewalInfo, other], [], "OK", false),
    ]
    for row in rows {
      let run = try await verify(row.input.joined(separator: "\n"), trust + row.app)
      let document = try #require(try run.lines(JSONTree.self).first)
      #expect(document["kind"]?.text == "PAYLOAD_KIND_RENEWAL_INFO")
      #expect(document["verdict"]?.text == "VERDICT_\(row.verdict)", "\(row.name)")
      #expect((document["detail"] != nil) == row.isTold, "\(row.name)")
      #expect(run.exit == .code(row.verdict == "OK" ? 0 : 2), "\(row.name)")
    }
  }

  @Test func `output that cannot be written is a failure, not a crash`() async throws {
    let input = String(repeating: "\(try transaction)\n", count: 50)
    for output in ["table", "json", "jsonl"] {
      let arguments = ["inspect", "-", "--output", output]
      let full = try await ProgramRun.of(
        .entitlectl, arguments, input: input, through: "exec \"$@\" >/dev/full")
      #expect(full.exit == .code(1))
      #expect(full.errors == "entitlectl: stdout cannot be written: No space left on device\n")
      // More than the pipe buffer, so that it is written to after its reader has exited.
      let gone = try await ProgramRun.of(
        .entitlectl, arguments, input: input,
        through: "{ \"$@\"; echo \"code $?\" >&2; } | head -n 1")
      #expect(gone.errors == "code 1\n")
      #expect(gone.output.count { $0 == "\n" } == 1)
    }
  }

  @Test func `a file that cannot be read is named`() async throws {
    for verb in ["verify", "inspect"] {
      for path in [bench.folder.file("none.jws"), bench.folder.path] {
        let run = try await ProgramRun.of(.entitlectl, [verb, path])
        #expect(run.exit == .code(1))
        #expect(run.output == "")
        #expect(run.errors == "entitlectl: \(path): cannot be read\n")
      }
    }
  }

  @Test func `the three forms of output say the same`() async throws {
    let input = "\(try transaction)\n\(try renewalInfo)"
    for verb in ["verify", "inspect"] {
      func run(_ output: String) async throws -> ProgramRun {
        try await ProgramRun.of(
          .entitlectl, [verb, "-", "--output", output] + (verb == "verify" ? trust : []),
          input: input)
      }
      let lines = try await run("jsonl").lines(JSONTree.self)
      #expect(lines.count == 2)
      #expect(try await run("json").document(JSONTree.self).elements == lines)
      let table = try await run("table").output
      #expect(table.contains("stdin#1  TRANSACTION  "))
      #expect(table.contains("stdin#2  RENEWAL_INFO  "))
    }
  }

  @Test func `inspect trusts nobody, and says what cannot be read`() async throws {
    let run = try await ProgramRun.of(
      .entitlectl, ["inspect", "-", "--output", "jsonl"], input: "\(try transaction)\nnonsense")
    #expect(run.exit == .code(2))
    let documents = try run.lines(JSONTree.self)
    #expect(documents[0]["error"] == nil)
    #expect(documents[0]["payload"]?["bundleId"]?.text == "com.example.scribe")
    #expect(documents[0]["certificates"]?.elements.count == 3)
    #expect(documents[1]["error"]?.text?.isEmpty == false)
    #expect(documents[1]["payload"] == nil)
  }
}
