import ArgumentParser
import ClientOptions
import EntitlementDomain
import Framing
import Glibc
import RPCClient
import TestSupport
import Testing
import Wire

@testable import OperatorCommands

@Suite("The server that options, environment and contexts name")
struct ChosenServerTests {
  private static let home = "tls:entitle.example.com:7443"

  private let contexts: ServerContexts

  init() throws {
    var contexts = ServerContexts()
    contexts.set(
      "home",
      try ServerContext([
        .server: Self.home, .authorityFile: "/ca.pem", .certificateFile: "/cert.pem",
        .keyFile: "/key.pem", .tokenFile: "/token", .bundleID: "com.example.scribe",
        .environment: "sandbox",
      ]))
    contexts.set("near", try ServerContext([.server: "unix:/run/entitle.sock"]))
    self.contexts = contexts
  }

  private func choose(
    _ arguments: [String], _ environment: [String: String] = [:]
  ) throws -> ChosenServer {
    try ServerOptions.parse(arguments).chosen(among: contexts, environment: environment)
  }

  @Test(
    "An option goes before the environment, that before the current context",
    arguments: [
      ([], [:], home),
      (["--context", "near"], [:], "unix:/run/entitle.sock"),
      ([], ["ENTITLECTL_CONTEXT": "near"], "unix:/run/entitle.sock"),
      ([], ["ENTITLECTL_CONTEXT": ""], home),
      (["--context", "home"], ["ENTITLECTL_CONTEXT": "near"], home),
      ([], ["ENTITLECTL_SERVER": "[::1]:1"], "[::1]:1"),
      ([], ["ENTITLECTL_SERVER": ""], home),
      ([], ["ENTITLECTL_SERVER": "[::1]:1", "ENTITLECTL_CONTEXT": "near"], "[::1]:1"),
      (["--context", "home"], ["ENTITLECTL_SERVER": "[::1]:1"], home),
      (["--server", "[::1]:2"], ["ENTITLECTL_SERVER": "[::1]:1"], "[::1]:2"),
      (["--server", "[::1]:2", "--tls"], [:], "tls:[::1]:2"),
    ] as [([String], [String: String], String)])
  func precedence(arguments: [String], environment: [String: String], address: String) throws {
    #expect("\(try choose(arguments, environment).address)" == address)
  }

  @Test("Without a context, the default is this machine")
  func defaultServer() throws {
    let chosen = try ServerOptions.parse([]).chosen(among: ServerContexts(), environment: [:])
    #expect("\(chosen.address)" == "127.0.0.1:7100")
    #expect(chosen.tokenFile == nil && chosen.bundleID == nil && chosen.tls.settings == nil)
  }

  @Test("A context gives its files and its app, and options replace them")
  func fields() throws {
    let chosen = try choose([])
    #expect(chosen.tokenFile == "/token")
    #expect(chosen.bundleID == "com.example.scribe")
    #expect(chosen.environment == .sandbox)
    #expect(chosen.tls.authorityFile == "/ca.pem")
    #expect(chosen.tls.certificateFile == "/cert.pem" && chosen.tls.keyFile == "/key.pem")
    let other = try choose(["--tls-ca", "/other.pem", "--tls-cert", "/c", "--tls-key", "/k"])
    #expect(other.tls.authorityFile == "/other.pem")
    #expect(other.tls.certificateFile == "/c" && other.tls.keyFile == "/k")
    #expect(other.tokenFile == "/token")
  }

  @Test(
    "With another server nothing of the context is used, above all not its token",
    arguments: [
      (["--server", "tls:other.example.com:7443"], [:]),
      // The same host without TLS, and another port of it.
      (["--server", "entitle.example.com:7443"], [:]),
      (["--server", "tls:entitle.example.com:7444"], [:]),
      ([], ["ENTITLECTL_SERVER": "tls:other.example.com:7443"]),
      (["--server", "tls:other.example.com:7443"], ["ENTITLECTL_CONTEXT": "home"]),
    ] as [([String], [String: String])])
  func otherServer(arguments: [String], environment: [String: String]) throws {
    let chosen = try choose(arguments, environment)
    #expect(chosen.tokenFile == nil)
    #expect(chosen.tls.authorityFile == nil && chosen.tls.certificateFile == nil)
    #expect(chosen.tls.keyFile == nil && chosen.tls.serverName == nil)
    #expect(chosen.bundleID == nil && chosen.environment == nil)
  }

