import EntitlementDomain
import Foundation
import Framing
import NIOCore
import StoreSimulator
import TestSupport
import Testing
import Wire

/// A collector of traces beside a running server.
@Suite("Traces of a running server", .timeLimit(.minutes(5)))
struct TraceTests {
  private static let parent = "00f067aa0ba902b7"

  /// A trace for each call, so that its spans are found.
  private static func trace(_ number: Int) -> String {
    "4bf92f3577b34da6a3ce929d0e0e47" + String(format: "%02x", number)
  }

  private static func traceparent(_ number: Int, _ flags: String = "01") -> String {
    "00-\(trace(number))-\(parent)-\(flags)"
  }

  private static func metadata(_ number: Int, _ flags: String = "01") -> [(
    key: String, value: String
  )] {
    [(key: "traceparent", value: traceparent(number, flags))]
  }

  private func counter(_ name: String, of server: RunningServer) async throws -> String? {
    let run = try await Bench.control(server, "statistics", "--output", "json")
    guard case .array(let counters)? = try run.document(JSONTree.self)["counters"] else {
      throw HarnessFailure("no counters: \(run.output) \(run.errors)")
    }
    return counters.first { $0["name"]?.text == name }?["value"]?.text
  }

  private func spans(_ stub: CollectorStub) throws -> [OpenTelemetryProto.Span] {
    try stub.requests.flatMap { try OpenTelemetryProto.spans(in: $0.body) }
  }

  @Test(
    "Calls by ttrpc and HTTP with a sampled parent have spans when the server has stopped",
    .enabled(if: OpenTelemetryProto.isInstalled, "\(OpenTelemetryProto.absence)"))
  func spans() async throws {
    let stub = try CollectorStub()
    let bench = try Bench()
    let headers = try bench.folder.write("x-key: secret-of-the-collector\n", to: "headers")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: headers)
    let server = try await bench.startServer(
      "--http-listen", "127.0.0.1:0", "--otlp-endpoint", stub.url, "--otlp-headers-file", headers,
      listeners: 2)
    let facts = try bench.signed(.renewals).flatMap(\.facts)
    let client = try RawClient(server.address)
    let refused = try SubmitSignedTransactionsRequest(
      signedPayloads: ["a.b.c"], accountID: "customer-of-a-trace"
    ).encoded()
    let submission = try SubmitSignedTransactionsRequest(
      signedPayloads: facts, accountID: "customer-of-a-trace"
    ).encoded()
    let read = try GetCustomerStateRequest(
      customer: .account("customer-of-a-trace"), scope: Bench.scope
    ).encoded()
    let submit = WireMethods.submitSignedTransactions
    let get = WireMethods.getCustomerState
    let calls = [
      Frames.request(1, submit, refused, metadata: Self.metadata(1)),
      Frames.request(3, submit, submission, metadata: Self.metadata(2)),
      // From the store.
      Frames.request(5, get, read, metadata: Self.metadata(3)),
      Frames.request(9, get, read, metadata: Self.metadata(5, "00")),
      Frames.request(11, get, read),
    ]
    for call in calls {
      try client.send(call)
      #expect(try client.receiveCode() == "OK")
    }
    // From memory, once the server has followed its own writes.
    var stream: UInt32 = 13
    try await eventually {
      try client.send(Frames.request(stream, get, read))
      #expect(try client.receiveCode() == "OK")
      stream += 2
      return try await counter("cache.hits", of: server) != "0"
    }
    try client.send(Frames.request(stream, get, read, metadata: Self.metadata(4)))
    #expect(try client.receiveCode() == "OK")
    guard case .tcp(_, let port)? = server.httpAddresses.first else {
      throw HarnessFailure("no address")
    }
    let http = try HTTPSocket(port: port)
    let body = """
      {"customer":{"accountId":"customer-of-a-trace"},"bundleId":"\(SimulatedApp.bundleID)"}
      """
    for (number, flags) in [(6, "01"), (7, "00")] {
      try http.request(
        "POST", "/entitle.v1.EntitlementService/GetCustomerState",
        [("content-type", "application/json"), ("traceparent", Self.traceparent(number, flags))],
        Array(body.utf8))
      #expect(try http.response().status == 200)
    }
    #expect(try await server.stop() == .code(0))

