import AccessControl
import Cryptography
import EntitlementDomain
import EntitlementService
import Foundation
import Framing
import Glibc
import NIOCore
import RPCClient
import ServiceMetrics
import StoreSimulator
import TLSSupport
import TestSupport
import Testing
import Wire

@Suite("Access control of a running server", .timeLimit(.minutes(5)))
struct AccessServerTests {
  private static let inForce = "other credentials are in force"
  private static let unusable = "the file of credentials cannot be used, the old one stays in force"

  private let bench: Bench
  private let admin = AccessToken()
  private let reader = AccessToken()

  init() throws {
    bench = try Bench()
  }

  private func caller(
    _ name: String, _ token: AccessToken?, _ fields: String, expires: String = "never"
  ) throws -> String {
    let digest = try token?.digest.hexadecimal
    let tokens = token.map {
      "\n    tokens: [{id: \($0.id), sha256: \"\(digest ?? "")\", expires: \(expires)}]"
    }
    return "  - name: \(name)\n    \(fields)\(tokens ?? "")\n"
  }

  /// Writes a file like an editor: a new one takes the place of the former.
  @discardableResult
  private func write(_ callers: String, mode: Int = 0o640) throws -> String {
    try write(text: "version: 1\ncallers:\n" + callers, mode: mode)
  }

