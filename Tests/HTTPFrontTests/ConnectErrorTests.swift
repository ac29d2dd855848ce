import AccessControl
import Framing
import HTTPFront
import NIOCore
import RPCEndpoints
import RPCServer
import ServiceSupport
import StoreSimulator
import TestSupport
import Testing
import Wire

@Suite("Errors of the Connect protocol")
struct ConnectErrorTests {
  private static let json = [("content-type", "application/json")]

  @Test("Requests that are no call are refused with the status of HTTP")
  func noCalls() async throws {
    try await HTTPBench.run { bench async throws in
      let state = "/entitle.v1.EntitlementService/GetCustomerState"
      let watch = "/entitle.v1.EntitlementService/WatchCustomerStates"
      let cases: [(String, String, [(String, String)], Int)] = [
        ("POST", "/entitle.v1.EntitlementService/Nothing", Self.json, 404),
        ("POST", "/", Self.json, 404),
        ("GET", "/metrics", [], 404),
        ("PUT", state, Self.json, 405),
        ("DELETE", watch, Self.json, 405),
        ("GET", watch, [], 405),
        ("POST", "/healthz", Self.json, 405),
        ("POST", state, [], 415),
        ("POST", state, [("content-type", "text/plain")], 415),
        ("POST", state, [("content-type", "application/connect+json")], 415),
        ("POST", watch, Self.json, 415),
      ]
      for (method, path, fields, status) in cases {
        // One connection may not have so many.
        let socket = try HTTPSocket(bench.api)
        try socket.request(method, path, fields, method == "POST" ? Array("{}".utf8) : [])
        let response = try socket.response()
        #expect(response.status == status, "\(method) \(path)")
        #expect((response["allow"] != nil) == (status == 405))
      }
    }
  }

  @Test(
    "The end of a stream has its error, with details that replace those of the status, and metadata"
  )
  func endOfStream() {
    func text(_ end: ByteBuffer) -> String {
      var end = end
      #expect(end.readInteger(as: UInt8.self) == 2)
      #expect(end.readInteger(as: UInt32.self).map(Int.init) == end.readableBytes)
      return String(buffer: end)
    }
    let metadata = [(name: "a", values: ["1", "2\""]), (name: "b", values: [])]
    let status = RPCStatus(.aborted, retryDelay: .seconds(1))
    #expect(text(ConnectEnvelope.end(nil)) == "{}")
    #expect(
      text(ConnectEnvelope.end(nil, metadata: metadata))
        == #"{"metadata":{"a":["1","2\""],"b":[]}}"#)
    #expect(
      text(
        ConnectEnvelope.end(
          status, details: [(type: "x.Y", value: ByteBuffer(bytes: [1]))], metadata: metadata))
        == #"{"error":{"code":"aborted","details":[{"type":"x.Y","value":"AQ"}]},"#
        + #""metadata":{"a":["1","2\""],"b":[]}}"#)
    #expect(text(ConnectEnvelope.end(status, details: [])) == #"{"error":{"code":"aborted"}}"#)
    #expect(text(ConnectEnvelope.end(status)).contains("google.rpc.RetryInfo"))
  }

  @Test(
    "Refused calls have their code, its status of HTTP, and a text",
    arguments: [
      ("{\"customer\":{\"accountId\":\"a\"},\"bundleId\":5}", [], "invalid_argument", 400),
      ("not json", [], "invalid_argument", 400),
      ("{}", [], "invalid_argument", 400),
      ("{}", [("content-encoding", "gzip")], "unimplemented", 501),
      ("{}", [("connect-timeout-ms", "12345678901")], "invalid_argument", 400),
      ("{}", [("connect-timeout-ms", "-1")], "invalid_argument", 400),
      ("{}", [("connect-timeout-ms", "0")], "deadline_exceeded", 504),
      ("{}", [("connect-protocol-version", "2")], "invalid_argument", 400),
    ] as [(String, [(String, String)], String, Int)])
  func codes(body: String, fields: [(String, String)], code: String, status: Int) async throws {
    try await HTTPBench.run { bench async throws in
      let response = try bench.post(
        "entitle.v1.EntitlementService", "GetCustomerState", Array(body.utf8), fields)
      #expect(response.status == status, "\(response.text)")
      #expect(response.member("code") == code)
      #expect(response.member("message")?.isEmpty == false)
      #expect(response["content-type"] == "application/json")
    }
  }

  @Test("An error of JSON names the field and no value")
  func fields() async throws {
    try await HTTPBench.run { bench async throws in
      let response = try bench.post(
        "entitle.v1.EntitlementService", "GetCustomerState",
        Array("{\"customer\":{\"accountId\":{\"secret\":\"hunter2\"}}}".utf8))
      #expect(response.member("message")?.contains("customer.accountId") == true)
      #expect(!response.text.contains("hunter2"))
      #expect(response.text.contains("google.rpc.BadRequest"))
    }
  }

