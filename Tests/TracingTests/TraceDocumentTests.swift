import TestSupport
import Testing
import TraceExport
import Tracing

@testable import Traces

@Suite(
  "Documents for a collector",
  .enabled(if: OpenTelemetryProto.isInstalled, "\(OpenTelemetryProto.absence)"))
struct TraceDocumentTests {
  private let buffer = SpanBuffer()
  private let resource = TraceResource(service: "entitled", version: "1.2.3", instance: "node-1")

  private func document() throws -> [OpenTelemetryProto.Span] {
    try OpenTelemetryProto.spans(in: TraceDocument.encode(buffer.take(), of: resource))
  }

  private func call(_ method: String = "a.B/C") throws -> CallSpan {
    CallTracer(ratio: 0, buffer: buffer).startCall(
      method, system: "ttrpc",
      in: try #require(
        TraceContext(
          parents: ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
          states: ["a=1"])),
      age: 1_000_000)
  }

  @Test("opentelemetry-proto reads every field")
  func fields() throws {
    let call = try call()
    let child = try #require(call.startChild("store.commit", .client, ["db.system.name": "sqlite"]))
    child.addEvent(SpanEvent(name: "an event", attributes: ["n": 1]))
    child.fail("unavailable")
    call.endCall(code: "UNAVAILABLE", isOK: false, isFault: true)
    CallTracer(ratio: 1, buffer: buffer)
      .startCall("a.B/D", system: "connectrpc", in: .root(), age: 0)
      .endCall(code: "NOT_FOUND", isOK: false, isFault: false)
    let spans = try document()
    try #require(spans.count == 3)
    #expect(
      spans[0].resource == [
        "service.name": "string_value:entitled", "service.version": "string_value:1.2.3",
        "service.instance.id": "string_value:node-1",
      ])
    #expect(spans.map(\.name) == ["store.commit", "a.B/C", "a.B/D"])
    #expect(spans.map(\.kind) == [3, 2, 2])
    #expect(spans.map(\.status) == [2, 2, 0])
    #expect(spans.map(\.flags) == [0x101, 0x301, 0x101])
    #expect(spans.map(\.state) == ["a=1", "a=1", ""])
    #expect(spans[1].trace == "4bf92f3577b34da6a3ce929d0e0e4736")
    #expect(spans[1].parent == "00f067aa0ba902b7")
    #expect(spans[0].trace == spans[1].trace)
    #expect(spans[0].parent == spans[1].span)
    #expect(spans[2].parent == "")
    #expect(spans[2].trace != spans[1].trace)
    #expect(spans[0].events == ["an event"])
    #expect(
      spans[0].attributes == [
        "db.system.name": "string_value:sqlite", "error.type": "string_value:unavailable",
      ])
    #expect(
      spans[1].attributes == [
        "rpc.system.name": "string_value:ttrpc", "rpc.method": "string_value:a.B/C",
        "rpc.response.status_code": "string_value:UNAVAILABLE",
        "error.type": "string_value:UNAVAILABLE",
      ])
    #expect(spans[1].end >= spans[1].start + 1_000_000)
    #expect(spans[1].start > 1_500_000_000_000_000_000)
  }

  @Test("Attributes of every type, and of any length, make a valid document")
  func attributes() throws {
    let call = try call("\u{1F600}\"\\\u{0}\n" + String(repeating: "\u{e4}", count: 500))
    call.updateAttributes { attributes in
      attributes["bool"] = true
      attributes["int"] = Int.min
      attributes["double"] = 0.5
      attributes["infinite"] = -Double.infinity
      attributes["nan"] = Double.nan
      attributes["texts"] = ["a", "b"]
      attributes["ints"] = SpanAttribute.int64Array([1, 2])
      attributes["long"] = String(repeating: "x", count: 100_000)
    }
    call.end()
    let many = try self.call()
    many.updateAttributes { attributes in
      for number in 0..<100 { attributes["k\(number)"] = number }
    }
    many.end()
    let spans = try document()
    try #require(spans.count == 2)
    let found = spans[0].attributes
    #expect(found["bool"] == "bool_value:True")
    #expect(found["int"] == "int_value:-9223372036854775808")
    #expect(found["double"] == "double_value:0.5")
    #expect(found["infinite"] == "double_value:-inf")
    #expect(found["nan"] == "double_value:nan")
    #expect(found["texts"] == "array_value:['a', 'b']")
    #expect(found["ints"] == "array_value:[1, 2]")
    #expect(found["long"]?.utf8.count == "string_value:".utf8.count + TraceLimits.textLength)
    #expect(spans[0].name.hasPrefix("\u{1F600}\"\\\u{0}\n\u{e4}"))
    #expect(spans[0].name.utf8.count <= TraceLimits.textLength)
    #expect(spans[1].attributes.count == TraceLimits.attributes)
    #expect(spans[1].dropped == 102 - TraceLimits.attributes)
  }
}
