import MetricsExposition
import Testing

@Suite("Metrics as text")
struct ExpositionTextTests {
  private static let openMetrics = "application/openmetrics-text"

  private func text(_ families: [MetricFamily], accept: String? = nil) -> String {
    String(decoding: Exposition([{ families }]).page(accept: accept).body, as: UTF8.self)
  }

  private static let duration = MetricFamily(
    "call_duration_seconds", .histogram, unit: "seconds", help: "Calls.",
    samples: [
      MetricSample(
        [MetricLabel("method", "a")],
        HistogramValue(
          bounds: [0.000025, 0.5, 1], counts: [3, 2, 0, 4], sum: 5.25,
          exemplars: [
            1: HistogramValue.Exemplar(
              [MetricLabel("trace_id", "4bf92f3577b34da6")], value: 0.25, time: 1_790_000_000.125),
            3: HistogramValue.Exemplar([MetricLabel("trace_id", "00f0")], value: 9),
          ]))
    ])

  @Test("A counter has _total in Prometheus' comments, and none in OpenMetrics'")
  func counter() {
    let families = [
      MetricFamily(
        "reads", .counter, help: "Reads.",
        samples: [
          MetricSample([MetricLabel("z", "1"), MetricLabel("a", "2")], 3), MetricSample([], 0.5),
        ])
    ]
    #expect(
      text(families) == """
        # HELP reads_total Reads.
        # TYPE reads_total counter
        reads_total{z="1",a="2"} 3
        reads_total 0.5

        """)
    #expect(
      text(families, accept: Self.openMetrics) == """
        # HELP reads Reads.
        # TYPE reads counter
        reads_total{z="1",a="2"} 3
        reads_total 0.5
        # EOF

        """)
  }

  @Test("A histogram is cumulative and ends with +Inf; only OpenMetrics has exemplars and units")
  func histogram() {
    #expect(
      text([Self.duration]) == """
        # HELP call_duration_seconds Calls.
        # TYPE call_duration_seconds histogram
        call_duration_seconds_bucket{method="a",le="2.5e-05"} 3
        call_duration_seconds_bucket{method="a",le="0.5"} 5
        call_duration_seconds_bucket{method="a",le="1.0"} 5
        call_duration_seconds_bucket{method="a",le="+Inf"} 9
        call_duration_seconds_sum{method="a"} 5.25
        call_duration_seconds_count{method="a"} 9

        """)
    #expect(
      text([Self.duration], accept: Self.openMetrics) == """
        # HELP call_duration_seconds Calls.
        # TYPE call_duration_seconds histogram
        # UNIT call_duration_seconds seconds
        call_duration_seconds_bucket{method="a",le="2.5e-05"} 3
        call_duration_seconds_bucket{method="a",le="0.5"} 5 # {trace_id="4bf92f3577b34da6"} 0.25 \
        1790000000.125
        call_duration_seconds_bucket{method="a",le="1.0"} 5
        call_duration_seconds_bucket{method="a",le="+Inf"} 9 # {trace_id="00f0"} 9
        call_duration_seconds_sum{method="a"} 5.25
        call_duration_seconds_count{method="a"} 9
        # EOF

        """)
  }

  @Test("An exemplar that OpenMetrics does not allow is left out")
  func longExemplar() {
    func lines(_ length: Int) -> String {
      let exemplar = HistogramValue.Exemplar(
        [MetricLabel("id", String(repeating: "é", count: length))], value: 1)
      return text(
        [
          MetricFamily(
            "h", .histogram, help: "",
            samples: [
              MetricSample(
                [], HistogramValue(bounds: [], counts: [1], sum: 1, exemplars: [0: exemplar]))
            ])
        ], accept: Self.openMetrics)
    }
    #expect(lines(126).contains("+Inf\"} 1 # {id="))
    #expect(lines(127).contains("+Inf\"} 1\n"))
  }

  @Test("Label values and help are escaped as each form wants it")
  func escapes() {
    let families = [
      MetricFamily(
        "g", .gauge, help: "a \\ b \"c\"\r\nd",
        samples: [MetricSample([MetricLabel("l", "a\\b\"c\"\r\nd é")], 1)])
    ]
    #expect(
      text(families)
        == "# HELP g a \\\\ b \"c\"\r\\nd\n# TYPE g gauge\ng{l=\"a\\\\b\\\"c\\\"\r\\nd é\"} 1\n")
    #expect(
      text(families, accept: Self.openMetrics).hasPrefix("# HELP g a \\\\ b \\\"c\\\"\r\\nd\n"))
  }

  @Test(
    "Numbers are written as both forms read them",
    arguments: [
      (0, "0"), (-0.0, "0"), (1, "1"), (-5, "-5"), (0.1, "0.1"), (1e-7, "1e-07"),
      (9_007_199_254_740_991, "9007199254740991"), (1e21, "1e+21"), (.nan, "NaN"),
      (.infinity, "+Inf"), (-.infinity, "-Inf"), (1_790_000_000.5, "1790000000.5"),
    ] as [(Double, String)])
  func numbers(value: Double, expected: String) {
    let family = MetricFamily("g", .gauge, help: "", samples: [MetricSample([], value)])
    #expect(text([family]).hasSuffix("\ng \(expected)\n"))
  }

  @Test("The content type names the form, and no metrics are an exposition too")
  func contentTypes() {
    let empty = Exposition([])
    #expect(empty.page(accept: nil).contentType == "text/plain; version=0.0.4; charset=utf-8")
    #expect(empty.page(accept: nil).body.isEmpty)
    let page = empty.page(accept: Self.openMetrics)
    #expect(page.contentType == "application/openmetrics-text; version=1.0.0; charset=utf-8")
    #expect(String(decoding: page.body, as: UTF8.self) == "# EOF\n")
  }

  @Test("Of two families with one name, the first source's is shown")
  func repeatedNames() {
    @Sendable func family(_ value: Double) -> MetricFamily {
      MetricFamily("g", .gauge, help: "", samples: [MetricSample([], value)])
    }
    let exposition = Exposition([{ [family(1)] }, { [family(2)] }])
    #expect(exposition.families == [family(1)])
  }
}
