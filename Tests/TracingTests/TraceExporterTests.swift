import Logging
import OutboundHTTP
import Synchronization
import TestSupport
import Testing
import TraceExport
import Tracing

@testable import Traces

/// The exporter sends real requests to a server on a loopback port. It sleeps as the test lets it.
@Suite("The export of traces", .timeLimit(.minutes(2)))
struct TraceExporterTests {
  /// Sleeps that the test ends: only those of the given lengths end at once.
  private final class Sleeps: Sendable {
    private let asked = Mutex<[Duration]>([])

    var all: [Duration] { asked.withLock { $0 } }

    /// Sleeps of less than a minute end at once.
    func sleep(_ time: Duration) async throws {
      asked.withLock { $0.append(time) }
      try Task.checkCancellation()
      if time >= .seconds(60) { try await Task.sleep(for: .seconds(3_600)) }
    }
  }

  private struct Bench {
    let stub: CollectorStub
    let buffer = SpanBuffer()
    let sleeps = Sleeps()
    let collector: HTTPTraceCollector
    let exporter: TraceExporter
    let tracer: CallTracer

    init(
      _ answers: [CollectorStub.Answer] = [], headers: String = "",
      answerTime: Duration = .seconds(10),
      _ adapt: (inout TraceExportLimits) -> Void = { _ in }
    ) throws {
      stub = try CollectorStub(answers)
      collector = HTTPTraceCollector(
        try OutboundAddress(parsing: stub.url + "/otlp/"),
        try CollectorHeaders(parsing: Array(headers.utf8)),
        answerTime: answerTime)
      var limits = TraceExportLimits()
      // Never, unless a test wants it.
      limits.interval = .seconds(600)
      limits.flushTime = .seconds(600)
      adapt(&limits)
      let sleeps = sleeps
      exporter = TraceExporter(
        buffer, to: collector,
        resource: TraceResource(service: "entitled", version: "1", instance: "n"), limits: limits,
        sleep: { try await sleeps.sleep($0) },
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      tracer = CallTracer(ratio: 1, buffer: buffer)
    }

    func end(_ count: Int) {
      for number in 0..<count {
        tracer.startCall("call-\(number)-", system: "ttrpc", in: .root(), age: 0).end()
      }
    }

    /// Runs the exporter during `body`, and flushes.
    func run(_ body: () async throws -> Void) async throws {
      let task = Task { await exporter.run() }
      try await body()
      task.cancel()
      await task.value
      await exporter.flush()
      await collector.shutDown()
    }

    func isSettled(_ exported: Int, _ dropped: Int) -> Bool {
      let counts = buffer.counts
      return counts.exported == exported && counts.dropped == dropped && counts.buffered == 0
    }
  }

  private func names(_ request: CollectorStub.Request) -> Int {
    String(decoding: request.body, as: UTF8.self).split(separator: "call-").count - 1
  }

  @Test("A full batch is sent at once, with the fields of the file; the rest at the end")
  func batches() async throws {
    let bench = try Bench(headers: "x-key: secret\n")
    try await bench.run {
      bench.end(512 + 100)
      try await eventually { bench.buffer.counts.exported >= 512 }
      bench.end(10)
    }
    #expect(bench.isSettled(622, 0))
    let requests = bench.stub.requests
    #expect(requests.allSatisfy { $0.line == "POST /otlp/v1/traces HTTP/1.1" })
    #expect(requests.allSatisfy { $0.fields["content-type"] == "application/json" })
    #expect(requests.allSatisfy { $0.fields["x-key"] == "secret" })
    // The method is an attribute too.
    #expect(requests.map(names).reduce(0, +) == 2 * 622)
    #expect(requests.allSatisfy { names($0) <= 2 * 512 })
    if OpenTelemetryProto.isInstalled {
      let spans = try requests.flatMap { try OpenTelemetryProto.spans(in: $0.body) }
      #expect(Set(spans.map(\.span)).count == 622)
    }
  }

  @Test("Spans that are fewer are sent after the interval")
  func interval() async throws {
    let bench = try Bench { $0.interval = .milliseconds(20) }
    // This interval ends at once, again and again.
    bench.end(3)
    try await bench.run { try await eventually { bench.isSettled(3, 0) } }
    #expect(bench.stub.requests.count == 1)
  }