  private func write(text: String, mode: Int = 0o640) throws -> String {
    let path = bench.folder.file("credentials.yaml")
    let new = bench.folder.file("credentials.new")
    try Data(text.utf8).write(to: URL(filePath: new))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: new)
    guard rename(new, path) == 0 else { throw HarnessFailure("rename: error \(errno)") }
    return path
  }

  private var usual: String {
    get throws {
      try caller("the-admin", admin, "roles: [admin]")
        + caller(
          "backend", reader,
          "roles: [submitter]\n    apps: {\(Bench.scope.bundleID): [Production]}")
    }
  }

  private func client(
    _ address: ServerAddress, _ token: AccessToken?, tls: ClientTLS? = nil
  ) -> EntitlementClient {
    EntitlementClient(
      address,
      configuration: EntitlementClientConfiguration(
        timeout: .seconds(ProcessJournal.patience),
        metadata: token.map { [(key: "authorization", value: "Bearer \($0.text)")] } ?? [],
        tls: tls, waitingTime: .seconds(ProcessJournal.patience), retries: .off))
  }

  /// Who the server takes a caller for; the reason of the refusal otherwise.
  private func name(
    at address: ServerAddress, _ token: AccessToken?, tls: ClientTLS? = nil
  ) async -> String {
    let client = client(address, token, tls: tls)
    let name: String
    do {
      name = try await client.whoAmI().name
    } catch {
      name = error.errorInfo?.reason ?? "\(error)"
    }
    await client.close()
    return name
  }

  // MARK: Start

  private func check(_ arguments: String...) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitled,
      ["--check-config", "--catalog", bench.catalogPath, "--store", "sqlite:x"] + arguments)
  }

  @Test("77: beyond loopback without credentials, without TLS, or without both")
  func unprotected() async throws {
    let authority = try TLSAuthority("authority", in: bench.folder)
    let pair = try authority.issue("server")
    let tls = ["--tls-certificate", pair.certificate, "--tls-key", pair.key]
    let file = try write(try usual)
    let neither = try await check("--listen", "192.0.2.1:7100")
    #expect(neither.exit == .code(77))
    #expect(neither.errors.contains("no access control (--credentials FILE) and no TLS"))
    let plain = try await check("--listen", "192.0.2.1:7100", "--credentials", file)
    #expect(plain.exit == .code(77))
    #expect(plain.errors.contains("there is no TLS"))
    let open = try await ProgramRun.of(
      .entitled,
      [
        "--check-config", "--catalog", bench.catalogPath, "--store", "sqlite:x", "--listen",
        "tls:192.0.2.1:7100",
      ] + tls)
    #expect(open.exit == .code(77))
    #expect(open.errors.contains("there is no access control"))
    let both = try await ProgramRun.of(
      .entitled,
      [
        "--check-config", "--catalog", bench.catalogPath, "--store", "sqlite:x", "--listen",
        "tls:192.0.2.1:7100", "--credentials", file,
      ] + tls)
    #expect(both.exit == .code(0), "\(both.errors)")
    #expect(!both.output.contains("warning:"), "\(both.output)")
    let allowed = try await check("--listen", "192.0.2.1:7100", "--allow-unprotected-listen")
    #expect(allowed.exit == .code(0))
    #expect(allowed.output.contains("everyone who reaches it may read, submit, grant and delete"))
    let half = try await check(
      "--listen", "192.0.2.1:7100", "--allow-unprotected-listen", "--credentials", file)
    #expect(half.output.contains("tokens and answers are sent in plain text"))
  }

  @Test("78: a file that does not exist, that others may write, and all errors of a broken one")
  func brokenAtStart() async throws {
    let missing = try await check("--credentials", bench.folder.file("nothing"))
    #expect(missing.exit == .code(78))
    #expect(missing.errors.contains("the file does not exist"))
    for mode in [0o666, 0o660, 0o602] {
      let open = try await check("--credentials", try write(try usual, mode: mode))
      #expect(open.exit == .code(78))
      #expect(open.errors.contains("other users may write the file"))
    }
    if geteuid() == 0 {
      let foreign = try write(try usual)
      #expect(chown(foreign, 1_234, 0) == 0)
      let run = try await check("--credentials", foreign)
      #expect(run.exit == .code(78))
      #expect(run.errors.contains("belongs to another user"))
    }
    let broken = try await check(
      "--credentials",
      try write(
        "  - {name: local, roles: [reader]}\n  - {name: b, roles: [king]}\n  - {name: c, rolls: []}\n"
      ))
    #expect(broken.exit == .code(78))
    for problem in ["this name is reserved", "unknown role", "unknown field"] {
      #expect(broken.errors.contains(problem), "\(broken.errors)")
    }
    // The text of a token that was put in the place of its digest is not repeated.
    let token = AccessToken()
    let mistake = try await check(
      "--credentials",
      try write(
        "  - name: a\n    roles: [reader]\n"
          + "    tokens: [{id: \(token.id), sha256: \"\(token.text)\", expires: never}]\n"))
    #expect(mistake.exit == .code(78))
    #expect(mistake.errors.contains("this is a token itself"))
    #expect(!mistake.errors.contains(token.text))
    let readable = try await check("--credentials", try write(try usual, mode: 0o644))
    #expect(readable.exit == .code(0))
    #expect(readable.output.contains("all users of the machine may read the file"))
  }

  // MARK: Proofs

  @Test("A caller is known by token, by certificate and by Unix user; a token decides alone")
  func proofs() async throws {
    let authority = try TLSAuthority("authority", in: bench.folder)
    let server = try authority.issue("server", dns: ["localhost"])
    let api = try authority.issue("api", uris: ["spiffe://example.com/api"])
    let worker = try authority.issue("worker", dns: ["Worker.example.com"])
    let unknown = try authority.issue("unknown", uris: ["spiffe://example.com/api/other"])
    try write(
      try usual
        + caller("api", nil, "roles: [reader]\n    certificates: [\"spiffe://example.com/api\"]")
        + caller("worker", nil, "roles: [reader]\n    certificates: [\"dns:worker.example.com\"]")
        + caller("operator", nil, "roles: [operator]\n    users: [\(getuid())]"))
    let socket = bench.folder.file("s")
    let running = try await bench.startServer(
      "--credentials", bench.folder.file("credentials.yaml"), "--listen", "tls:127.0.0.1:0",
      "--listen", "unix:\(socket)", "--tls-certificate", server.certificate, "--tls-key",
      server.key, "--tls-client-ca", authority.file, listeners: 3)
    let encrypted = running.addresses[1]
    func settings(_ pair: TLSAuthority.Pair?) -> ClientTLS {
      ClientTLS(
        authorityFile: authority.file, certificateFile: pair?.certificate, keyFile: pair?.key)
    }
    let plain = running.addresses[0]
    let wrong = AccessToken()
    #expect(await name(at: plain, admin) == "the-admin")
    #expect(await name(at: plain, nil) == "CREDENTIAL_MISSING")
    #expect(await name(at: plain, wrong) == "CREDENTIAL_REFUSED")
    #expect(await name(at: encrypted, nil, tls: settings(nil)) == "CREDENTIAL_MISSING")
    #expect(await name(at: encrypted, reader, tls: settings(nil)) == "backend")
    #expect(await name(at: encrypted, nil, tls: settings(api)) == "api")
    #expect(await name(at: encrypted, nil, tls: settings(worker)) == "worker")
    #expect(await name(at: encrypted, nil, tls: settings(unknown)) == "CREDENTIAL_MISSING")
    #expect(await name(at: encrypted, reader, tls: settings(api)) == "backend")
    #expect(await name(at: encrypted, wrong, tls: settings(api)) == "CREDENTIAL_REFUSED")
    #expect(await name(at: .unix(path: socket), nil) == "operator")
    #expect(await name(at: .unix(path: socket), reader) == "backend")
    // Health needs none.
    let health = client(plain, nil)
    #expect(try await health.health().status == .serving)
    await health.close()
    #expect(try await running.stop() == .code(0))
  }

  @Test("entitlectl health without a token says that the server is serving, and is no refusal")
  func probe() async throws {
    let path = try write(try usual)
    let running = try await bench.startServer("--credentials", path)
    let probe = try await ProgramRun.of(.entitlectl, ["health", "--server", "\(running.address)"])
    #expect(probe.exit == .code(0))
    #expect(probe.output.hasPrefix(Bench.serving))
    #expect(!probe.output.contains("node"))
    let operators = client(running.address, admin)
    let counters = try await operators.statistics().counters
    #expect(counters.filter { $0.name.hasPrefix("access.refused") && $0.value > 0 }.isEmpty)
    let values = counters.map { StatisticValue($0.name, $0.value) }
    #expect(StatisticMapping().families(of: values).unknown == [])
    await operators.close()
    #expect(try await running.stop() == .code(0))
  }

  // MARK: Reload

  @Test("The file is read when it changes and on SIGHUP; a broken one leaves the former in force")
  func reload() async throws {
    let path = try write(try usual)
    let running = try await bench.startServer("--credentials", path)
    let operators = client(running.address, admin)
    #expect(await name(at: running.address, reader) == "backend")

    // Removed: refused from the moment of the log line on.
    try write(try caller("the-admin", admin, "roles: [admin]"))
    try await running.logged(Self.inForce)
    #expect(await name(at: running.address, reader) == "CREDENTIAL_REFUSED")

    _ = try write(text: "version: 1\ncallers: [")
    try await running.logged(Self.unusable)
    #expect(await name(at: running.address, admin) == "the-admin")
    let warnings = try await operators.server().warnings
    #expect(warnings.contains { $0.hasPrefix("credentials: the file cannot be used") })

    try write(try usual, mode: 0o666)
    running.signal(SIGHUP)
    try await running.logged(Self.unusable, times: 2)
    try write(try usual)
    running.signal(SIGHUP)
    try await running.logged(Self.inForce, times: 2)
    #expect(await name(at: running.address, reader) == "backend")
    #expect(
      try await operators.server().warnings.filter { $0.hasPrefix("credentials") }.isEmpty)
    await operators.close()
    #expect(try await running.stop() == .code(0))
  }

  /// A caller with several tokens, as in a rotation.
  private func caller(of tokens: [AccessToken]) throws -> String {
    let list = try tokens.map {
      "{id: \($0.id), sha256: \"\(try $0.digest.hexadecimal)\", expires: never}"
    }.joined(separator: ", ")
    return "  - name: backend\n    roles: [admin]\n    tokens: [\(list)]\n"
  }

  @Test("Tokens overlap in a rotation under load: no call fails")
  func rotation() async throws {
    let next = AccessToken()
    let path = try write(try caller(of: [reader]))
    let running = try await bench.startServer("--credentials", path)
    let request = GetCustomerStateRequest(
      customer: .account("nobody"), scope: Bench.scope)
    /// Calls until it is cancelled; returns the number of calls, and the first failure.
    ///
    /// - Parameter called: ends with the first call.
    @Sendable func load(
      _ client: EntitlementClient, _ called: AsyncStream<Void>.Continuation
    ) async -> (Int, RPCClientError?) {
      defer { called.finish() }
      var calls = 0
      while !Task.isCancelled {
        do throws(RPCClientError) {
          _ = try await client.customerState(request)
          calls += 1
          called.finish()
        } catch {
          return (calls, Task.isCancelled ? nil : error)
        }
      }
      return (calls, nil)
    }
    let old = client(running.address, reader)
    let (oldAnswers, oldCalled) = AsyncStream.makeStream(of: Void.self)
    let first = Task { await load(old, oldCalled) }
    for await _ in oldAnswers {}
    try write(try caller(of: [reader, next]))
    try await running.logged(Self.inForce)
    let new = client(running.address, next)
    let (newAnswers, newCalled) = AsyncStream.makeStream(of: Void.self)
    let second = Task { await load(new, newCalled) }
    for await _ in newAnswers {}
    first.cancel()
    let (oldCalls, oldFailure) = await first.value
    try write(try caller(of: [next]))
    try await running.logged(Self.inForce, times: 2)
    #expect(await name(at: running.address, reader) == "CREDENTIAL_REFUSED")
    second.cancel()
    let (newCalls, newFailure) = await second.value
    #expect(oldCalls > 0 && newCalls > 0)
    #expect(oldFailure == nil, "\(String(describing: oldFailure))")
    #expect(newFailure == nil, "\(String(describing: newFailure))")
    await old.close()
    await new.close()
    #expect(try await running.stop() == .code(0))
  }

  @Test("Token, certificate and authority are replaced while entitle-load runs: no call fails")
  func wholeRotation() async throws {
    let next = AccessToken()
    /// Replaces a file as a program does that renews it.
    func replace(_ name: String, _ contents: Data) throws -> String {
      let path = bench.folder.file(name)
      try contents.write(to: URL(filePath: path), options: .atomic)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      return path
    }
    func contents(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }
    let authorities = try ["first", "second"].map { try TLSAuthority($0, in: bench.folder) }
    let pairs = try zip(authorities, ["server-1", "server-2"]).map {
      try $0.issue($1, dns: ["localhost"])
    }
    let roots = try authorities.map { try contents($0.file) }
    let certificate = try replace("current.pem", contents(pairs[0].certificate))
    let key = try replace("current.key", contents(pairs[0].key))
    let trusted = try replace("trusted.pem", roots[0])
    let tokenFile = try replace("token", Data(reader.text.utf8))
    let path = try write(try caller(of: [reader]))
    let running = try await bench.startServer(
      "--credentials", path, "--listen", "tls:127.0.0.1:0", "--tls-certificate", certificate,
      "--tls-key", key, listeners: 2)
    let address = running.addresses[1]
    async let load = ProgramRun.of(
      .entitleLoad,
      [
        "run", "--server", "\(address)", "--tls-ca", trusted, "--token-file", tokenFile, "--mix",
        "absent=1", "--customers", "10", "--connections", "4", "--rate", "100",
        // After a stall of the machine, more late calls at once would be shed, as from any client.
        "--maximum-in-flight", "4", "--duration", "8s", "--fail-if", "errors>0",
      ])
    /// A client with the files of the load, which makes calls on a new connection.
    func call(for time: Duration = .zero) async throws -> WhoAmIResponse {
      let client = EntitlementClient(
        address,
        configuration: EntitlementClientConfiguration(
          token: ClientToken(file: tokenFile), tls: ClientTLS(authorityFile: trusted),
          waitingTime: .seconds(ProcessJournal.patience), retries: .off))
      defer { Task { await client.close() } }
      let end = ContinuousClock.now + time
      var answer: WhoAmIResponse
      repeat { answer = try await client.whoAmI() } while ContinuousClock.now < end
      return answer
    }
    #expect(try await call().tokenID == reader.id)
    // The token: both are valid while the load still has the former.
    try write(try caller(of: [reader, next]))
    try await running.logged(Self.inForce)
    _ = try replace("token", Data(next.text.utf8))
    // The authority, in the same way.
    _ = try replace("trusted.pem", roots[0] + roots[1])
    // A client looks at its files once a second.
    #expect(try await call(for: .seconds(2)).tokenID == next.id)
    try write(try caller(of: [next]))
    try await running.logged(Self.inForce, times: 2)
    _ = try replace("current.key", contents(pairs[1].key))
    _ = try replace("current.pem", contents(pairs[1].certificate))
    running.signal(SIGHUP)
    try await running.logged("TLS files reloaded")
    #expect(try await call().tokenID == next.id)
    _ = try replace("trusted.pem", roots[1])
    #expect(try await call().tokenID == next.id)
    #expect(await name(at: running.address, reader) == "CREDENTIAL_REFUSED")
    let run = try await load
    #expect(run.exit == .code(0), "\(run.errors)\n\(run.output)")
    #expect(run.output.contains("absent"), "\(run.output)")
    #expect(try await running.stop() == .code(0))
  }

  @Test("A token that expires within 14 days is warned of, unless the caller has a later one")
  func warnings() async throws {
    let later = AccessToken()
    let soon = Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000)).advanced(
      by: 5 * Milliseconds.dayLength
    ).rfc3339
    let path = try write(
      try caller("the-admin", admin, "roles: [admin]")
        + caller("short", reader, "roles: [reader]", expires: soon)
          + """
            - name: rotated
              roles: [reader]
              tokens:
                - {id: \(later.id), sha256: "\(try later.digest.hexadecimal)", expires: never}
                - {id: aaaaaaaa, sha256: "\(String(repeating: "0", count: 64))", expires: \(soon)}

          """)
    let running = try await bench.startServer("--credentials", path)
    let client = client(running.address, admin)
    let warnings = try await client.server().warnings.filter { $0.hasPrefix("credentials") }
    #expect(warnings == ["credentials: the last token of short expires in 4 days"])
    #expect(running.logText.contains("the last token of short expires in 4 days"))
    await client.close()
    #expect(try await running.stop() == .code(0))
  }

  // MARK: Attacks

  @Test("Clients that try tokens do not slow an honest caller, and their refusals are counted")
  func guessing() async throws {
    let path = try write(try usual)
    let running = try await bench.startServer("--credentials", path)
    let honest = client(running.address, reader)
    let request = GetCustomerStateRequest(customer: .account("nobody"), scope: Bench.scope)
    _ = try await honest.customerState(request)
    let address = running.address
    let attack = (0..<4).map { _ in
      Task {
        var tried = 0
        while !Task.isCancelled, tried < 2_000 {
          guard let connection = try? await RPCConnection.connect(to: RPCTarget(address)) else {
            continue
          }
          for _ in 0..<20 {
            let guess = "Bearer \(AccessToken().text)"
            let answer = try? await connection.call(
              service: ServiceNames.access, method: "WhoAmI", payload: ByteBuffer(),
              metadata: [(key: "authorization", value: guess)])
            #expect(answer == nil)
            tried += 1
          }
          await connection.close()
        }
        return tried
      }
    }
    for _ in 0..<500 { _ = try await honest.customerState(request) }
    for task in attack { task.cancel() }
    var tried = 0
    for task in attack { tried += await task.value }
    #expect(tried > 0)
    await honest.close()
    let operators = client(running.address, admin)
    let counters = try await operators.statistics().counters
    let refused = counters.first { $0.name == "access.refused.credential_refused" }?.value ?? 0
    #expect(refused > 0)
    await operators.close()
    // The log is bounded, however many were tried.
    let lines = try running.log.count { $0.message == "calls are refused" }
    #expect((1...10).contains(lines), "\(lines) lines for \(tried) tokens")
    #expect(try await running.stop() == .code(0))
  }

  @Test(
    "No token and no payload is in the log at its lowest level, in the store or in the audit log")
  func secrets() async throws {
    let path = try write(try usual)
    let auditLog = bench.folder.file("audit.log")
    let running = try await bench.startServer(
      "--credentials", path, "--log-level", "trace", "--audit-log", auditLog)
    let wrong = AccessToken()
    #expect(await name(at: running.address, wrong) == "CREDENTIAL_REFUSED")
    #expect(await name(at: running.address, admin) == "the-admin")
    let payloads = try bench.signed(.firstPurchase).flatMap(\.facts)
    let backend = client(running.address, reader)
    _ = try await backend.submitSignedTransactions(
      SubmitSignedTransactionsRequest(
        signedPayloads: payloads + ["broken.\(payloads[0])"], accountID: "anna"))
    await backend.close()
    let operators = client(running.address, admin)
    _ = try await operators.reloadCredentials(dryRun: false)
    for try await _ in try operators.exportCustomer(
      ExportCustomerRequest(scope: Bench.scope, accountID: "anna"))
    {}
    await operators.close()
    #expect(try await running.stop() == .code(0))

    let tokens = [wrong, admin, reader].map(\.text)
    let log = running.logText + running.outputText
    for secret in tokens + payloads { #expect(!log.contains(secret)) }
    let files = try FileManager.default.subpathsOfDirectory(atPath: bench.folder.path)
    var searched = 0
    for file in files {
      let path = bench.folder.file(file)
      guard let bytes = FileManager.default.contents(atPath: path) else { continue }
      searched += 1
      for token in tokens {
        #expect(bytes.firstRange(of: Data(token.utf8)) == nil, "\(file) contains a token")
      }
    }
    #expect(searched > 4)
  }
}
