import AccessControl
import EntitlementDomain
import Framing
import HTTPFront
import NIOCore
import RPCClient
import ServiceSupport
import StoreSimulator
import TestSupport
import Testing
import Wire

/// Every method by HTTP, compared with the framed front.
@Suite("Methods by the Connect protocol")
struct ConnectMethodTests {
  /// What a call gave, by either front.
  enum Outcome: Equatable {
    case answer
    case failure(RPCCode)
  }

  private func framed(
    _ sample: MethodSample, on connection: RPCConnection
  ) async throws -> (Outcome, ByteBuffer) {
    do {
      if sample.isStream {
        let stream = connection.serverStream(
          service: sample.service, method: sample.name, payload: sample.payload)
        var iterator = stream.makeAsyncIterator()
        return (.answer, try await iterator.next() ?? ByteBuffer())
      }
      let payload = try await connection.call(
        service: sample.service, method: sample.name, payload: sample.payload)
      return (.answer, payload)
    } catch {
      guard case .status(let code) = error.code else { throw error }
      return (.failure(code), ByteBuffer())
    }
  }

  @Test("Every method is reached with JSON and protobuf, and answers as by ttrpc")
  func everyMethod() async throws {
    try await HTTPBench.run { bench async throws in
      try await bench.service.submit(.renewals)
      let connection = try await RPCConnection.connect(to: RPCTarget(bench.service.addresses[0]))
      var checked = Set<String>()
      for sample in try MethodSample.all() where sample.name != "WatchCustomerStates" {
        let method = try #require(bench.description(sample.name, sample.service))
        let (expected, payload) = try await framed(sample, on: connection)
        for codec in ["json", "proto"] {
          let request =
            codec == "json"
            ? try method.request.json(of: sample.payload) : Array(sample.payload.readableBytesView)
          let socket = try HTTPSocket(bench.api)
          try socket.request(
            "POST", "/\(sample.service)/\(sample.name)",
            [
              (
                "content-type",
                sample.isStream ? "application/connect+\(codec)" : "application/\(codec)"
              )
            ],
            sample.isStream ? enveloped(request) : request)
          let outcome: Outcome
          let answer: [UInt8]
          if sample.isStream {
            #expect(try socket.head().status == 200)
            let first = try socket.envelope()
            answer = first.message
            outcome = first.flags == 0 ? .answer : .failure(try code(inEndOf: first.message))
          } else {
            let response = try socket.response()
            answer = response.body
            outcome = response.status == 200 ? .answer : .failure(try code(of: response))
          }
          #expect(outcome == expected, "\(sample.name) \(codec)")
          checked.insert("\(sample.service)/\(sample.name)")
          // What depends on the moment or on earlier calls is compared by its outcome alone.
          guard outcome == .answer, Self.stable.contains(sample.name) else { continue }
          let same =
            codec == "json"
            ? try method.response.json(of: payload) : Array(payload.readableBytesView)
          #expect(answer == same, "\(sample.name) \(codec)")
        }
      }
      checked.insert("\(ServiceNames.entitlements)/WatchCustomerStates")
      #expect(checked == Set(WireMethods.all.map { "\($0.service)/\($0.name)" }))
      await connection.close()
    }
  }

  private static let stable: Set = [
    "GetCustomerState", "BatchGetCustomerState", "CheckEntitlement", "ExplainCustomerState",
    "ListCustomers", "ResolveAccount", "ListLinks", "ListGrants", "GetCatalog", "WhoAmI",
    "SubmitNotification", "SubmitReceipt",
  ]

  private func code(of response: HTTPSocket.Response) throws -> RPCCode {
    let name = try #require(response.member("code"), "\(response.status) \(response.text)")
    return try #require(RPCCode.allCases.first { Self.connectName($0) == name })
  }