  @Test("Details are protobuf in unpadded base64")
  func details() async throws {
    try await HTTPBench.run { bench async throws in
      let response = try bench.post(
        "entitle.v1.AdminService", "AddGrant",
        Array(
          """
          {"bundleId":"\(SimulatedApp.bundleID)","environment":"STORE_ENVIRONMENT_PRODUCTION","accountId":"a",\
          "entitlementId":"unknown","reason":"r","onBehalfOf":"b"}
          """.utf8))
      #expect(response.status != 200)
      let status = RPCStatus(
        .resourceExhausted, "wait", errorInfo: RPCStatus.ErrorInfo(reason: "R", domain: "entitle"),
        retryDelay: .milliseconds(1_500))
      let details = status.details
      #expect(details.map(\.type) == ["google.rpc.ErrorInfo", "google.rpc.RetryInfo"])
      #expect(!response.text.contains("=\""), "\(response.text)")
    }
  }

  @Test("A stream is refused in its last message, and takes exactly one")
  func streams() async throws {
    try await HTTPBench.run { bench async throws in
      let message = enveloped(Array("{}".utf8))
      let cases: [([UInt8], [(String, String)], String)] = [
        ([], [], "unimplemented"),
        (message + message, [], "unimplemented"),
        (Array(message.dropLast()), [], "invalid_argument"),
        ([0, 0, 0], [], "invalid_argument"),
        (enveloped(Array("{}".utf8), flags: 1), [], "internal"),
        (enveloped(Array("{}".utf8), flags: 2), [], "invalid_argument"),
        (enveloped(Array("[]".utf8)), [], "invalid_argument"),
        (message, [("connect-content-encoding", "gzip")], "unimplemented"),
        (message, [("connect-timeout-ms", "0")], "deadline_exceeded"),
      ]
      let socket = try HTTPSocket(bench.api)
      for (body, fields, code) in cases {
        try socket.request(
          "POST", "/entitle.v1.EntitlementService/WatchCustomerStates",
          [("content-type", "application/connect+json")] + fields, body)
        let response = try socket.response()
        #expect(response.status == 200)
        #expect(response["content-type"] == "application/connect+json")
        #expect(response.body.first == 2)
        #expect(response.text.contains("\"code\":\"\(code)\""), "\(response.text)")
      }
    }
  }

  @Test("Callers have the permissions and the scopes of their tokens")
  func access() async throws {
    let reader = BenchAccess.Member(
      name: "reader", fields: "roles: [reader]\napps: {\(SimulatedApp.bundleID): [Production]}")
    let access = try BenchAccess([reader])
    try await HTTPBench.run(access: access) { bench async throws in
      func state(_ bundleID: String, _ fields: [(String, String)]) throws -> HTTPSocket.Response {
        try bench.post(
          "entitle.v1.EntitlementService", "GetCustomerState",
          Array(
            """
            {"customer":{"accountId":"a"},"bundleId":"\(bundleID)","environment":"STORE_ENVIRONMENT_PRODUCTION"}
            """.utf8), fields)
      }
      let token = reader.metadata.map { ($0.key, $0.value) }
      #expect(try state("\(SimulatedApp.bundleID)", token).status == 200)
      let missing = try state("\(SimulatedApp.bundleID)", [])
      #expect(missing.status == 401)
      #expect(missing.member("code") == "unauthenticated")
      #expect(missing["www-authenticate"] == "Bearer")
      let wrong = [("authorization", "Bearer \(AccessToken().text)")]
      #expect(try state("\(SimulatedApp.bundleID)", wrong).status == 401)
      #expect(try state("\(SimulatedApp.bundleID)", token + token).status == 401)
      let invalid = try bench.post(
        "entitle.v1.EntitlementService", "GetCustomerState", Array("no json".utf8), wrong)
      #expect(invalid.status == 401)
      let scope = try state("com.example.other", token)
      #expect(scope.status == 403)
      #expect(scope.text.contains("google.rpc.ErrorInfo"))
      let permission = try bench.post(
        "entitle.v1.AdminService", "GetStatistics", Array("{}".utf8), token)
      #expect(permission.member("code") == "permission_denied")

      // A long message of an unknown caller is not even converted: it would be invalid.
      let long = Array("\"".utf8) + [UInt8](repeating: 0x61, count: 100_000)
      let path = ("entitle.v1.EntitlementService", "GetCustomerState")
      #expect(try bench.post(path.0, path.1, long, []).status == 401)
      #expect(try bench.post(path.0, path.1, long, token).status == 400)
    }
  }