  @Test("A batch that is not taken for the moment is sent again, after what the collector says")
  func retries() async throws {
    let bench = try Bench([
      .init(503), .init(429, ["retry-after: 7"]), .init(502, ["retry-after: 900"]), .init(504),
    ])
    bench.end(512)
    try await bench.run { try await eventually { bench.isSettled(512, 0) } }
    #expect(bench.buffer.counts.failures == 0)
    #expect(bench.stub.requests.count == 5)
    #expect(Set(bench.stub.requests.map(\.body)).count == 1)
    let delays = bench.sleeps.all.filter { $0 < .seconds(60) }
    try #require(delays.count == 4)
    #expect((Duration.milliseconds(500)...Duration.seconds(1)).contains(delays[0]))
    #expect(delays[1] == .seconds(7))
    #expect(delays[2] == .seconds(30))
    #expect((Duration.seconds(4)...Duration.seconds(8)).contains(delays[3]))
  }

  @Test("After five times a batch is dropped, and the next one is sent")
  func givingUp() async throws {
    let bench = try Bench(Array(repeating: .init(503), count: 5))
    bench.end(512)
    try await bench.run {
      try await eventually { bench.isSettled(0, 512) }
      bench.end(512)
      try await eventually { bench.isSettled(512, 512) }
    }
    #expect(bench.buffer.counts.failures == 1)
    #expect(bench.stub.requests.count == 6)
  }

  @Test(
    "What the collector refuses is not sent again",
    arguments: [
      CollectorStub.Answer(400), .init(401), .init(413), .init(500),
      .init(307, ["location: http://127.0.0.1:1/"]),
    ])
  func refused(answer: CollectorStub.Answer) async throws {
    let bench = try Bench([answer])
    bench.end(512)
    try await bench.run { try await eventually { bench.isSettled(0, 512) } }
    #expect(bench.stub.requests.count == 1)
    #expect(bench.buffer.counts.failures == 1)
  }

  @Test("Of an answer that is too long the status counts: the batch is not sent again")
  func longAnswer() async throws {
    let bench = try Bench([.init(200, body: 1 << 20)])
    bench.end(512)
    try await bench.run { try await eventually { bench.isSettled(512, 0) } }
    #expect(bench.stub.requests.count == 1)
  }

  @Test("An answer whose body does not come is a failure within the time")
  func headAlone() async throws {
    // Long enough for the request to arrive on a busy machine.
    let bench = try Bench([.headAlone], answerTime: .seconds(5)) { $0.attempts = 1 }
    bench.end(512)
    try await bench.run { try await eventually { bench.isSettled(0, 512) } }
    #expect(bench.stub.requests.count == 1)
    #expect(bench.buffer.counts.failures == 1)
  }

  @Test("A stop in the pause before a repetition loses nothing if the collector is back")
  func stopWhileWaiting() async throws {
    let bench = try Bench([.init(503)]) {
      // A pause that does not end.
      $0.firstDelay = .seconds(1_000)
      $0.longestDelay = .seconds(1_000)
    }
    bench.end(512)
    try await bench.run { try await eventually { bench.stub.requests.count == 1 } }
    #expect(bench.isSettled(512, 0))
    #expect(bench.stub.requests.count == 2)
  }

  @Test("A collector that does not answer does not hold up a stop")
  func silentCollector() async throws {
    let bench = try Bench(Array(repeating: .never, count: 4)) {
      // Ends at once.
      $0.flushTime = .seconds(2)
    }
    bench.end(512 + 5)
    try await bench.run { try await eventually { bench.stub.requests.count == 1 } }
    #expect(bench.isSettled(0, 517))
  }

  @Test("Without a collector spans wait, and are dropped at the end")
  func noCollector() async throws {
    let bench = try Bench { $0.attempts = 2 }
    // A port without a listener.
    let buffer = bench.buffer
    let collector = HTTPTraceCollector(
      try OutboundAddress(parsing: "http://127.0.0.1:1"), CollectorHeaders())
    let exporter = TraceExporter(
      buffer, to: collector,
      resource: TraceResource(service: "entitled", version: "1", instance: "n"),
      sleep: { try await bench.sleeps.sleep($0) },
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    bench.end(5)
    await exporter.flush()
    #expect(bench.isSettled(0, 5))
    await collector.shutDown()
    await bench.collector.shutDown()
  }
}
