import AccessControl
import Cryptography
import Foundation
import TestSupport
import Testing

@Suite("entitlectl watch", .timeLimit(.minutes(5)))
struct WatchCommandTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  /// A watch during a test. It is killed when this object is released.
  private final class Watch: Sendable {
    let child: ChildProcess

    init(_ server: String, _ arguments: [String]) throws {
      child = try ChildProcess(.entitlectl, ["watch", "--server", server] + arguments)
    }

    deinit {
      child.signal(SIGKILL)
    }

    /// Waits for this many lines.
    func lines(_ count: Int) async throws -> [JSONTree] {
      let lines = try await child.journal.first("line \(count)") { contents in
        let lines = contents.outputText.split(separator: "\n", omittingEmptySubsequences: false)
          .dropLast()
        return lines.count >= count ? lines.map(String.init) : nil
      }
      return try lines.map { try JSONTree(parsing: $0.utf8) }
    }

    func said(_ text: String) async throws {
      _ = try await child.journal.first("\"\(text)\" on stderr") {
        $0.errorText.contains(text) ? true : nil
      }
    }

    /// Interrupts it, and returns its last message.
    func stop(_ signal: Int32 = SIGINT) async throws -> (ProgramExit, String) {
      child.signal(signal)
      let exit = try await child.exit()
      return (exit, child.journal.contents.errorLines.last ?? "")
    }
  }

  private func give(
    _ server: RunningServer, _ account: String, bundle: String = "com.example.scribe"
  ) async throws {
    let run = try await Bench.control(
      server, "grant", "add", account, "pro", "--bundle-id", bundle,
      "--reason", "a test", "--on-behalf-of", "ada")
    try #require(run.exit == .code(0))
  }

  private func accounts(_ lines: [JSONTree]) -> [String?] {
    lines.map { $0["change"]?["accountId"]?.text }
  }

  @Test func `it prints what is there and what comes, and stops with the cursor`() async throws {
    let server = try await bench.startServer()
    try await give(server, "a")
    let watch = try Watch("\(server.address)", ["--from-start"])
    _ = try await watch.lines(1)
    try await give(server, "b")
    let lines = try await watch.lines(2)
    #expect(accounts(lines) == ["a", "b"])
    let first = try #require(lines.first)
    #expect(first["change"]?["kinds"] == .array([.text("CHANGE_KIND_GRANTS")]))
    #expect(first["change"]?["state"]?["accountId"]?.text == "a")
    #expect(first["change"]?["state"]?["coreState"]?.text == "CORE_STATE_ACTIVE")
    let cursor = try #require(lines[1]["cursor"]?.text)
    let (exit, last) = try await watch.stop()
    #expect(exit == .code(0))
    #expect(last == "entitlectl: stopped; the last cursor is \(cursor)")

    let rest = try Watch(
      "\(server.address)",
      ["--from", try #require(first["cursor"]?.text), "--without-states"])
    let after = try await rest.lines(1)
    #expect(accounts(after) == ["b"])
    #expect(after[0]["change"]?["state"] == nil)
    #expect(try await rest.stop(SIGTERM).0 == .code(0))
  }

  @Test func `it tells only what is asked for`() async throws {
    let server = try await bench.startServer()
    let at = "\(server.address)"
    for account in ["a", "b", "c"] { try await give(server, account) }
    let app = ["--bundle-id", "com.example.scribe", "--environment", "production"]
    let watches: [([String], [String?])] = [
      (["--account", "b"] + app, ["b"]), (["--account", "a", "--account", "c"] + app, ["a", "c"]),
      (["--kind", "facts", "--kind", "grants"], ["a", "b", "c"]),
      (["--bundle-id", "com.example.scribe"], ["a", "b", "c"]),
    ]
    for (arguments, expected) in watches {
      let watch = try Watch(at, ["--from-start"] + arguments)
      #expect(accounts(try await watch.lines(expected.count)) == expected, "\(arguments)")
    }
    // Changes of other accounts also move the cursor.
    let file = bench.folder.file("cursor")
    for arguments in [
      ["--kind", "facts"], ["--environment", "sandbox"], ["--bundle-id", "com.example.other"],
    ] {
      try? FileManager.default.removeItem(atPath: file)
      let watch = try Watch(at, ["--from-start", "--cursor-file", file] + arguments)
      while !FileManager.default.fileExists(atPath: file) { await Task.yield() }
      let (exit, _) = try await watch.stop()
      #expect(exit == .code(0))
      #expect(watch.child.journal.contents.outputText == "", "\(arguments)")
    }
  }

  @Test func `a lost server is found again, and nothing is missed or told twice`() async throws {
    let socket = "unix:\(bench.folder.file("e.sock"))"
    let file = bench.folder.file("cursor")
    let first = try await bench.startServer("--listen", socket, listeners: 2)
    try await give(first, "a")
    let watch = try Watch(socket, ["--from-start", "--cursor-file", file])
    _ = try await watch.lines(1)
    #expect(try await first.stop() == .code(0))
    try await watch.said("trying again in ")
    let second = try await bench.startServer("--listen", socket, listeners: 2)
    for account in ["b", "c"] { try await give(second, account) }
    let lines = try await watch.lines(3)
    #expect(accounts(lines) == ["a", "b", "c"])
    let cursor = try #require(lines[2]["cursor"]?.text)
    let (exit, last) = try await watch.stop()
    #expect(exit == .code(0))
    #expect(last == "entitlectl: stopped; the last cursor is \(cursor)")

    // The cursor of the file has precedence over --from-start.
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "\(cursor)\n")
    try await give(second, "d")
    let later = try Watch(socket, ["--from-start", "--cursor-file", file])
    #expect(accounts(try await later.lines(1)) == ["d"])
    #expect(try await later.stop().0 == .code(0))
  }

  @Test func `a server that is not there at first is exit code 3`() async throws {
    let run = try await ProgramRun.of(
      .entitlectl, ["watch", "--server", "unix:\(bench.folder.file("none.sock"))"])
    #expect(run.exit == .code(3))
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("entitlectl: unreachable: "))
  }

  @Test func `a cursor that is none is not watched from`() async throws {
    let server = try await bench.startServer()
    let run = try await ProgramRun.of(
      .entitlectl, ["watch", "--server", "\(server.address)", "--from", "nonsense"])
    #expect(run.exit == .code(1))
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("entitlectl: INVALID_ARGUMENT: "))
  }

  @Test func `whoever reads it may have seen enough`() async throws {
    let server = try await bench.startServer()
    for account in ["a", "b"] { try await give(server, account) }
    let run = try await ProgramRun.of(
      .entitlectl, ["watch", "--server", "\(server.address)", "--from-start"],
      through: "\"$@\" | head --lines 1")
    #expect(run.output.split(separator: "\n").count == 1)
    #expect(!run.errors.contains("cannot be written"))
  }

  /// Writes a file like a program that renews it: a new one takes the place of the former.
  private func replace(_ name: String, _ text: String) throws -> String {
    let new = try bench.folder.write(text, to: "new")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: new)
    guard rename(new, bench.folder.file(name)) == 0 else { throw HarnessFailure("rename") }
    return bench.folder.file(name)
  }

  /// A file of credentials in which one caller has these tokens.
  private func credentials(_ tokens: AccessToken...) throws -> String {
    let items = try tokens.map {
      "{id: \($0.id), sha256: \"\(try $0.digest.hexadecimal)\", expires: never}"
    }
    return try replace(
      "credentials.yaml",
      """
      version: 1
      callers: [{name: a, roles: [admin], tokens: [\(items.joined(separator: ", "))]}]
      """)
  }

  @Test func `it goes on with the token that has been renewed in its file`() async throws {
    let (first, second) = (AccessToken(), AccessToken())
    let server = try await bench.startServer("--credentials", try credentials(first))
    let file = try replace("token", first.text)
    func give(_ account: String) async throws {
      let run = try await Bench.control(
        server, "grant", "add", account, "pro", "--token-file", file, "--reason", "a test",
        "--on-behalf-of", "ada")
      try #require(run.exit == .code(0), "\(run.errors)")
    }
    try await give("a")
    let watch = try Watch("\(server.address)", ["--from-start", "--token-file", file])
    _ = try await watch.lines(1)
    // Both tokens are valid, then only the new one: the watch is ended by the server.
    _ = try credentials(first, second)
    server.signal(SIGHUP)
    try await server.logged("other credentials are in force")
    _ = try replace("token", second.text)
    _ = try credentials(second)
    server.signal(SIGHUP)
    try await server.logged("other credentials are in force", times: 2)
    try await give("b")
    #expect(accounts(try await watch.lines(2)) == ["a", "b"])
    // A token that is refused without another one ends it.
    _ = try credentials(AccessToken())
    server.signal(SIGHUP)
    let exit = try await watch.child.exit()
    #expect(exit == .code(4))
    #expect(try await server.stop() == .code(0))
  }
}