  @Test("Probes need no token, and metrics the permission for them")
  func probes() async throws {
    let reader = BenchAccess.Member(name: "reader", fields: "roles: [reader]")
    let monitor = BenchAccess.Member(name: "monitor", fields: "roles: [metrics]")
    let access = try BenchAccess([reader, monitor])
    let site = APISite { counters, accept in
      let calls = counters.first { $0.name == "calls.PERMISSION_DENIED" }
      return ("text/plain; version=0.0.4", Array("\(accept ?? "none") \(calls?.value ?? -1)".utf8))
    }
    try await HTTPBench.run(access: access, site: site) { bench async throws in
      #expect(try bench.get("/healthz").text == "ok\n")
      bench.service.health.set(isServing: true)
      #expect(try bench.get("/readyz").status == 200)
      bench.service.health.set(isServing: false)
      let down = try bench.get("/readyz")
      #expect(down.status == 503)
      #expect(down["retry-after"] == "1")
      #expect(try bench.get("/healthz").status == 200)

      #expect(try bench.get("/metrics").status == 401)
      let denied = try bench.get("/metrics", reader.metadata.map { ($0.key, $0.value) })
      #expect(denied.status == 403)
      let allowed = monitor.metadata.map { ($0.key, $0.value) }
      let metrics = try bench.get("/metrics", allowed)
      #expect(metrics.text == "none 1")
      #expect(metrics["content-type"] == "text/plain; version=0.0.4")
      #expect(try bench.get("/metrics", allowed + [("accept", "text/html")]).text == "text/html 1")
    }
  }

  @Test("A local listener answers no request for the name of another machine")
  func localNames() async throws {
    try await HTTPBench.run(site: APISite(isLocal: true)) { bench async throws in
      let cases = [
        ("localhost", 200), ("LOCALHOST:7180", 200), ("127.0.0.1:7180", 200), ("[::1]:7180", 200),
        ("[::1]", 200), ("rebound.example:7180", 421), ("localhost.example", 421),
        ("127.0.0.1.example", 421), ("", 421),
      ]
      for (host, status) in cases {
        let socket = try HTTPSocket(bench.api)
        try socket.send("GET /healthz HTTP/1.1\r\nhost: \(host)\r\n\r\n")
        #expect(try socket.response().status == status, "\(host)")
      }
    }
  }

  @Test("A connection that tries tokens is closed")
  func guesses() async throws {
    try await HTTPBench.run(access: try BenchAccess([])) { bench async throws in
      let socket = try HTTPSocket(bench.api)
      var refused = 0
      // At most as many as tokens, if the machine is so slow that they are refilled.
      while refused < 1_000 {
        do {
          try socket.request(
            "POST", "/entitle.v1.AdminService/GetStatistics",
            Self.json + [("authorization", "Bearer \(AccessToken().text)")], Array("{}".utf8))
          #expect(try socket.response().status == 401)
          refused += 1
        } catch is HTTPSocket.Failure {
          break
        }
      }
      #expect(refused > 10)
      #expect(refused < 1_000)
    }
  }

  @Test("Only pages of the named origins may read answers")
  func crossOrigin() async throws {
    let site = APISite(crossOrigin: CrossOrigin(["https://admin.example.com"]))
    try await HTTPBench.run(site: site) { bench async throws in
      func ask(_ origin: String, _ method: String) throws -> HTTPSocket.Response {
        let socket = try HTTPSocket(bench.api)
        try socket.request(
          method, "/entitle.v1.EntitlementService/GetCustomerState",
          [
            ("origin", origin), ("access-control-request-method", "POST"),
            ("access-control-request-headers", "content-type"),
            ("content-type", "application/json"),
          ], method == "POST" ? Array("{}".utf8) : [])
        return try socket.response()
      }
      let preflight = try ask("https://admin.example.com", "OPTIONS")
      #expect(preflight.status == 204)
      #expect(preflight["access-control-allow-origin"] == "https://admin.example.com")
      #expect(preflight["access-control-allow-methods"] == "GET, POST")
      #expect(
        preflight["access-control-allow-headers"]
          == "Authorization, Connect-Protocol-Version, Connect-Timeout-Ms, Content-Type")
      #expect(preflight["access-control-max-age"] == "7200")
      #expect(preflight["access-control-allow-credentials"] == nil)
      #expect(preflight["vary"] == "Origin")
      let actual = try ask("https://admin.example.com", "POST")
      #expect(actual["access-control-allow-origin"] == "https://admin.example.com")
      for origin in ["https://admin.example.com.evil.example", "http://admin.example.com", "null"] {
        #expect(try ask(origin, "OPTIONS")["access-control-allow-origin"] == nil)
        #expect(try ask(origin, "POST")["access-control-allow-origin"] == nil)
      }
    }
    try await HTTPBench.run { bench async throws in
      let response = try bench.get("/healthz", [("origin", "https://admin.example.com")])
      #expect(response["access-control-allow-origin"] == nil)
      #expect(response["vary"] == nil)
    }
    #expect(CrossOrigin.isOrigin("https://a.example:8443"))
    for text in ["*", "null", "a.example", "https://a.example/", "https://a.example/x", "ftp://a"] {
      #expect(!CrossOrigin.isOrigin(text), "\(text)")
    }
  }
}
