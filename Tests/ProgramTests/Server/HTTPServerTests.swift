import AccessControl
import Cryptography
import EntitlementDomain
import EntitlementService
import Foundation
import Framing
import RPCClient
import ServiceMetrics
import StoreSimulator
import TLSSupport
import TestSupport
import Testing
import Wire

@Suite("HTTP of a running server", .timeLimit(.minutes(5)))
struct HTTPServerTests {
  private static let json = [("content-type", "application/json")]

  private func socket(_ addresses: [ServerAddress]) throws -> HTTPSocket {
    guard case .tcp(_, let port)? = addresses.first else { throw HarnessFailure("no address") }
    return try HTTPSocket(port: port)
  }

  @Test("A notification that is posted to the webhook is in customer get, also after a restart")
  func webhook() async throws {
    let bench = try Bench()
    let server = try await bench.startServer(
      "--webhook-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", listeners: 3)
    let population = Bench.population(20)
    let purchase = try #require(
      population.customers.lazy.flatMap(\.timeline.events).first {
        $0.notification != nil && !$0.transactions.isEmpty
      })
    let payload = try #require(try bench.authority.sign(purchase).notification)
    let chain = purchase.transactions[0].originalTransactionID.rawValue
    let body = Array("{\"signedPayload\":\"\(payload)\"}".utf8)
    let apple = try socket(server.webhookAddresses)
    for text in ["stored\n", "known\n"] {
      try apple.request("POST", "/apple/notifications", Self.json, body)
      let response = try apple.response()
      #expect(response.status == 200)
      #expect(response.text == text)
    }
    let arguments = [
      "customer", "get", chain, "--by", "original-transaction", "--bundle-id",
      "\(SimulatedApp.bundleID)", "--output", "jsonl",
    ]
    let state = try await ProgramRun.of(
      .entitlectl, arguments + ["--server", "\(server.address)"])
    #expect(state.exit == .code(0), "\(state.errors)")
    let product = purchase.transactions[0].productID.rawValue
    #expect(state.output.contains(product), "\(state.output)")

    // The same by HTTP.
    let caller = try socket(server.httpAddresses)
    try caller.request(
      "POST", "/entitle.v1.EntitlementService/GetCustomerState", Self.json,
      Array(
        """
        {"customer":{"originalTransactionId":"\(chain)"},"bundleId":"\(SimulatedApp.bundleID)"}
        """.utf8))
    let response = try caller.response()
    #expect(response.status == 200)
    #expect(response.text.contains(product), "\(response.text)")
    try caller.request("GET", "/readyz")
    #expect(try caller.response().text == "ok\n")
    #expect(try await server.stop() == .code(0))
    #expect(!server.logText.contains(payload))

