import AccessControl
import Cryptography
import Foundation
import TestSupport
import Testing

@Suite("entitlectl token, credentials and whoami", .timeLimit(.minutes(5)))
struct CredentialsCommandTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private func control(_ arguments: String...) async throws -> ProgramRun {
    try await ProgramRun.of(.entitlectl, arguments)
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  private func write(_ callers: String) throws -> String {
    let path = try bench.folder.write(
      "version: 1\ncallers:\n\(callers)\n", to: "credentials.yaml")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    return path
  }

  @Test func `a new token goes to stdout alone, its lines to stderr`() async throws {
    let run = try await control(
      "token", "create", "--name", "billing", "--role", "reader", "--role", "submitter",
      "--permission", "offers", "--app", "com.example.scribe=Production,sandbox", "--expires",
      "2100-01-31")
    #expect(run.exit == .code(0))
    let token = run.output.dropLast()
    #expect(run.output.hasSuffix("\n") && token.hasPrefix("entl_") && !token.contains("\n"))
    let digest = try SHA256.digest(of: Array(token.utf8)).hexadecimal
    let id = token.dropFirst(5).prefix(8)
    #expect(
      run.errors == """
        # For the callers in the file of credentials:
          - name: 'billing'
            roles: [reader, submitter]
            permissions: [offers]
            apps:
              'com.example.scribe': [Production, Sandbox]
            tokens:
              - id: "\(id)"
                sha256: "\(digest)"
                expires: 2100-01-31T00:00:00Z

        """)
    let path = try write(run.errors)
    let check = try await control("credentials", "check", path)
    #expect(check.exit == .code(0))
    #expect(check.output == "\(path): valid; 1 caller, 1 token; 0 errors, 0 warnings\n")
  }

  @Test func `a token can be written to a private new file, and the rest be JSON`() async throws {
    let path = bench.folder.file("token")
    let run = try await control(
      "token", "create", "--name", "billing", "--role", "reader", "--out", path, "--output",
      "json")
    #expect(run.exit == .code(0))
    #expect(run.errors == "")
    let document = try run.document(JSONTree.self)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(try mode(path) == 0o600)
    #expect(
      document["sha256"]?.text
        == (try SHA256.digest(of: Array(text.dropLast().utf8)).hexadecimal))
    #expect(document["token"] == nil)
    // 90 days, unless an end is given.
    let expires = try #require(document["expiresMs"]?.integer)
    let days = (Double(expires) / 1_000 - Date().timeIntervalSince1970) / 86_400
    #expect((89...90.1).contains(days))
    let again = try await control(
      "token", "create", "--name", "billing", "--role", "reader", "--out", path)
    #expect(again.exit == .code(1))
    #expect(again.output == "")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    let endless = try await control(
      "token", "create", "--name", "billing", "--expires", "never", "--output", "jsonl")
    #expect(try endless.document(JSONTree.self)["expiresMs"] == nil)
    #expect(try endless.document(JSONTree.self)["token"]?.text?.hasPrefix("entl_") == true)
  }

  @Test(
    "64: tokens that the server would not accept",
    arguments: [
      [], ["--name", "local", "--role", "reader"], ["--name", "a b", "--role", "reader"],
      ["--name", "a", "--role", "king"], ["--name", "a", "--permission", "identity"],
      ["--name", "a", "--role", "reader", "--app", "a=moon"],
      ["--name", "a", "--app", "com.example.scribe"],
      ["--name", "a", "--role", "reader", "--expires", "2020-01-01"],
      ["--name", "a", "--role", "reader", "--expires", "90 days"],
    ])
  func usage(arguments: [String]) async throws {
    let run = try await ProgramRun.of(.entitlectl, ["token", "create"] + arguments)
    #expect(run.exit == .code(64))
    #expect(run.output == "")
  }

  @Test func `every fault of a file is reported, and no secret`() async throws {
    let secret = AccessToken().text
    let path = try write(
      """
        - name: a
          roles: [king]
          tokens: [{id: k3Jd8sQz, sha256: \(secret), expires: never}]
      """)
    let run = try await control("credentials", "check", path, bench.folder.file("absent"))
    #expect(run.exit == .code(1))
    #expect(run.output.contains("\(path):4:13: error: callers[0].roles[0]: "), "\(run.output)")
    #expect(run.output.contains("callers[0].tokens[0].sha256: this is a token itself"))
    #expect(run.output.hasSuffix("\(path): not valid; 2 errors, 0 warnings\n"), "\(run.output)")
    #expect(!run.output.contains(secret))
    #expect(run.errors.contains("absent: cannot be read"))
    let valid = try write("  - {name: a, roles: [reader], users: [0]}")
    try FileManager.default.setAttributes([.posixPermissions: 0o664], ofItemAtPath: valid)
    let writable = try await control("credentials", "check", valid, "--output", "json")
    #expect(writable.exit == .code(2))
    let document = try #require(try writable.document(JSONTree.self).elements.first)
    #expect(document["valid"] == .boolean(false))
    #expect(
      document["issues"]?.elements.first?["message"]?.text?.contains("may write") == true)
  }

  @Test func `the credentials of a server are shown and reloaded`() async throws {
    let token = bench.folder.file("token")
    func create(_ name: String, _ role: String, _ out: String) async throws -> String {
      let run = try await control(
        "token", "create", "--name", name, "--role", role, "--expires", "P10D", "--out", out)
      #expect(run.exit == .code(0), "\(run.errors)")
      return run.errors
    }
    let admin = try await create("the-admin", "admin", token)
    let path = try write(admin)
    let server = try await bench.startServer("--credentials", path)
    let at = ["--server", "\(server.address)", "--token-file", token]
    func run(_ arguments: String...) async throws -> ProgramRun {
      try await ProgramRun.of(.entitlectl, arguments + at)
    }
    let who = try await run("whoami")
    #expect(who.exit == .code(0), "\(who.errors)")
    #expect(who.output.contains("the-admin") && who.output.contains("TOKEN"))
    // Two connections, as the server is asked for the app: stdin is read once.
    let list = try await ProgramRun.of(
      .entitlectl, ["customer", "list", "--server", at[1], "--token-file", "-"],
      input: try String(contentsOfFile: token, encoding: .utf8))
    #expect(list.exit == .code(0), "\(list.errors)")
    let status = try await run("credentials", "status")
    #expect(status.exit == .code(0), "\(status.errors)")
    #expect(status.output.contains("of the-admin expires "), "\(status.output)")

    _ = try write(admin + (try await create("web", "reader", bench.folder.file("second"))))
    let reload = try await run("credentials", "reload", "--output", "json")
    #expect(reload.exit == .code(0), "\(reload.errors)")
    #expect(
      try reload.document(JSONTree.self)["callers"]?.elements.map { $0["name"]?.text }
        == ["the-admin", "web"])
    _ = try write(admin + "  - name: x")
    let broken = try await run("credentials", "reload", "--dry-run")
    #expect(broken.exit == .code(2))
    #expect(broken.output.contains("not valid"))
    #expect(broken.errors.contains("the old credentials stay in force"))
    let after = try await run("credentials", "status", "--output", "json")
    #expect(try after.document(JSONTree.self)["callers"]?.elements.count == 2)
    #expect(try await server.stop() == .code(0))
  }

  @Test func `a server without credentials says so`() async throws {
    let server = try await bench.startServer()
    let who = try await Bench.control(server, "whoami")
    #expect(who.exit == .code(0), "\(who.errors)")
    #expect(who.output.contains("local"))
    let status = try await Bench.control(server, "credentials", "status")
    #expect(status.output.contains("no credentials"))
    // The app of the catalog is the only one.
    let list = try await Bench.control(server, "customer", "list", "--output", "json")
    #expect(list.exit == .code(0), "\(list.errors)")
    #expect(try await server.stop() == .code(0))
  }
}
