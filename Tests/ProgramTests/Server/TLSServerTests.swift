import EntitlementService
import Foundation
import Framing
import Glibc
import MetricsExposition
import RPCClient
import ServiceMetrics
import TLSSupport
import TestSupport
import Testing
import Wire

@Suite("The certificates of a running server", .timeLimit(.minutes(5)))
struct TLSServerTests {
  private static let reloaded = "TLS files reloaded"
  private static let unusable = "the TLS files cannot be used; the former ones stay in force"

  private let bench: Bench
  private let authority: TLSAuthority
  private let server: TLSAuthority.Pair

  init() throws {
    bench = try Bench()
    authority = try TLSAuthority("authority", in: bench.folder)
    server = try authority.issue("server", dns: ["localhost"])
  }

  /// A plain listener, one with TLS, and one that requires a certificate.
  private func start(_ pair: TLSAuthority.Pair? = nil) async throws -> RunningServer {
    let pair = pair ?? server
    return try await bench.startServer(
      "--listen", "tls:127.0.0.1:0", "--listen", "mtls:127.0.0.1:0", "--tls-certificate",
      pair.certificate, "--tls-key", pair.key, "--tls-client-ca", authority.file, listeners: 3)
  }

  private func health(_ address: ServerAddress, _ more: String...) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl, ["health", "--server", "\(address)", "--tls-ca", authority.file] + more)
  }

  /// Replaces the files like a program that renews certificates.
  private func replace(_ pair: TLSAuthority.Pair, with new: TLSAuthority.Pair) throws {
    for (old, new) in [(pair.certificate, new.certificate), (pair.key, new.key)] {
      try Data(contentsOf: URL(filePath: new)).write(to: URL(filePath: old), options: .atomic)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: old)
    }
  }

  @Test("entitlectl connects with TLS, and with a certificate where one is required")
  func commands() async throws {
    let running = try await start()
    let client = try authority.issue("client", uris: ["spiffe://example.com/api"])
    #expect(try await health(running.addresses[1]).output.hasPrefix(Bench.serving))
    let mutual = try await health(
      running.addresses[2], "--tls-cert", client.certificate, "--tls-key", client.key)
    #expect(mutual.output.hasPrefix(Bench.serving), "\(mutual.errors)")
    let without = try await health(running.addresses[2])
    #expect(without.exit == .code(3))
    #expect(without.errors.contains("a client certificate is needed"))
    let name = try await health(running.addresses[1], "--tls-server-name", "entitle.example.com")
    #expect(name.exit == .code(3))
    #expect(name.errors.contains("for another name"))
    #expect(try await running.stop() == .code(0))
  }

  @Test("Certificate, key and authority are replaced under load without a failed call")
  func rotation() async throws {
    let running = try await start()
    let next = try TLSAuthority("next", in: bench.folder)
    // A client that must follow trusts both authorities meanwhile.
    let both = bench.folder.file("both.pem")
    let roots = try [authority.file, next.file].map { try Data(contentsOf: URL(filePath: $0)) }
    try roots.reduce(Data(), +).write(to: URL(filePath: both))
    let address = running.addresses[1]
    async let load = ProgramRun.of(
      .entitleLoad,
      [
        "run", "--server", "\(address)", "--tls-ca", both, "--mix", "absent=1", "--customers", "10",
        "--connections", "4", "--rate", "100",
        // After a stall of the machine, more late calls at once would be shed, as from any client.
        "--maximum-in-flight", "4", "--duration", "4s", "--fail-if", "errors>0",
      ])
    let settings = ClientTLS(authorityFile: both)
    var calls = 0
    for round in 1...3 {
      let authority = round % 2 == 1 ? next : authority
      try replace(server, with: try authority.issue("server-\(round)", dns: ["localhost"]))
      running.signal(SIGHUP)
      try await running.logged(Self.reloaded, times: round)
      for _ in 0..<20 {
        let client = try await EntitlementClient.connect(
          to: address,
          configuration: EntitlementClientConfiguration(tls: settings, retries: .off))
        _ = try await client.catalog()
        await client.close()
        calls += 1
      }
    }
    #expect(calls == 60)
    let run = try await load
    #expect(run.exit == .code(0), "\(run.output) \(run.errors)")
    #expect(try await running.stop() == .code(0))
  }

  @Test("A certificate that does not match its key is reported, and the former one stays")
  func mismatch() async throws {
    let running = try await start()
    let other = try authority.issue("other", dns: ["localhost"])
    try Data(contentsOf: URL(filePath: other.key)).write(
      to: URL(filePath: server.key), options: .atomic)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: server.key)
    // The change is detected without a signal.
    let line = try await running.logged(Self.unusable)
    #expect(line.reason == "the certificate and the key do not belong together")
    let report = try await health(running.addresses[1])
    #expect(report.exit == .code(0))
    #expect(report.output.contains("do not belong together"), "\(report.output)")
    try replace(server, with: other)
    try await running.logged(Self.reloaded)
    let after = try await health(running.addresses[1])
    #expect(!after.output.contains("do not belong together"), "\(after.output)")
    #expect(try await running.stop() == .code(0))
  }

  /// A connection of `openssl s_client`, and what both sides say of it.
  private struct StockCase: Sendable {
    let name: String
    var requiresCertificate = false
    let arguments: [String]
    /// On stdout or stderr of the client.
    let said: String
    /// In the server's log; nil: the handshake succeeds.
    let logged: String?
  }

  @Test(
    "openssl s_client: each failure has its text at the client and its line in the log",
    .enabled(if: OpenSSL.isInstalled, "the program openssl is not installed"))
  func openSSL() async throws {
    let path = try #require(OpenSSL.path)
    let running = try await start()
    let stranger = try TLSAuthority("stranger", in: bench.folder)
    let expired = try authority.issue("expired", days: -1)
    let foreign = try stranger.issue("foreign")
    let own = try authority.issue("own")
    let checks = ["-CAfile", authority.file, "-verify_return_error"]
    func with(_ pair: TLSAuthority.Pair) -> [String] {
      checks + ["-cert", pair.certificate, "-key", pair.key]
    }
    let cases = [
      StockCase(
        name: "verified", arguments: checks + ["-verify_hostname", "localhost"],
        said: "Verify return code: 0 (ok)", logged: nil),
      StockCase(
        name: "certificate", requiresCertificate: true, arguments: with(own),
        said: "Verify return code: 0 (ok)", logged: nil),
      StockCase(
        name: "wrong authority", arguments: ["-CAfile", stranger.file, "-verify_return_error"],
        said: "certificate verify failed",
        logged: "the client refuses the server's certificate: often its name or its authority"),
      StockCase(
        name: "wrong name", arguments: checks + ["-verify_hostname", "entitle.example.com"],
        said: "hostname mismatch",
        logged: "the client refuses the server's certificate: often its name or its authority"),
      StockCase(
        name: "TLS 1.2", arguments: checks + ["-tls1_2"], said: "alert protocol version",
        logged: "the client does not offer TLS 1.3"),
      StockCase(
        name: "no certificate", requiresCertificate: true, arguments: checks,
        said: "alert certificate required",
        logged: "the client has no certificate, and the listener requires one"),
      StockCase(
        name: "expired certificate", requiresCertificate: true, arguments: with(expired),
        said: "alert certificate expired",
        logged: "the client's certificate is expired or not valid yet"),
      StockCase(
        name: "foreign certificate", requiresCertificate: true, arguments: with(foreign),
        said: "alert unknown ca",
        logged: "the client's certificate is not signed by an authority of tls_client_ca"),
    ]
    for stock in cases {
      let address = running.addresses[stock.requiresCertificate ? 2 : 1]
      // The end of its input ends s_client. A refusal of its certificate comes after its handshake.
      let waits = stock.requiresCertificate && stock.logged != nil ? ["-ign_eof"] : []
      let text = try Self.output(
        of: path,
        ["s_client", "-connect", Self.endpoint(of: address)] + stock.arguments + waits)
      #expect(text.contains(stock.said), "\(stock.name): \(text)")
      if let reason = stock.logged {
        let line = try await running.logged("a connection failed", because: reason)
        #expect(line.reason == reason)
      }
    }
    // The server serves.
    #expect(try await health(running.addresses[1]).exit == .code(0))
    #expect(try await running.stop() == .code(0))
  }

  /// The address without its scheme.
  private static func endpoint(of address: ServerAddress) -> String {
    "\(address)".split(separator: ":").suffix(2).joined(separator: ":")
  }

  /// stdout and stderr of a program without input.
  private static func output(of program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    let output = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text
  }

  @Test("A certificate that ends within 14 days is warned of")
  func expiry() async throws {
    let running = try await start(try authority.issue("short", days: 5))
    let report = try await health(running.addresses[1])
    #expect(report.output.contains("expires in 4 days"), "\(report.output)")
    #expect(running.logText.contains("expires in 4 days"))
    let client = try await running.client()
    let values = try await client.statistics().counters.map { StatisticValue($0.name, $0.value) }
    await client.close()
    let (families, unknown) = StatisticMapping().families(of: values)
    #expect(unknown == [])
    let left = families.first { $0.name == "entitle_tls_certificate_expiry_timestamp_seconds" }
      .flatMap { family -> Double? in
        guard case .number(let time)? = family.samples.first?.value else { return nil }
        return (time - Date().timeIntervalSince1970) / 86_400
      }
    #expect(try (4...5).contains(#require(left)))
    #expect(try await running.stop() == .code(0))
  }

  @Test("78: settings and files of TLS that cannot be used")
  func failures() async throws {
    let pair = ["--tls-certificate", server.certificate, "--tls-key", server.key]
    let other = try authority.issue("other")
    let readable = try authority.issue("readable")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: readable.key)
    let cases: [([String], String)] = [
      (["--listen", "tls:127.0.0.1:0"], "tls_certificate: missing"),
      (["--listen", "mtls:127.0.0.1:0"] + pair, "tls_client_ca: missing"),
      (pair, "tls_certificate: requires an address"),
      (
        [
          "--listen", "tls:127.0.0.1:0", "--tls-certificate", server.certificate, "--tls-key",
          other.key,
        ], "do not belong together"
      ),
      (
        [
          "--listen", "tls:127.0.0.1:0", "--tls-certificate", readable.certificate, "--tls-key",
          readable.key,
        ], "other users may read the key"
      ),
      (
        [
          "--listen", "tls:127.0.0.1:0", "--tls-certificate", server.certificate, "--tls-key",
          bench.folder.file("absent"),
        ], "the file does not exist"
      ),
    ]
    for (arguments, text) in cases {
      let run = try await ProgramRun.of(.entitled, bench.serverArguments + arguments)
      #expect(run.exit == .code(78), "\(arguments): \(run.errors)")
      #expect(run.errors.contains(text), "\(run.errors)")
      let check = try await ProgramRun.of(
        .entitled, bench.serverArguments + arguments + ["--check-config"])
      #expect(check.exit == .code(78), "\(arguments): \(check.errors)")
    }
  }
}
