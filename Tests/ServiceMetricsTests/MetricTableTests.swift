import Foundation
import Framing
import MetricsExposition
import NIOCore
import TestSupport
import Testing

@testable import RPCServer
@testable import ServiceMetrics

@Suite("The table of metrics")
struct MetricTableTests {
  /// Every label that a metric may have. None can hold what identifies a customer.
  private static let labels: Set = [
    "rpc_system_name", "rpc_method", "rpc_response_status_code", "version", "store", "reason",
    "caller", "outcome", "verdict", "disposition", "field", "kind", "what", "priority", "use",
    "phase", "listener", "status", "cause",
  ]

  @Test("Names follow Prometheus' practice, and labels are known ones")
  func names() throws {
    let name = /(entitle|process|rpc_server)(_[a-z0-9]+)+/
    var seen: Set<String> = []
    for definition in MetricTable.all {
      #expect(definition.name.wholeMatch(of: name) != nil, "\(definition.name)")
      #expect(seen.insert(definition.name).inserted, "\(definition.name) is there twice")
      for ending in ["_total", "_bucket", "_sum", "_count", "_created"] {
        #expect(!definition.name.hasSuffix(ending), "\(definition.name)")
      }
      #expect(definition.help.hasSuffix("."), "\(definition.name)")
      for label in definition.labels {
        #expect(Self.labels.contains(label), "\(definition.name) has the label \(label)")
      }
      for source in definition.sources where !source.isSum {
        #expect(
          source.fixed.map(\.name) + source.placeholders == definition.labels,
          "the labels of \(source.pattern) are others")
      }
    }
  }

  /// The table of operations.md, as it must be.
  private var table: [String] {
    let rows = MetricTable.all.map { definition in
      let labels = definition.labels.map { "`\($0)`" }.joined(separator: ", ")
      let sources = definition.sources.filter { !$0.isSum }.map { "`\($0.pattern)`" }
      let sums = definition.sources.filter(\.isSum).map { "`\($0.pattern)`" }
      var origin = sources.joined(separator: ", ")
      if !sums.isEmpty {
        origin += (sources.isEmpty ? "" : "; ") + "sums: " + sums.joined(separator: ", ")
      }
      return
        "| `\(definition.queryName)` | \(definition.kind.rawValue) | \(labels) | \(origin) | \(definition.help) |"
    }
    return ["| metric | type | labels | GetStatistics | meaning |", "|---|---|---|---|---|"] + rows
  }

  @Test("operations.md has the table as it is")
  func documentation() throws {
    let text = try String(
      contentsOfFile: PrometheusTools.path("deploy/docs/operations.md"), encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let start = try #require(lines.firstIndex { $0.hasPrefix("| metric | type |") })
    let found = Array(lines[start...].prefix { $0.hasPrefix("|") })
    let expected = table
    for line in expected where !found.contains(line) {
      Issue.record("operations.md lacks this line:\n\(line)")
    }
    for line in found where !expected.contains(line) {
      Issue.record("operations.md has this line, and the table has not:\n\(line)")
    }
    // Not an expectation with both tables, which would print them.
    if found != expected { Issue.record("the lines of operations.md have another order") }
  }

  @Test("Calls are shown by method, and by method and code")
  func calls() {
    var finished = FinishedCalls()
    finished.add(3, of: 0, .ok, lasting: .microseconds(30))
    finished.add(1, of: 0, .internal, lasting: .seconds(2))
    finished.add(2, of: nil, .unimplemented, lasting: .zero)
    var counts = CallCountsOfFronts()
    counts.take(&finished, of: .ttrpc)
    let families = CallMetrics.families(of: counts, methods: ["a.B/C", "a.B/D"])
    func labels(_ method: String, _ code: String? = nil) -> [MetricLabel] {
      [MetricLabel("rpc_system_name", "ttrpc"), MetricLabel("rpc_method", method)]
        + (code.map { [MetricLabel("rpc_response_status_code", $0)] } ?? [])
    }
    let bounds = [
      0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
      0.25,
      0.5, 1, 2.5, 10,
    ]
    var known = Array(repeating: 0, count: 18)
    known[1] = 3
    known[15] = 1
    var other = Array(repeating: 0, count: 18)
    other[0] = 2
    #expect(
      families.map(\.name) == ["rpc_server_call_duration_seconds", "rpc_server_calls"])
    #expect(
      families[0].samples == [
        MetricSample(
          labels("a.B/C"), HistogramValue(bounds: bounds, counts: known, sum: 2.00009)),
        MetricSample(labels("_OTHER"), HistogramValue(bounds: bounds, counts: other, sum: 0)),
      ])
    #expect(
      families[1].samples == [
        MetricSample(labels("a.B/C", "OK"), 3), MetricSample(labels("a.B/C", "INTERNAL"), 1),
        MetricSample(labels("a.B/D", "OK"), 0), MetricSample(labels("_OTHER", "UNIMPLEMENTED"), 2),
      ])
  }

  @Test("The metrics of the process are those of this process")
  func process() throws {
    let families = ProcessMetrics.families
    #expect(families.map(\.name) == MetricTable.process.map(\.name))
    let values = Dictionary(
      uniqueKeysWithValues: families.map { family -> (String, Double) in
        guard case .number(let value) = family.samples[0].value else { return (family.name, .nan) }
        return (family.name, value)
      })
    let now = Date().timeIntervalSince1970
    let started = try #require(values["process_start_time_seconds"])
    #expect(started > now - 86_400 && started <= now + 1)
    #expect(try #require(values["process_resident_memory_bytes"]) > 1_000_000)
    let open = try #require(values["process_open_fds"])
    #expect(open >= 3)
    #expect(try #require(values["process_max_fds"]) >= open)
    #expect(try #require(values["process_cpu_seconds"]) >= 0)
    #expect(try #require(values["process_threads"]) >= 1)
  }
}
