import TestSupport
import Testing
import Tracing

@testable import Traces

@Suite("Which spans are recorded")
struct CallTracerTests {
  private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"

  private let buffer = SpanBuffer()
  private var tracer: CallTracer { CallTracer(ratio: 0, buffer: buffer) }

  private func context(_ flags: String) throws -> TraceContext {
    try #require(TraceContext(parents: ["\(Self.parent)-\(flags)"], states: ["a=1"]))
  }

  @Test("A call and what it does have the caller's trace, and each the right parent")
  func parents() async throws {
    let call = tracer.startCall("a.B/C", system: "ttrpc", in: try context("01"), age: 5_000)
    let child = try #require(call.startChild("verification"))
    try await InstrumentationContext.$current.withValue(child.context) {
      let ids = try #require(CallTracer.currentIDs)
      #expect(ids.trace.hexadecimal == "4bf92f3577b34da6a3ce929d0e0e4736")
      // In a task, as tasks of a call are.
      await Task { CallTracer.startChild("inner", .client)?.end() }.value
      await Task.detached { #expect(CallTracer.startChild("other") == nil) }.value
    }
    child.end()
    call.endCall(code: "OK", isOK: true, isFault: false)
    // Only the first end counts.
    call.endCall(code: "INTERNAL", isOK: false, isFault: true)
    #expect(!call.isRecording)
    let spans = buffer.take()
    #expect(spans.map(\.name) == ["inner", "verification", "a.B/C"])
    #expect(Set(spans.map(\.parent.traceID)).count == 1)
    #expect(Set(spans.map(\.spanID)).count == 3)
    #expect(spans[2].parent.spanID?.hexadecimal == "00f067aa0ba902b7")
    #expect(spans[1].parent.spanID == spans[2].spanID)
    #expect(spans[0].parent.spanID == spans[1].spanID)
    #expect(spans.map(\.parent.isRemote) == [false, false, true])
    #expect(spans.map(\.parent.state) == ["a=1", "a=1", "a=1"])
    #expect(spans[2].end >= spans[2].start + 5_000)
    #expect(spans[2].status == nil)
    #expect(spans[2].attributes.get("rpc.response.status_code") == .string("OK"))
    #expect(buffer.take().isEmpty)
  }

  @Test("A caller that does not sample gets no span, and neither does work outside of calls")
  func unsampled() throws {
    let call = tracer.startCall("a.B/C", system: "ttrpc", in: try context("00"), age: 0)
    #expect(!call.isRecording)
    #expect(call.startChild("child") == nil)
    call.endCall(code: "OK", isOK: true, isFault: false)
    // A library that traces.
    tracer.startSpan("POST", ofKind: .client).end()
    #expect(CallTracer.startChild("child") == nil)
    #expect(CallTracer.currentIDs == nil)
    #expect(buffer.counts == SpanBuffer.Counts())
  }

  @Test("A library's context is read as the server's")
  func extracting() {
    struct Fields: Extractor {
      func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    }
    for (flags, count) in [("01", 1), ("00", 0), ("zz", 0)] {
      var context = InstrumentationContext.topLevel
      tracer.extract(["traceparent": "\(Self.parent)-\(flags)"], into: &context, using: Fields())
      tracer.startSpan("x", context: context, ofKind: .server).end()
      #expect(buffer.take().count == count)
    }
  }

  @Test("The chance of a call is the ratio", arguments: [0.001, 0.1, 0.5, 0.999])
  func ratio(_ ratio: Double) {
    let tracer = CallTracer(ratio: ratio, buffer: buffer)
    // The mean of a geometric distribution; its deviation is smaller than the mean plus one.
    let rounds = 20_000
    let total = (0..<rounds).reduce(0.0) { sum, _ in sum + Double(tracer.callsUntilSample()) }
    let mean = (1 - ratio) / ratio
    #expect(abs(total / Double(rounds) - mean) < 6 * (mean + 1) / Double(rounds).squareRoot())
  }

  @Test("Nothing and everything are exact, and the smallest ratio is no overflow")
  func extremes() {
    #expect(CallTracer(ratio: 0, buffer: buffer).callsUntilSample() == .max)
    #expect(CallTracer(ratio: 1, buffer: buffer).callsUntilSample() == 0)
    #expect(CallTracer(ratio: .leastNonzeroMagnitude, buffer: buffer).callsUntilSample() > 1 << 40)
  }

  @Test("A call has a bounded number of spans and events")
  func limits() throws {
    let call = tracer.startCall("a.B/C", system: "ttrpc", in: try context("01"), age: 0)
    for _ in 0..<500 {
      let child = call.startChild("child")
      for _ in 0..<100 {
        child?.addEvent("event")
      }
      child?.end()
    }
    call.end()
    let spans = buffer.take()
    #expect(spans.count == TraceLimits.spansPerCall)
    #expect(buffer.counts.dropped == 501 - spans.count)
    #expect(spans[0].events.count == TraceLimits.eventsPerSpan)
  }

  @Test("The text of an error is not recorded")
  func errors() throws {
    struct Secretive: Error, CustomStringConvertible { let description = "eyJhbGciOi" }
    let call = tracer.startCall("a.B/C", system: "ttrpc", in: try context("01"), age: 0)
    call.recordError(Secretive())
    call.end()
    let span = try #require(buffer.take().first)
    #expect(!"\(span)".contains("eyJ"))
    #expect(span.status?.code == .error)
  }

  @Test("A full buffer drops what comes, and counts it; what is put back keeps its order")
  func overflow() throws {
    let buffer = SpanBuffer(limit: 600)
    let tracer = CallTracer(ratio: 0, buffer: buffer)
    for number in 0..<700 {
      tracer.startCall("\(number)", system: "ttrpc", in: try context("01"), age: 0).end()
    }
    #expect(buffer.counts.buffered == 600)
    #expect(buffer.counts.dropped == 100)
    let batch = buffer.take()
    #expect(batch.count == TraceLimits.spansPerBatch)
    #expect(batch.map(\.name) == (0..<512).map { "\($0)" })
    for number in 0..<100 {
      tracer.startCall("more \(number)", system: "ttrpc", in: try context("01"), age: 0).end()
    }
    buffer.putBack(batch)
    #expect(buffer.counts.buffered == 600)
    #expect(buffer.counts.dropped == 100 + 100)
    #expect(buffer.take().first?.name == "100")
  }
}