  private func code(inEndOf message: [UInt8]) throws -> RPCCode {
    let text = String(decoding: message, as: UTF8.self)
    return try #require(
      RPCCode.allCases.first { text.contains("\"code\":\"\(Self.connectName($0))\"") }, "\(text)")
  }

  private static func connectName(_ code: RPCCode) -> String {
    code == .cancelled ? "canceled" : code.name.lowercased()
  }

  @Test("A state by JSON has the fields of the state, on one connection again and again")
  func state() async throws {
    try await HTTPBench.run { bench async throws in
      let account = try await bench.service.submit(.renewals)
      let socket = try HTTPSocket(bench.api)
      let request = """
        {"customer":{"accountId":"\(account)"},"bundleId":"\(SimulatedApp.bundleID)",\
        "environment":"STORE_ENVIRONMENT_PRODUCTION"}
        """
      var bodies: Set<String> = []
      for _ in 0..<20 {
        try socket.request(
          "POST", "/entitle.v1.EntitlementService/GetCustomerState",
          [("content-type", "application/json; charset=utf-8"), ("connect-protocol-version", "1")],
          Array(request.utf8))
        let response = try socket.response()
        #expect(response.status == 200, "\(response.text)")
        #expect(response["content-type"] == "application/json")
        #expect(response["connection"] == nil)
        #expect(response["date"]?.hasSuffix(" GMT") == true)
        bodies.insert(response.text)
      }
      #expect(bodies.count == 1)
      #expect(bodies.first?.contains("\"accountId\":\"\(account)\"") == true, "\(bodies)")
    }
  }

  @Test("A watch sends each change as it is committed, and ends at its timeout")
  func watch() async throws {
    try await HTTPBench.run { bench async throws in
      let socket = try HTTPSocket(bench.api)
      try socket.request(
        "POST", "/entitle.v1.EntitlementService/WatchCustomerStates",
        [("content-type", "application/connect+json"), ("connect-timeout-ms", "600000")],
        enveloped(Array("{\"cursor\":\"0\"}".utf8)))
      let head = try socket.head()
      #expect(head.status == 200)
      #expect(head["content-type"] == "application/connect+json")
      let account = try await bench.service.submit(.renewals)
      var text = ""
      while !text.contains("\"accountId\":\"\(account)\"") {
        let next = try socket.envelope()
        #expect(next.flags == 0, "\(String(decoding: next.message, as: UTF8.self))")
        if next.flags != 0 { return }
        text = String(decoding: next.message, as: UTF8.self)
      }

      let short = try HTTPSocket(bench.api)
      try short.request(
        "POST", "/grpc.health.v1.Health/Watch",
        [("content-type", "application/connect+json"), ("connect-timeout-ms", "50")],
        enveloped(Array("{}".utf8)))
      _ = try short.head()
      var end = try short.envelope()
      // The present status, if it was sent in time.
      if end.flags == 0 { end = try short.envelope() }
      #expect(end.flags == 2)
      #expect(
        String(decoding: end.message, as: UTF8.self).contains("\"code\":\"deadline_exceeded\""))
    }
  }

  /// Percent-encoded.
  private static func escaped(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return "%" + (digits.count < 2 ? "0" : "") + digits
    }.joined()
  }

  @Test("Reads are called by GET, with the message in the query")
  func get() async throws {
    try await HTTPBench.run { bench async throws in
      let account = try await bench.service.submit(.renewals)
      let request = GetCustomerStateRequest(
        customer: .account(account), scope: ServiceBench.scope)
      let wire = try request.encoded()
      let type = GetCustomerStateRequest.messageType
      let json = try type.json(of: wire)
      let path = "/entitle.v1.EntitlementService/GetCustomerState"
      let posted = try bench.post(
        "entitle.v1.EntitlementService", "GetCustomerState", json)
      let got = try bench.get(
        "\(path)?connect=v1&encoding=json&message=\(Self.escaped(json))&other=1")
      #expect(got.status == 200, "\(got.text)")
      #expect(got.body == posted.body)
      #expect(got["cache-control"] == "no-store")
      #expect(posted["cache-control"] == nil)
      var base64: [UInt8] = []
      wire.withUnsafeReadableBytes { base64.appendBase64($0) }
      let text = String(decoding: base64, as: UTF8.self).replacing("+", with: "-")
        .replacing("/", with: "_").replacing("=", with: "")
      let binary = try bench.get("\(path)?message=\(text)&encoding=proto&base64=1")
      #expect(binary.status == 200, "\(binary.text)")
      #expect(binary["content-type"] == "application/proto")

      #expect(try bench.get("\(path)?encoding=xml&message=").status == 415)
      #expect(try bench.get("\(path)?encoding=json").member("code") == "invalid_argument")
      #expect(
        try bench.get("\(path)?encoding=json&message=%7").member("code") == "invalid_argument")
      #expect(
        try bench.get("\(path)?encoding=proto&message=*&base64=1").member("code")
          == "invalid_argument")
      #expect(
        try bench.get("\(path)?encoding=json&message=%7B%7D&connect=v2").member("code")
          == "invalid_argument")
      #expect(
        try bench.get("\(path)?encoding=json&message=%7B%7D&compression=gzip").member("code")
          == "unimplemented")
      // A fetch stores what it finds. The message says it, whatever else the request has.
      let fetch =
        #"{"customer":{"originalTransactionId":"1"},"bundleId":"\#(ServiceBench.scope.bundleID)","#
        + #""fetchIfUnknown":true}"#
      let fetched = try bench.get(
        "\(path)?encoding=json&message=\(Self.escaped(Array(fetch.utf8)))")
      #expect(fetched.member("code") == "invalid_argument", "\(fetched.text)")
      #expect(fetched.text.contains("POST"))
      let asked = try bench.post(
        "entitle.v1.EntitlementService", "GetCustomerState", Array(fetch.utf8))
      #expect(asked.member("code") != "invalid_argument", "\(asked.text)")

      let write = try bench.get("/entitle.v1.AdminService/AddGrant?encoding=json&message=%7B%7D")
      #expect(write.status == 405)
      #expect(write["allow"] == "POST")
    }
  }
}
