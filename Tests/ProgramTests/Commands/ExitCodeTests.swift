import StoreSimulator
import TestSupport
import Testing

@Suite("Exit codes of entitlectl and storesim", .timeLimit(.minutes(5)))
struct ExitCodeTests {
  private static let app = ["--bundle-id", "com.example.scribe"]
  private static let why = ["--reason", "a test", "--on-behalf-of", "ada"]
  private static let target = ["--original-transaction", "1"]
  private static let gift = ["grant", "add", "x", "pro"]

  @Test(
    "64: invalid arguments",
    arguments: [
      ["nonsense"], ["verify"], ["verify", "x", "--output", "yaml"], ["health", "--nonsense"],
      ["customer", "get"] + app, ["customer", "get", "x", "--by", "y"],
      ["customer", "get", "x", "--at", "soon"] + app, ["customer", "list", "--limit", "0"] + app,
      ["customer", "list", "--environment", "moon"] + app, ["submit"], ["notification", "submit"],
      ["customer", "explain", "x", "--at", "soon"] + app,
      ["grant"] + why, ["grant", "add"] + app + why,
      ["grant", "add", "x"] + app + why,
      gift + app, gift + app + why + ["--id", "x"], gift + app + why + ["--for", "1M"],
      gift + app + why + ["--for", "PT0S"],
      gift + app + why + ["--expires", "2026-01-01T00:00:00Z", "--for", "P1M"],
      gift + app + why + ["--starts", "2", "--expires", "2"],
      ["grant", "withdraw"] + app + why, ["grant", "withdraw", "x"] + app,
      ["grant", "withdraw", "x"] + app + why, ["grant", "list"] + app,
      ["grant", "list", "--account", "x"] + app, ["catalog", "status", "x"],
      ["catalog", "reload", "--dry"], ["change", "list", "--after", "-1"],
      ["change", "list", "--limit", "0"], ["change", "list", "--all", "--limit", "1"],
      ["statistics", "x"], ["link"] + why, ["link", "list"] + app,
      ["link", "list", "--account", "a"] + app, ["link", "history"] + app,
      ["link", "history", "a", "--app-transaction", "1"] + app,
      ["link", "resolve"] + app, ["link", "resolve", "a", "--by", "name"] + app,
      ["link", "add", "a"] + app + why,
      ["link", "add", "a"] + target + app,
      ["link", "add", "a", "--app-transaction", "1"] + target + app + why,
      ["link", "add"] + target + app + why, ["link", "remove", "--yes"] + app + why,
      ["link", "remove", "--yes"] + target + app,
      ["link", "transfer", "--yes"] + target + app + why,
      ["link", "transfer", "--yes", "--to", "b", "--from", ""] + target + app + why,
      ["link", "merge", "--yes", "a"] + app + why,
      ["link", "merge", "--yes", "a", "a"] + app + why,
      ["customer", "history"] + app, ["customer", "export", "a", "--output", "json"] + app,
      ["customer", "delete", "a", "--yes"] + app, ["chain", "list"] + app,
      ["chain", "list", "--unlinked", "--limit", "0"] + app,
      ["watch", "--from", "1", "--from-start"], ["watch", "--from", ""],
      ["watch", "--account", "", "--environment", "production"] + app,
      ["watch", "--kind", "wish"], ["watch", "--environment", "moon"],
      ["watch", "--cursor-file", ""], ["database", "x"], ["link", "tokens", ""] + app,
      ["link", "bind-token", "t", "--yes"] + app + why,
      ["link", "bind-token", "t", "a", "--forget", "--yes"] + app + why,
      ["health", "--context", "absent"], ["context", "set"],
      ["context", "set", "a b"],
      ["context", "set", "a", "--server", "nowhere"],
      ["context", "set", "a", "--server", "example.com:7100", "--token-file", "t"],
      ["context", "set", "a", "--token-file", "-"], ["context", "use"], ["context", "remove"],
      ["health", "--server", "nowhere"], ["health", "--server", "unix:"],
      ["health", "--server", "127.0.0.1:99999"], ["health", "--timeout", "0"],
      ["health", "--timeout", "-1"], ["app-store", "transaction"] + app,
      ["app-store", "history", "1", "--limit", "0"] + app,
      ["app-store", "history", "1", "--limit", "1", "--all"] + app,
      ["app-store", "history", "1", "--type", "wish"] + app,
      ["app-store", "statuses", "1", "--status", "wish"] + app,
      ["app-store", "notifications"] + app,
      ["app-store", "notifications", "--since", "1d", "--subtype", "x"] + app,
      ["app-store", "extend", "1", "--yes"] + app,
      ["app-store", "extend", "1", "--days", "91", "--yes"] + app,
      ["app-store", "extend-mass", "p", "--status"] + app,
      ["app-store", "extend-mass", "p", "--days", "1", "--storefront", "us", "--yes"] + app,
      ["app-store", "set-account-token", "1", "x", "--yes"] + app,
      ["app-store", "test-notification", "--token", ""] + app,
    ])
  func usage(arguments: [String]) async throws {
    let run = try await ProgramRun.of(.entitlectl, arguments)
    #expect(run.exit == .code(64))
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("Error: "))
  }

  @Test(
    "3: the server cannot be reached",
    arguments: [
      ["health"], ["customer", "get", "x"] + app, ["customer", "list"] + app, ["submit", "-"],
      ["notification", "submit", "-"], ["customer", "explain", "x"] + app, gift + app + why,
      ["grant", "withdraw", "x", "--yes"] + app + why, ["grant", "list", "x"] + app,
      ["catalog", "status"], ["catalog", "reload"], ["change", "list"], ["statistics"],
      ["link", "list", "a"] + app, ["link", "history", "a"] + app,
      ["link", "resolve", "a"] + app, ["link", "add", "a"] + target + app + why,
      ["link", "remove", "--yes"] + target + app + why,
      ["link", "transfer", "--to", "b", "--yes"] + target + app + why,
      ["link", "merge", "a", "b", "--yes"] + app + why,
      ["customer", "history", "a"] + app, ["customer", "export", "a"] + app,
      ["customer", "delete", "a", "--yes"] + app + why, ["chain", "list", "--unlinked"] + app,
      ["watch"], ["app-store", "transaction", "1"] + app,
      ["app-store", "extend", "1", "--days", "1", "--yes"] + app,
    ])
  func unreachable(arguments: [String]) async throws {
    let folder = try TemporaryFolder()
    let server = "unix:\(folder.file("none.sock"))"
    let run = try await ProgramRun.of(
      .entitlectl, arguments + ["--server", server], input: "a.b.c")
    #expect(run.exit == .code(3))
    #expect(run.output == "")
    // A change of a renewal date tells its identifier before it is asked for.
    let last = run.errors.split(separator: "\n").last ?? ""
    #expect(last.hasPrefix("entitlectl: unreachable: "), "\(run.errors)")
  }

  @Test func `3: the server has gone away`() async throws {
    let bench = try Bench()
    let server = try await bench.startServer()
    server.signal(9)
    #expect(try await server.exit() == .signal(9))
    #expect(try await Bench.control(server, "health").exit == .code(3))
    let submission = try await ProgramRun.of(
      .storesim,
      ["submit", "--authority", bench.authorityPath, "--server", "\(server.address)"])
    #expect(submission.exit == .code(3))
    #expect(submission.output == "")
  }

  @Test func `2: a server that does not trust the simulator's root refuses everything`()
    async throws
  {
    let bench = try Bench()
    let other = try Bench()
    let server = try await bench.startServer()
    let run = try await ProgramRun.of(
      .storesim,
      [
        "submit", "--authority", other.authorityPath, "--server", "\(server.address)",
        "--customers", "2",
      ])
    #expect(run.exit == .code(2))
    #expect(run.errors.contains("refused, untrustedChain"))
  }

  @Test(
    "64: storesim, too",
    arguments: [
      ["nonsense"], ["authority"], ["sign"], ["submit"],
      ["sign", "--authority", "x", "--life-cycle", "none"],
      ["receipt", "--life-cycle", "grace"],
      ["receipt", "--authority", "x", "--life-cycle", "none"],
      ["receipt", "--authority", "x", "--life-cycle", "grace", "--digest", "md5"],
      ["receipt", "--authority", "x", "--life-cycle", "grace", "--device-identifier", "xyz"],
      ["receipt", "--archive", "--life-cycle", "grace", "--environment", "LocalTesting"],
      ["receipt", "--archive", "--life-cycle", "grace", "--environment", "Xcode"],
      ["sign", "--authority", "x", "--life-cycle", "grace", "--xcode"],
      ["sign", "--authority", "x", "--life-cycle", "grace", "--xcode", "--environment", "sandbox"],
      ["receipt", "--authority", "x", "--life-cycle", "grace", "--xcode"],
      [
        "receipt", "--authority", "x", "--life-cycle", "grace", "--xcode", "--environment",
        "Xcode", "--digest", "sha1",
      ],
      ["submit", "--authority", "x", "--server", "nowhere"],
      ["submit", "--authority", "x", "--server", "[::1]:1", "--customers", "-1"],
      ["submit", "--authority", "x", "--server", "[::1]:1", "--concurrency", "0"],
      ["submit", "--authority", "x", "--server", "[::1]:1", "--at", "1970-01-01T00:00:00Z"],
    ])
  func simulatorUsage(arguments: [String]) async throws {
    let run = try await ProgramRun.of(.storesim, arguments)
    #expect(run.exit == .code(64))
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("Error: "))
  }

  @Test(
    "0: help goes to stdout", arguments: [["--help"], ["customer", "get", "--help"], ["help"]])
  func help(arguments: [String]) async throws {
    let run = try await ProgramRun.of(.entitlectl, arguments)
    #expect(run.exit == .code(0))
    #expect(run.output.contains("USAGE: entitlectl"))
    #expect(run.errors == "")
  }
}
