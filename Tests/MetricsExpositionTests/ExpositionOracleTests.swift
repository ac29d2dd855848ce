import Foundation
import MetricsExposition
import TestSupport
import Testing

@Suite("Metrics as text, read by Prometheus' own programs")
struct ExpositionOracleTests {
  private static let units = ["seconds", "bytes"]
  private static let texts = ["", "a", "é\n", "\\", "\"", "a=b,c", "{}", "# EOF", " ", "\\n", "日本"]

  /// Python's reader of Prometheus text removes blanks around help.
  private static let helps = texts.filter { $0 != " " }

  /// Families that every reader must accept.
  private static func randomFamilies(_ random: inout SeededRandom) -> [MetricFamily] {
    (0..<60).map { index in
      let kind = [MetricFamily.Kind.counter, .gauge, .histogram][index % 3]
      let unit = Self.units.randomElement(using: &random).flatMap {
        Bool.random(using: &random) ? $0 : nil
      }
      let name = "entitle_m\(index)" + (unit.map { "_" + $0 } ?? "")
      let samples = (0..<Int.random(in: 1...4, using: &random)).map { number in
        let labels = [
          MetricLabel("number", "\(number)"),
          MetricLabel("a_text", Self.texts.randomElement(using: &random) ?? ""),
        ]
        return sample(kind, labels, &random)
      }
      return MetricFamily(
        name, kind, unit: unit, help: Self.helps.randomElement(using: &random) ?? "",
        samples: samples)
    }
  }

  private static func sample(
    _ kind: MetricFamily.Kind, _ labels: [MetricLabel], _ random: inout SeededRandom
  ) -> MetricSample {
    let number = Double.random(in: 0...1e6, using: &random)
    switch kind {
    case .counter: return MetricSample(labels, number)
    case .gauge:
      return MetricSample(
        labels,
        [number, -number, .infinity, -.infinity, .nan, 0].randomElement(using: &random) ?? 0)
    case .histogram:
      let exemplar = HistogramValue.Exemplar(
        [MetricLabel("trace_id", "4bf92f35")], value: 0.0004, time: 1_790_000_000.5)
      return MetricSample(
        labels,
        HistogramValue(
          bounds: [0.000025, 0.0001, 0.00025, 0.5, 1, 10],
          counts: (0..<7).map { _ in Int.random(in: 0...9, using: &random) }, sum: number,
          exemplars: Bool.random(using: &random) ? [3: exemplar] : [:]))
    }
  }

  /// What `parse.py` must print, without the exemplars' numbers.
  private static func lines(of family: MetricFamily, isOpen: Bool) -> [[String]] {
    let head = [family.name, family.kind.rawValue, isOpen ? family.unit ?? "" : "", family.help]
    return family.samples.flatMap { sample -> [[String]] in
      switch sample.value {
      case .number(let value):
        return [head + [family.queryName, labels(sample.labels), number(value), "-"]]
      case .histogram(let histogram):
        var total = 0
        let buckets = histogram.counts.indices.map { index -> [String] in
          total += histogram.counts[index]
          let bound = index < histogram.bounds.count ? "\(histogram.bounds[index])" : "+Inf"
          let exemplar = isOpen ? histogram.exemplars[index] : nil
          return head + [
            family.name + "_bucket", labels(sample.labels + [MetricLabel("le", bound)]),
            number(Double(total)), exemplar.map { labels($0.labels) + number($0.value) } ?? "-",
          ]
        }
        return buckets + [
          head + [family.name + "_sum", labels(sample.labels), number(histogram.sum), "-"],
          head + [family.name + "_count", labels(sample.labels), number(Double(total)), "-"],
        ]
      }
    }
  }

  private static func labels(_ labels: [MetricLabel]) -> String {
    labels.sorted { $0.name < $1.name }.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
  }

  private static func number(_ value: Double) -> String { value.isNaN ? "nan" : "\(value)" }

  private static func columns(of line: Substring) throws -> [String] {
    let values = try #require(
      JSONSerialization.jsonObject(with: Data(line.utf8)) as? [Any], "\(line)")
    func labels(_ value: Any) -> String {
      (value as? [[String]] ?? []).map { "\($0[0])=\($0[1])" }.joined(separator: ";")
    }
    func number(_ value: Any) -> String { Double(value as? String ?? "").map(Self.number) ?? "?" }
    let exemplar = (values[7] as? [Any]).map { labels($0[0]) + number($0[1]) } ?? "-"
    return values[0..<5].map { $0 as? String ?? "" }
      + [labels(values[5]), number(values[6]), exemplar]
  }

  @Test(
    "Python's prometheus_client reads what was written",
    .enabled(
      if: PrometheusTools.hasParser,
      "python3-prometheus-client is not installed: the text is not read by Python's parser"),
    arguments: [("openmetrics", "application/openmetrics-text"), ("prometheus", nil)]
      as [(String, String?)])
  func python(form: String, accept: String?) throws {
    var random = SeededRandom(for: "metrics read by Python")
    let families = Self.randomFamilies(&random)
    let page = Exposition([{ families }]).page(accept: accept)
    let outcome = try PrometheusTools.parse(page.body, as: form)
    try #require(outcome.status == 0, "\(outcome.errors)")
    let found = try outcome.output.split(separator: "\n").map { try Self.columns(of: $0) }
    let expected = families.flatMap { Self.lines(of: $0, isOpen: accept != nil) }
    #expect(found.count == expected.count)
    for (found, expected) in zip(found, expected) {
      // The Prometheus parser keeps no families of counters: it names them by their samples.
      #expect(found == expected)
    }
  }

  @Test(
    "promtool accepts Prometheus text",
    .enabled(
      if: PrometheusTools.hasPromtool,
      "promtool (Debian package prometheus) is not installed: the text is not read by it"))
  func promtool() throws {
    var random = SeededRandom(for: "metrics read by promtool")
    // Its linter wants help with text, and names by its own rules; here the form matters.
    let families = Self.randomFamilies(&random).map {
      MetricFamily($0.name, $0.kind, unit: $0.unit, help: "Help." + $0.help, samples: $0.samples)
    }
    let page = Exposition([{ families }]).page(accept: nil)
    let outcome = try PrometheusTools.runPromtool(["check", "metrics"], input: page.body)
    #expect(outcome.status == 0, "\(outcome.errors)")
  }
}
