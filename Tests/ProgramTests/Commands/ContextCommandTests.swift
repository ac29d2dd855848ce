import AccessControl
import Cryptography
import EntitlementDomain
import Foundation
import Framing
import TLSSupport
import TestSupport
import Testing

@Suite("entitlectl context", .timeLimit(.minutes(5)))
struct ContextCommandTests {
  private let bench: Bench
  private let token = AccessToken()

  init() throws {
    bench = try Bench()
  }

  private func control(
    _ arguments: String..., environment: [String: String] = [:]
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl, arguments,
      environment: ["XDG_CONFIG_HOME": bench.folder.file("settings")].merging(environment) { $1 })
  }

  private func tokenFile(mode: Int = 0o600) throws -> String {
    let path = try bench.folder.write("\(token.text)\n", to: "token")
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return path
  }

  /// A server with TLS, a plain listener, and one caller with one app.
  private func startServer() async throws -> (server: RunningServer, authority: String) {
    let authority = try TLSAuthority("authority", in: bench.folder)
    let pair = try authority.issue("server", dns: ["localhost"])
    let credentials = try bench.folder.write(
      """
      version: 1
      callers:
        - name: otto
          roles: [operator]
          apps: {\(Bench.scope.bundleID): [Production]}
          tokens:
            - {id: \(token.id), sha256: "\(try token.digest.hexadecimal)", expires: never}
      """, to: "credentials.yaml")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: credentials)
    let server = try await bench.startServer(
      "--listen", "tls:127.0.0.1:0", "--tls-certificate", pair.certificate, "--tls-key", pair.key,
      "--credentials", credentials, listeners: 2)
    return (server, authority.file)
  }

  @Test func `a context makes calls with TLS and a token, of its one app`() async throws {
    let (server, authority) = try await startServer()
    let address = "\(server.addresses[1])"
    let set = try await control(
      "context", "set", "prod", "--server", address, "--tls-ca", authority, "--token-file",
      try tokenFile())
    #expect(set.exit == .code(0), "\(set.errors)")
    #expect(set.output == "")
    let who = try await control("whoami", "--output", "json")
    #expect(who.exit == .code(0), "\(who.errors)")
    #expect(try who.document(JSONTree.self)["name"]?.text == "otto")
    #expect(try who.document(JSONTree.self)["tokenId"]?.text == token.id)
    // The app is the only one that the caller may use.
    let customer = try await control("customer", "get", "customer-001", "--output", "json")
    #expect(customer.exit == .code(0), "\(customer.errors)")
    #expect(
      try customer.document(JSONTree.self)["bundleId"]?.text == Bench.scope.bundleID.rawValue)
    #expect(
      try customer.document(JSONTree.self)["environment"]?.text == "STORE_ENVIRONMENT_PRODUCTION")

    // Another address of the same server: the context's token is not sent there.
    let other = try await control("whoami", "--server", "\(server.address)")
    #expect(other.exit == .code(4))
    #expect(other.output == "")
    #expect(other.errors.contains("--token-file"))
    let byVariable = try await control(
      "whoami", environment: ["ENTITLECTL_SERVER": "\(server.address)"])
    #expect(byVariable.exit == .code(4))
    // An option names a context for this call, whatever the environment names for others.
    let named = try await control(
      "whoami", "--context", "prod", environment: ["ENTITLECTL_SERVER": "\(server.address)"])
    #expect(named.exit == .code(0), "\(named.errors)")
    let own = try await control(
      "whoami", "--server", "\(server.address)", environment: ["ENTITLECTL_TOKEN": token.text])
    #expect(own.exit == .code(0), "\(own.errors)")
    // A token that the server does not know, in place of the context's.
    let refused = try await control(
      "whoami", environment: ["ENTITLECTL_TOKEN": AccessToken().text])
    #expect(refused.exit == .code(4))
    #expect(refused.errors.contains("UNAUTHENTICATED"))
    let denied = try await control("credentials", "status")
    #expect(denied.exit == .code(4))
    #expect(denied.errors.contains("PERMISSION_DENIED"))
    #expect(try await server.stop() == .code(0))
  }

  @Test func `contexts are listed, used and removed`() async throws {
    let near = bench.folder.file("near.sock")
    _ = try await control("context", "set", "near", "--server", "unix:\(near)")
    let far = try await control(
      "context", "set", "far", "--server", "example.com:7443", "--tls", "--token-file", "token",
      "--bundle-id", "com.example.scribe", "--environment", "sandbox")
    #expect(far.errors == "context far is set\n")
    let list = try await control("context", "list", "--output", "json").document(JSONTree.self)
    #expect(list.elements.map { $0["name"]?.text } == ["far", "near"])
    #expect(list.elements[0]["server"]?.text == "tls:example.com:7443")
    #expect(list.elements[0]["environment"]?.text == "Sandbox")
    // Relative paths are those of the folder where they were set.
    #expect(list.elements[0]["tokenFile"]?.text?.hasPrefix("/") == true)
    #expect(list.elements[0]["tokenFile"]?.text?.hasSuffix("/token") == true)
    let table = try await control("context", "list")
    #expect(table.output.contains("*        near"), "\(table.output)")

    let use = try await control("context", "use", "far")
    #expect(use.exit == .code(0))
    #expect(try await control("context", "list").output.contains("*        far"))
    // The current context is not reached; the other one is, by name.
    let health = try await control("health", environment: ["ENTITLECTL_CONTEXT": "near"])
    #expect(health.exit == .code(3))
    #expect(health.errors.contains("near.sock"))
    for arguments in [["use", "absent"], ["remove", "absent"]] {
      let run = try await control("context", arguments[0], arguments[1])
      #expect(run.exit == .code(2))
      #expect(run.errors == "entitlectl: absent: no such context\n")
    }
    #expect(try await control("context", "remove", "far").exit == .code(0))
    let left = try await control("context", "list", "--output", "jsonl").lines(JSONTree.self)
    #expect(left.map { $0["name"]?.text } == ["near"])
    let text = try String(
      contentsOfFile: bench.folder.file("settings/entitle/contexts.yaml"), encoding: .utf8)
    #expect(!text.contains("current:"))
  }

  @Test func `files that others can use are refused`() async throws {
    let readable = try tokenFile(mode: 0o644)
    let token = try await control(
      "health", "--server", "127.0.0.1:1", "--token-file", readable)
    #expect(token.exit == .code(1))
    #expect(token.errors.contains("other users may read the token (chmod 600)"))
    _ = try await control("context", "set", "near", "--server", "unix:/nonexistent")
    let file = bench.folder.file("settings/entitle/contexts.yaml")
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
    for arguments in [["health"], ["context", "list"], ["context", "use", "near"]] {
      let run = try await ProgramRun.of(
        .entitlectl, arguments,
        environment: ["XDG_CONFIG_HOME": bench.folder.file("settings")])
      #expect(run.exit == .code(1))
      #expect(run.errors.contains("other users may write it"))
    }
  }

  @Test(
    "64: no program sends a token to another machine without TLS",
    arguments: [
      (Program.entitlectl, ["health", "--server", "192.0.2.1:7100"]),
      (.entitleLoad, ["run", "--server", "192.0.2.1:7100", "--duration", "1s"]),
      (
        .entitleLoad,
        ["prepare", "--server", "192.0.2.1:7100", "--customers", "1", "--authority", "AUTHORITY"]
      ),
      (.storesim, ["submit", "--server", "192.0.2.1:7100", "--authority", "AUTHORITY"]),
    ])
  func readable(program: Program, arguments: [String]) async throws {
    let run = try await ProgramRun.of(
      program, arguments.map { $0 == "AUTHORITY" ? bench.authorityPath : $0 },
      environment: ["ENTITLECTL_TOKEN": token.text])
    #expect(run.exit == .code(64), "\(run.errors)")
    #expect(run.errors.contains("TLS only"), "\(run.errors)")
    #expect(!run.errors.contains(token.text))
  }
}