    let all = try spans(stub)
    func of(_ number: Int) -> [OpenTelemetryProto.Span] {
      all.filter { $0.trace == Self.trace(number) }.sorted { $0.start < $1.start }
    }
    #expect(Set(all.map(\.trace)) == Set([1, 2, 3, 4, 6].map(Self.trace)))
    for number in [1, 2, 3, 4, 6] {
      let call = try #require(of(number).first)
      #expect(call.parent == Self.parent)
      #expect(call.kind == 2)
      #expect(of(number).dropFirst().allSatisfy { $0.parent == call.span && $0.end <= call.end })
      #expect(call.attributes["rpc.response.status_code"] == "string_value:OK")
      #expect(
        call.attributes["rpc.system.name"]
          == (number == 6 ? "string_value:connectrpc" : "string_value:ttrpc"))
    }
    #expect(of(1).map(\.name) == ["\(submit.service)/\(submit.name)", "verification"])
    #expect(
      of(2).map(\.name) == [
        "\(submit.service)/\(submit.name)", "verification", "store.commit",
      ])
    #expect(of(3).map(\.name) == ["\(get.service)/\(get.name)", "store.customers"])
    for number in [4, 6] {
      #expect(of(number).first?.name == "\(get.service)/\(get.name)")
      // From memory, unless the commit arrived in the feed after the first read.
      #expect(of(number).dropFirst().allSatisfy { $0.name == "store.customers" })
    }
    #expect(of(1)[1].attributes["entitle.verification.verdict"] == "string_value:MALFORMED")
    #expect(of(2)[1].attributes["entitle.verification.verdict"] == "string_value:OK")
    #expect(of(2)[1].attributes["entitle.verification.payloads"] == "int_value:\(facts.count)")
    #expect(of(2)[1].events == ["verification began"])
    #expect(of(2)[2].attributes["db.system.name"] == "string_value:sqlite")
    #expect(all.allSatisfy { $0.resource["service.name"] == "string_value:entitled" })

    // The line about the refused payload has the ids of its call, and the others have none.
    let lines = server.logText.split(separator: "\n").compactMap {
      try? JSONTree(parsing: $0.utf8)
    }
    let traced = lines.filter { $0["trace_id"] != nil }
    #expect(traced.compactMap { $0["message"]?.text } == ["refused a signed payload"])
    #expect(traced.first?["trace_id"]?.text == Self.trace(1))
    #expect(traced.first?["span_id"]?.text == of(1).first?.span)

    #expect(stub.requests.allSatisfy { $0.fields["x-key"] == "secret-of-the-collector" })
    #expect(!server.logText.contains("secret-of-the-collector"))
    for request in stub.requests {
      let text = String(decoding: request.body, as: UTF8.self)
      #expect(!text.contains("customer-of-a-trace") && !text.contains("eyJ"))
    }
  }

  @Test(
    "With a ratio of 1 every call is traced, and the counters tell what became of the spans",
    .enabled(if: OpenTelemetryProto.isInstalled, "\(OpenTelemetryProto.absence)"))
  func ratio() async throws {
    let stub = try CollectorStub([.init(400)])
    let bench = try Bench()
    let server = try await bench.startServer("--otlp-endpoint", stub.url, "--trace-ratio", "1")
    #expect(try await counter("traces.buffered_limit", of: server) == "4096")
    // The span of each look waits for the next export, which may come before the second look.
    try await eventually { try await counter("traces.buffered", of: server) != "0" }
    #expect(try await server.stop() == .code(0))
    // The line says it once.
    #expect(try await server.logged("traces cannot be exported").reason == "HTTP status 400")
    let names = Set(try spans(stub).map(\.name))
    #expect(names.contains("entitle.v1.AdminService/GetStatistics"), "\(names)")
  }

  @Test("Without a collector no call is traced, and nothing is different")
  func off() async throws {
    let bench = try Bench()
    let server = try await bench.startServer()
    let client = try RawClient(server.address)
    let read = try GetCustomerStateRequest(
      customer: .account("customer"), scope: Bench.scope
    ).encoded()
    for stream: UInt32 in [1, 3] {
      try client.send(
        Frames.request(stream, WireMethods.getCustomerState, read, metadata: Self.metadata(1)))
      #expect(try client.receiveCode() == "OK")
    }
    #expect(try await server.stop() == .code(0))
    #expect(!server.logText.contains("trace_id"))
  }

  @Test(
    "Settings of traces that cannot be meant are errors, and show no secret",
    arguments: [
      (
        ["--otlp-endpoint", "http://traces.example.com:4318"],
        "otlp_endpoint: http://traces.example.com:4318: other machines"
      ),
      (
        ["--otlp-endpoint", "https://u:hunter2@traces.example.com"],
        "otlp_endpoint: it may have no user, password, query or fragment; secrets belong into "
          + "otlp_headers_file"
      ),
      (["--trace-ratio", "0.5"], "trace_ratio: requires otlp_endpoint"),
      (["--otlp-headers-file", "/x"], "otlp_headers_file: requires otlp_endpoint"),
      (
        ["--otlp-endpoint", "http://127.0.0.1:1", "--trace-ratio", "1.1"],
        "trace_ratio: a number from 0 to 1"
      ),
      (
        ["--otlp-endpoint", "http://127.0.0.1:1", "--trace-ratio", "nan"],
        "trace_ratio: a number from 0 to 1"
      ),
      (
        ["--otlp-endpoint", "http://127.0.0.1:1", "--trace-ratio", "x"],
        "trace_ratio: a number from 0 to 1"
      ),
      (
        ["--otlp-endpoint", "http://127.0.0.1:1", "--otlp-headers-file", "/nonexistent"],
        "otlp_headers_file: /nonexistent: the file does not exist"
      ),
    ])
  func settings(flags: [String], message: String) async throws {
    let bench = try Bench()
    let run = try await ProgramRun.of(
      .entitled, ["--check-config", "--catalog", bench.catalogPath] + flags)
    #expect(run.exit == .code(78))
    #expect(run.errors.contains(message), "\(run.errors)")
    #expect(!run.errors.contains("hunter2"))
  }

  @Test("A file of header fields that others may read, or with a wrong line, is refused")
  func headersFile() async throws {
    let bench = try Bench()
    for (text, mode, message) in [
      ("x-key: hunter2\n", 0o644, "other users may read or write it"),
      ("hunter2\n", 0o600, "line 1: NAME: VALUE is expected"),
    ] {
      let path = try bench.folder.write(text, to: "headers-\(mode)")
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      let flags = [
        "--catalog", bench.catalogPath, "--otlp-endpoint", "http://127.0.0.1:1",
        "--otlp-headers-file", path, "--store", "sqlite:\(bench.databasePath)", "--create",
      ]
      for more in [["--check-config"], ["--listen", "127.0.0.1:0"]] {
        let run = try await ProgramRun.of(.entitled, flags + more)
        #expect(run.exit == .code(78))
        #expect(run.errors.contains(message), "\(run.errors)")
        #expect(!run.errors.contains("hunter2"))
      }
    }
  }

  @Test("The settings in force are shown, of the file too")
  func summary() async throws {
    let bench = try Bench()
    for (ratio, shown) in [("0.25", "0.25"), ("1", "1.0"), ("0", "0.0"), ("1e-3", "0.001")] {
      let file = try bench.folder.write(
        """
        catalog: \(bench.catalogPath)
        otlp_endpoint: http://127.0.0.1:4318
        trace_ratio: \(ratio)
        """, to: "settings.yaml")
      let run = try await ProgramRun.of(.entitled, ["--check-config", "--config", file])
      #expect(run.exit == .code(0), "\(run.errors)")
      #expect(run.output.contains("\ntrace_ratio: \(shown)\n"), "\(run.output)")
      #expect(run.output.contains("\notlp_endpoint: http://127.0.0.1:4318\n"))
    }
  }
}