    let again = try await bench.startServer()
    let kept = try await ProgramRun.of(
      .entitlectl, arguments + ["--server", "\(again.address)"])
    #expect(kept.output.contains(product), "\(kept.output) \(kept.errors)")
    #expect(try await again.stop() == .code(0))
  }

  @Test("The metrics of a running server have all values of GetStatistics, and the HTTP responses")
  func metrics() async throws {
    let bench = try Bench()
    let server = try await bench.startServer(
      "--webhook-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", listeners: 3)
    let apple = try socket(server.webhookAddresses)
    try apple.request("POST", "/apple/notifications", Self.json, Array("{}".utf8))
    #expect(try apple.response().status == 400)
    let caller = try socket(server.httpAddresses)
    try caller.request("GET", "/nothing")
    #expect(try caller.response().status == 404)
    try caller.request("GET", "/metrics")
    let page = try caller.response()
    #expect(page.status == 200)
    #expect(page["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true)
    let lines = Set(page.text.split(separator: "\n"))
    for line in [
      #"entitle_http_responses_total{listener="http",status="404"} 1"#,
      #"entitle_http_responses_total{listener="webhook",status="400"} 1"#,
      #"entitle_http_connections{listener="webhook"} 1"#,
      #"entitle_http_connections_limit{listener="webhook"} 1024"#,
      "entitle_serving 1",
    ] {
      #expect(lines.contains(Substring(line)), "\(line)")
    }
    let connection = try await EntitlementClient.connect(to: server.address)
    let values = try await connection.statistics().counters.map {
      StatisticValue($0.name, $0.value)
    }
    await connection.close()
    #expect(StatisticMapping().families(of: values).unknown == [])
    #expect(values.contains { $0.name == "http.responses.http.200" && $0.value == 1 })

    try caller.request("GET", "/metrics", [("accept", "application/openmetrics-text")])
    let open = try caller.response()
    #expect(open["content-type"]?.hasPrefix("application/openmetrics-text") == true)
    #expect(open.text.hasSuffix("# EOF\n"))
    #expect(
      open.text.contains(
        #"rpc_system_name="connectrpc",rpc_method="entitle.v1.AdminService/GetStatistics""#))
    #expect(try await server.stop() == .code(0))
  }

  @Test("curl calls with TLS 1.2 and 1.3, with a token and without one")
  func curl() async throws {
    let bench = try Bench()
    let authority = try TLSAuthority("authority", in: bench.folder)
    let pair = try authority.issue("server", dns: ["localhost"])
    let token = AccessToken()
    let credentials = try bench.folder.write(
      """
      version: 1
      callers:
        - name: backend
          roles: [reader]
          tokens: [{id: \(token.id), sha256: "\(try token.digest.hexadecimal)", expires: never}]

      """, to: "credentials.yaml")
    let server = try await bench.startServer(
      "--http-listen", "tls:127.0.0.1:0", "--tls-certificate", pair.certificate, "--tls-key",
      pair.key, "--credentials", credentials, listeners: 2)
    guard case .tls(_, let port)? = server.httpAddresses.first else {
      throw HarnessFailure("no TLS address")
    }
    let path = "https://localhost:\(port)/entitle.v1.EntitlementService/GetCustomerState"
    let request = """
      {"customer":{"accountId":"customer-001"},"bundleId":"\(SimulatedApp.bundleID)"}
      """
    for version in ["1.2", "1.3"] {
      let arguments = [
        "--silent", "--cacert", authority.file, "--tlsv\(version)", "--tls-max", version, "-H",
        "content-type: application/json", "-d", request,
      ]
      let known = try curl(arguments + ["-H", "authorization: Bearer \(token.text)", path])
      #expect(known.contains("\"accountId\":\"customer-001\""), "\(known)")
      #expect(try curl(arguments + [path]).contains("\"code\":\"unauthenticated\""))
    }
    // Of TLS 1.2 only what authenticates as it encrypts. Level 0: curl offers the others at all.
    for (suite, isAccepted) in [
      ("ECDHE-ECDSA-AES128-GCM-SHA256", true), ("ECDHE-ECDSA-CHACHA20-POLY1305", true),
      ("ECDHE-ECDSA-AES128-SHA", false), ("ECDHE-ECDSA-AES256-SHA", false),
    ] {
      let answer = try curl([
        "--silent", "--cacert", authority.file, "--tlsv1.2", "--tls-max", "1.2", "--ciphers",
        "\(suite):@SECLEVEL=0", "https://localhost:\(port)/healthz",
      ])
      #expect(answer == (isAccepted ? "ok\n" : ""), "\(suite)")
    }
    #expect(try await server.stop() == .code(0))
  }

  @Test("Probes and metrics have a listener of their own, which serves nothing else")
  func probes() async throws {
    let bench = try Bench()
    let server = try await bench.startServer(
      "--http-listen", "127.0.0.1:0", "--probe-listen", "127.0.0.1:0", listeners: 3)
    let probe = try socket(server.probeAddresses)
    for (path, status) in [
      ("/healthz", 200), ("/readyz", 200), ("/metrics", 200), ("/apple/notifications", 404),
    ] {
      try probe.request("GET", path)
      #expect(try probe.response().status == status, "\(path)")
    }
    try probe.request(
      "POST", "/entitle.v1.AdminService/GetStatistics", Self.json, Array("{}".utf8))
    #expect(try probe.response().status == 404)
    let metrics = try socket(server.probeAddresses)
    try metrics.request("GET", "/metrics")
    #expect(try metrics.response().text.contains("entitle_http_connections{listener=\"probe\"} 2"))
    // As at the other listener for callers.
    let caller = try socket(server.httpAddresses)
    try caller.request("GET", "/healthz")
    #expect(try caller.response().text == "ok\n")
    #expect(try await server.stop() == .code(0))
  }

  private func curl(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["curl"] + arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }
}
