import CoreMetrics
import MetricsExposition
import Testing

@Suite("Metrics of libraries")
struct LibraryMetricsTests {
  private func metrics(series: Int = 1_000) -> LibraryMetrics {
    var limits = LibraryMetrics.Limits()
    limits.series = series
    return LibraryMetrics(timerBounds: [0.001, 1], limits: limits)
  }

  private func family(_ name: String, of metrics: LibraryMetrics) -> MetricFamily? {
    metrics.families.first { $0.name == name }
  }

  private func refused(by metrics: LibraryMetrics) -> MetricSample? {
    family(LibraryMetrics.refusedName, of: metrics)?.samples.first
  }

  @Test("Each kind of swift-metrics appears under a name of Prometheus")
  func kinds() throws {
    let metrics = metrics()
    Counter(label: "http.server.requests", dimensions: [("http.route", "/b")], factory: metrics)
      .increment(by: 3)
    FloatingPointCounter(label: "energy-total", factory: metrics).increment(by: 0.25)
    Meter(label: "active", factory: metrics).increment(by: 2.5)
    Gauge(label: "9lives", factory: metrics).record(9)
    Recorder(label: "size", factory: metrics).record(7)
    let timer = Timer(label: "http.server.request.duration", factory: metrics)
    timer.recordNanoseconds(500_000)
    timer.recordNanoseconds(2_000_000_000)
    let families = metrics.families
    #expect(
      families.map(\.name) == [
        "_9lives", "active", "energy", "http_server_request_duration_seconds",
        "http_server_requests", "size", LibraryMetrics.refusedName,
      ])
    #expect(
      families.map(\.kind) == [
        .gauge, .gauge, .counter, .histogram, .counter, .histogram, .counter,
      ])
    #expect(
      families.map { $0.samples[0].value } == [
        .number(9), .number(2.5), .number(0.25),
        .histogram(HistogramValue(bounds: [0.001, 1], counts: [1, 0, 1], sum: 2.0005)),
        .number(3), .histogram(HistogramValue(bounds: [], counts: [1], sum: 7)), .number(0),
      ])
    #expect(families[4].samples[0].labels == [MetricLabel("http_route", "/b")])
    #expect(families[3].unit == "seconds")
  }

  @Test("Two objects with the same name and labels, in any order, are one series")
  func sharing() {
    let metrics = metrics()
    Counter(label: "c", dimensions: [("a", "1"), ("b", "2")], factory: metrics).increment()
    Counter(label: "c", dimensions: [("b", "2"), ("a", "1")], factory: metrics).increment(by: 4)
    #expect(
      family("c", of: metrics)?.samples == [
        MetricSample([MetricLabel("a", "1"), MetricLabel("b", "2")], 5)
      ])
  }

  @Test("Beyond the limit new series are not recorded and are counted; known ones go on")
  func limit() {
    let metrics = metrics(series: 2)
    for route in ["a", "b", "c", "d", "a"] {
      Counter(label: "c", dimensions: [("route", route)], factory: metrics).increment()
    }
    #expect(
      family("c", of: metrics)?.samples == [
        MetricSample([MetricLabel("route", "a")], 2), MetricSample([MetricLabel("route", "b")], 1),
      ])
    #expect(refused(by: metrics) == MetricSample([], 2))
  }

  @Test("A series that is destroyed gives its place back")
  func destruction() {
    let metrics = metrics(series: 1)
    let counter = Counter(label: "c", factory: metrics)
    counter.increment()
    counter.destroy()
    #expect(family("c", of: metrics) == nil)
    // Its name is free, also for another kind.
    Meter(label: "c", factory: metrics).set(1)
    #expect(family("c", of: metrics)?.kind == .gauge)
    #expect(refused(by: metrics) == MetricSample([], 0))
  }

  @Test("What would make the text invalid or too long is not recorded")
  func refusals() {
    let metrics = metrics()
    Counter(label: "c", factory: metrics).increment()
    Meter(label: "c", factory: metrics).set(1)
    Timer(label: "t", dimensions: [("le", "1")], factory: metrics).recordNanoseconds(1)
    Counter(label: "d", dimensions: [("a.b", "1"), ("a_b", "2")], factory: metrics).increment()
    Counter(label: "e", dimensions: [("__name__", "x")], factory: metrics).increment()
    Counter(
      label: "f", dimensions: [("a", String(repeating: "x", count: 129))], factory: metrics
    ).increment()
    Counter(label: String(repeating: "x", count: 129), factory: metrics).increment()
    Counter(label: "g", dimensions: (0..<17).map { ("l\($0)", "") }, factory: metrics).increment()
    #expect(metrics.families.map(\.name) == ["c", LibraryMetrics.refusedName])
    #expect(family("c", of: metrics)?.samples == [MetricSample([], 1)])
    #expect(refused(by: metrics) == MetricSample([], 7))
  }

  @Test("Counters do not fall, and ignore what is no number")
  func counters() {
    let metrics = metrics()
    let counter = FloatingPointCounter(label: "c", factory: metrics)
    for amount in [1, -1, Double.nan, .infinity, 0.5] { counter.increment(by: amount) }
    Counter(label: "i", factory: metrics).increment(by: -3)
    #expect(family("c", of: metrics)?.samples == [MetricSample([], 1.5)])
    #expect(family("i", of: metrics)?.samples == [MetricSample([], 0)])
    counter.reset()
    #expect(family("c", of: metrics)?.samples == [MetricSample([], 0)])
  }

  @Test("Nothing is lost when threads record, create and read at once")
  func concurrency() async {
    let metrics = metrics(series: 5)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for number in 0..<2_000 {
            Counter(label: "c", dimensions: [("n", "\(number % 7)")], factory: metrics).increment()
            Timer(label: "t", factory: metrics).recordNanoseconds(1_000)
            if number % 100 == 0 { _ = metrics.families }
          }
        }
      }
    }
    let counters = family("c", of: metrics)?.samples ?? []
    let timers = family("t_seconds", of: metrics)?.samples ?? []
    let recorded = counters.reduce(0.0) { sum, sample in
      if case .number(let value) = sample.value { sum + value } else { sum }
    }
    guard case .number(let refused)? = refused(by: metrics)?.value,
      case .histogram(let histogram)? = timers.first?.value
    else {
      Issue.record("no numbers")
      return
    }
    #expect(counters.count == 4)
    #expect(recorded + refused == 16_000)
    #expect(histogram.counts == [16_000, 0, 0])
  }
}
