import MetricsExposition
import Testing

@Suite("The form of an exposition, by the header Accept")
struct ExpositionFormatTests {
  @Test(
    "The preferred form is chosen",
    arguments: [
      (nil, .prometheus),
      ("", .prometheus),
      ("*/*", .prometheus),
      ("text/html", .prometheus),
      ("application/openmetrics-text", .openMetrics),
      ("application/openmetrics-text; version=1.0.0", .openMetrics),
      ("application/openmetrics-text; version=\"1.0.0\"; charset=utf-8", .openMetrics),
      ("APPLICATION/OpenMetrics-Text;Version=1.0.0", .openMetrics),
      // A version that is not served.
      ("application/openmetrics-text; version=0.0.1", .prometheus),
      ("application/*", .openMetrics),
      ("text/*", .prometheus),
      // What Prometheus 2 and 3 send.
      (
        "application/openmetrics-text;version=1.0.0;q=0.5,"
          + "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,"
          + "*/*;q=0.2", .openMetrics
      ),
      (
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
          + "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.3,"
          + "*/*;q=0.2", .openMetrics
      ),
      ("text/plain;q=0.5, application/openmetrics-text;q=0.4", .prometheus),
      ("text/plain;q=0.4 , application/openmetrics-text;q=0.5", .openMetrics),
      ("text/plain;q=0.5,application/openmetrics-text;q=0.5", .prometheus),
      // Quality zero means: not this one.
      ("application/openmetrics-text;q=0, */*", .prometheus),
      ("text/plain;q=0, */*;q=0.1", .openMetrics),
      // The most specific range counts, not the best one.
      ("*/*, application/openmetrics-text;q=0.1, text/plain;q=0.2", .prometheus),
      (
        "application/openmetrics-text;q=0.1, application/openmetrics-text;version=1.0.0;q=0.9,"
          + "text/plain;q=0.5", .openMetrics
      ),
      // Malformed ranges are left out.
      ("application/openmetrics-text;q=2, text/plain;q=0.1", .prometheus),
      ("application/openmetrics-text;q=nan, text/plain;q=0.1", .prometheus),
      ("openmetrics-text, ;;;=,/, application/openmetrics-text;;q=0.5", .openMetrics),
    ] as [(String?, ExpositionFormat)])
  func negotiation(accept: String?, expected: ExpositionFormat) {
    #expect(ExpositionFormat(accept: accept) == expected)
  }

  @Test("A long header is read up to its limit")
  func longHeader() {
    let many = String(repeating: "a/b,", count: 100_000)
    #expect(ExpositionFormat(accept: many + "application/openmetrics-text") == .prometheus)
    #expect(ExpositionFormat(accept: "application/openmetrics-text," + many) == .openMetrics)
  }
}
