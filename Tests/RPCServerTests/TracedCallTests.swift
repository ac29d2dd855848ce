import AccessControl
import Cryptography
import EntitlementDomain
import Framing
import NIOCore
import Testing
import Traces
import Tracing
import Wire

@testable import RPCServer

@Suite("Traced calls")
struct TracedCallTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let limits = RPCLimits()

  private let buffer = SpanBuffer()

  private func connection(
    ratio: Double = 0, credentials: CredentialsHolder? = nil, front: CallFront = .ttrpc
  ) throws -> EmbeddedConnection {
    try EmbeddedConnection(
      Self.limits, credentials: credentials, front: front,
      tracer: CallTracer(ratio: ratio, buffer: buffer))
  }

  private func parent(_ flags: String, _ state: String? = nil) -> [(key: String, value: String)] {
    [(key: "traceparent", value: "00-\(Self.trace)-00f067aa0ba902b7-\(flags)")]
      + (state.map { [(key: "tracestate", value: $0)] } ?? [])
  }

  @Test(
    "A call with a sampled parent leaves the immediate answers, and the client sees no difference")
  func sampled() throws {
    let connection = try connection()
    try connection.receive(
      Frames.request(1, "Immediate", "h", metadata: parent("00")),
      Frames.request(3, "Immediate", "h"),
      Frames.request(5, "Immediate", "h", metadata: parent("01", "a=1")),
      Frames.request(7, "Immediate", "h", metadata: parent("02")),
      Frames.request(9, "Fail", metadata: parent("01")))
    #expect(try connection.sent().map { $0.prefix(4) } == ["1 OK", "3 OK", "5 OK", "7 OK", "9 NO"])
    let spans = buffer.take()
    #expect(spans.map(\.name) == ["test.Service/Immediate", "test.Service/Fail"])
    #expect(spans.map(\.parent.traceID.hexadecimal) == [Self.trace, Self.trace])
    #expect(
      spans.map { $0.parent.spanID?.hexadecimal } == ["00f067aa0ba902b7", "00f067aa0ba902b7"])
    #expect(spans.map(\.parent.state) == ["a=1", ""])
    #expect(spans[0].attributes.get("rpc.response.status_code") == .string("OK"))
    #expect(spans[0].attributes.get("rpc.system.name") == .string("ttrpc"))
    #expect(spans[0].attributes.get("error.type") == nil)
    #expect(spans[1].attributes.get("error.type") == .string("NOT_FOUND"))
    #expect(spans.allSatisfy { $0.status == nil })
    #expect(connection.statistics.calls.total == 5)
  }

  @Test("Parents that are not valid count as none: nothing, or by chance", arguments: [0.0, 1.0])
  func invalid(ratio: Double) throws {
    let connection = try connection(ratio: ratio)
    try connection.receive(
      Frames.request(1, "Immediate", "h", metadata: parent("01") + parent("01")),
      Frames.request(3, "Echo", "a", metadata: [(key: "traceparent", value: "01")]),
      Frames.request(
        5, "Echo", "a",
        metadata: [(key: "traceparent", value: String(repeating: "1", count: 55))]))
    #expect(try connection.sent().count == 3)
    let spans = buffer.take()
    #expect(spans.count == (ratio == 0 ? 0 : 3))
    #expect(
      spans.allSatisfy { $0.parent.spanID == nil && $0.parent.traceID.hexadecimal != Self.trace })
    #expect(Set(spans.map(\.parent.traceID)).count == spans.count)
  }

  @Test("With a ratio of 1 every call is traced, but those whose callers decided otherwise")
  func everything() throws {
    let connection = try connection(ratio: 1)
    try connection.receive(
      Frames.request(1, "Immediate", "h"), Frames.request(3, "Immediate", "h"),
      Frames.request(5, "Echo", "a"), Frames.request(7, "Immediate", "h", metadata: parent("00")),
      Frames.request(9, "Echo", "a", metadata: parent("00")))
    #expect(try connection.sent().count == 5)
    #expect(
      buffer.take().map(\.name) == [
        "test.Service/Immediate", "test.Service/Immediate", "test.Service/Echo",
      ])
  }

  @Test("Calls by chance are as many as the ratio says, whichever way they take")
  func chance() throws {
    let connection = try connection(ratio: 0.1)
    for call in 0..<2_000 {
      try connection.receive(
        Frames.request(UInt32(4 * call + 1), "Immediate", "h"),
        Frames.request(UInt32(4 * call + 3), "Echo", "a"))
    }
    #expect(try connection.sent().count == 4_000)
    var names: [String: Int] = [:]
    while case let batch = buffer.take(), !batch.isEmpty {
      for span in batch { names[span.name, default: 0] += 1 }
    }
    // Each is binomial with a mean of 200 and a deviation of 13.
    for name in ["test.Service/Immediate", "test.Service/Echo"] {
      #expect((120...280).contains(names[name] ?? 0), "\(name)")
    }
  }

  @Test("Whoever is not known, and a method that is open to everyone, has no span")
  func strangers() throws {
    let token = AccessToken()
    let contents = try CredentialsFile.parse(
      """
      version: 1
      callers:
        - name: backend
          roles: [reader]
          tokens: [{id: \(token.id), sha256: "\(try token.digest.hexadecimal)", expires: never}]
      """, user: { _ in nil })
    let connection = try connection(
      ratio: 1, credentials: CredentialsHolder(contents, digest: "d") { 1_800_000_000_000 })
    try connection.receive(
      Frames.request(1, "Echo", "a", metadata: parent("01")),
      Frames.request(3, "Open", "a", metadata: parent("01")))
    #expect(try connection.sent().sorted() == ["1 UNAUTHENTICATED", "3 OK a"])
    #expect(buffer.take().isEmpty)
    try connection.receive(
      Frames.request(
        5, "Echo", "a",
        metadata: parent("01") + [(key: "authorization", value: "Bearer \(token.text)")]))
    #expect(buffer.take().count == 1)
  }

  @Test("Calls of the webhook, which anybody can cause, have no span")
  func webhook() throws {
    let connection = try connection(ratio: 1, front: .notifications)
    try connection.receive(
      Frames.request(1, "Immediate", "h"), Frames.request(3, "Echo", "a"),
      Frames.request(5, "Echo", "a", metadata: parent("01")))
    #expect(try connection.sent().count == 3)
    #expect(buffer.take().isEmpty)
  }

  @Test("A call that ends without its answer, and a stream, end their spans once")
  func ends() throws {
    let connection = try connection()
    try connection.receive(
      Frames.request(1, "Hold", "a", timeout: 1_000_000_000, metadata: parent("01")),
      Frames.request(3, "Count", "3", flags: .remoteClosed, metadata: parent("01")),
      Frames.request(5, "Hold", "b", metadata: parent("01")))
    #expect(buffer.take().map(\.name) == ["test.Service/Count"])
    connection.advance(by: .seconds(2))
    let late = buffer.take()
    #expect(
      late.map { $0.attributes.get("rpc.response.status_code") } == [.string("DEADLINE_EXCEEDED")])
    #expect(late.first?.status?.code == .error)
    connection.close()
    #expect(
      buffer.take().map { $0.attributes.get("rpc.response.status_code") } == [.string("CANCELLED")])
    connection.service.answer("b")?.succeed(ByteBuffer())
    #expect(buffer.take().isEmpty)
  }
}