  @Test(
    "The context's own server by option is the context's",
    arguments: [["--server", home], ["--server", "entitle.example.com:7443", "--tls"]])
  func sameServer(arguments: [String]) throws {
    let chosen = try choose(arguments)
    #expect(chosen.tokenFile == "/token")
    #expect(chosen.tls.authorityFile == "/ca.pem")
  }

  @Test(
    "A context that does not exist is an error, and so are two options for different servers",
    arguments: [
      (["--context", "absent"], [:]), ([], ["ENTITLECTL_CONTEXT": "absent"]),
      (["--context", "home", "--server", "tls:other.example.com:1"], [:]),
      (["--context", "near", "--tls"], [:]),
    ] as [([String], [String: String])])
  func faults(arguments: [String], environment: [String: String]) throws {
    #expect(throws: (any Error).self) { try choose(arguments, environment) }
  }

  @Test(
    "A token travels to another machine with TLS only",
    arguments: [
      ("example.com:7100", false), ("192.0.2.1:7100", false), ("tls:example.com:7100", true),
      ("mtls:example.com:7100", true), ("127.0.0.1:7100", true), ("localhost:7100", true),
      ("[::1]:7100", true), ("unix:/run/entitle.sock", true),
    ])
  func confidential(address: String, isAllowed: Bool) throws {
    let folder = try TemporaryFolder()
    let address = try ServerAddress(parsing: address)
    let variable = ["ENTITLECTL_TOKEN": "entl_invented"]
    func token() throws -> ClientToken? {
      try TokenOptions.parse([]).token(for: address, environment: variable)
    }
    if isAllowed {
      #expect(try token()?.metadata().first?.value == "Bearer entl_invented")
    } else {
      #expect(throws: (any Error).self) { try token() }
      // No file is read before.
      let file = try TokenOptions.parse(["--token-file", folder.file("absent")])
      let error = #expect(throws: (any Error).self) {
        try file.token(for: address, environment: [:])
      }
      #expect(error.map { "\($0)" }?.contains("TLS only") == true)
    }
    #expect(try TokenOptions.parse([]).token(for: address, environment: [:]) == nil)
  }

  @Test("An option goes before the environment, that before the context's file")
  func tokens() throws {
    let folder = try TemporaryFolder()
    let address = ServerAddress.tcp(host: "::1", port: 1)
    func file(_ name: String) throws -> String {
      let path = try folder.write(name, to: name)
      guard chmod(path, 0o600) == 0 else { throw CancellationError() }
      return path
    }
    let (option, context) = (try file("option"), try file("context"))
    let variable = ["ENTITLECTL_TOKEN": "variable"]
    func value(_ arguments: [String], _ environment: [String: String]) throws -> String? {
      try TokenOptions.parse(arguments)
        .token(for: address, orIn: context, environment: environment)?.metadata().first?.value
    }
    #expect(try value(["--token-file", option], variable) == "Bearer option")
    #expect(try value([], variable) == "Bearer variable")
    #expect(try value([], ["ENTITLECTL_TOKEN": ""]) == "Bearer context")
  }
}

@Suite("The app that no option names")
struct ChosenAppTests {
  private func app(_ name: String, _ environments: [StoreEnvironment]) -> PermittedApp {
    PermittedApp(bundleID: BundleID("com.example.\(name)"), environments: environments)
  }

  @Test("The only app is taken, with its only environment, else production")
  func one() throws {
    let both = [app("scribe", [.production, .sandbox])]
    let one = [app("scribe", [.sandbox])]
    #expect(try AppOptions.scope(among: both, nil).environment == .production)
    #expect(try AppOptions.scope(among: both, .sandbox).environment == .sandbox)
    #expect(try AppOptions.scope(among: one, nil).environment == .sandbox)
    #expect(try AppOptions.scope(among: one, .production).environment == .production)
    #expect(try AppOptions.scope(among: one, nil).bundleID == "com.example.scribe")
  }

  @Test("Several apps are named, at most twenty")
  func several() {
    let apps = (10..<40).map { app("\($0)", [.production]) }
    let error = #expect(throws: (any Error).self) { try AppOptions.scope(among: apps, nil) }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("com.example.29 and 10 more"))
    #expect(text.contains("--app"))
    #expect(!text.contains("com.example.30"))
    #expect(throws: (any Error).self) { try AppOptions.scope(among: [], nil) }
  }
}
