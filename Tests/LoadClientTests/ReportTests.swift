import Foundation
import Testing

@testable import LoadClient

@Suite("The report of a run")
struct ReportTests {
  private func report(
    _ result: LoadResult = FailureConditionTests.result, violations: [String] = []
  ) throws -> LoadReport {
    let calls = CallPlan(
      customers: try BulkCustomers(count: 10, seed: 1), mix: try CallMix(parsing: "hot=1,cold=1"),
      choice: .uniform, batchSize: 1, timeout: .seconds(1), authority: nil, seed: 42, threads: 2)
    let plan = RunPlan(
      calls: calls, shape: .closed(inFlight: 4), connections: 3, checks: .all,
      warmUp: .seconds(1), duration: .seconds(10), count: nil)
    return LoadReport(
      plan: plan, server: "unix:/a<b", result: result, idle: nil, violations: violations)
  }

  @Test("the table has a row for each kind, errors by code, and failed conditions")
  func table() throws {
    let table = try #require(
      try report(violations: ["p50>49ms: p50 is 50.0 ms"]).text(as: .table))
    let lines = table.split(separator: "\n").map(String.init)
    #expect(
      lines[0]
        == "load          3 connections × 4 in flight, 2 threads, hot=1,cold=1, uniform of 10 customers"
    )
    #expect(lines[1] == "measured      10.0 s after 1 s of warm-up, seed 42")
    let hot = try #require(lines.first { $0.hasPrefix("hot ") })
    #expect(
      hot.split(separator: " ").joined(separator: " ")
        == "hot 100 10.0 0 50.0 ms 90.0 ms 99.0 ms 100 ms 100 ms 0.00 MB 0.00 MB")
    #expect(lines.contains { $0.hasPrefix("cold ") })
    #expect(lines.contains { $0.hasPrefix("all ") })
    #expect(lines.contains("errors        UNAVAILABLE 2"))
    #expect(lines.contains("answers       0 checked, 0 wrong"))
    #expect(lines.last == "failed        p50>49ms: p50 is 50.0 ms")
  }

  @Test("JSON has the documented fields, in microseconds")
  func json() throws {
    let text = try #require(try report().text(as: .json))
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(document["seed"] as? Int == 42)
    #expect(document["interrupted"] as? Bool == false)
    #expect(document["gaveUp"] as? Bool == false)
    let all = try #require(document["all"] as? [String: Any])
    #expect(all["calls"] as? Int == 102)
    #expect(all["callsPerSecond"] as? Double == 10.2)
    #expect(all["errors"] as? [String: Int] == ["UNAVAILABLE": 2])
    #expect(all["sentBytes"] as? Int == 1_000)
    #expect(all["receivedBytes"] as? Int == 2_000)
    let latency = try #require(all["latencyMicroseconds"] as? [String: Double])
    #expect(Set(latency.keys) == ["mean", "p50", "p90", "p99", "p999", "max"])
    #expect(abs(try #require(latency["p50"]) - 50_000) < 50)
    let kinds = try #require(document["kinds"] as? [String: Any])
    #expect(Set(kinds.keys) == ["hot", "cold"])
  }

  @Test("the format hgrm is a percentile distribution in milliseconds")
  func distribution() throws {
    let lines = try #require(try report().text(as: .hgrm)).split(separator: "\n").map {
      $0.split(separator: " ").map(String.init)
    }
    #expect(lines[0] == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"])
    let last = try #require(lines.last { $0.first?.hasPrefix("#") == false })
    #expect(abs(try #require(Double(last[0])) - 100) < 0.2)
    #expect(Array(last.dropFirst()) == ["1.000000000000", "100"])
  }

  @Test("the plot draws three lines over time and one by percentile, and escapes names")
  func plot() throws {
    let seconds = (1...5).map { second in
      LoadResult.Second(
        end: Double(second), length: 1, calls: 10, errors: 0, median: 1e6 * Double(second),
        p99: 5e6, maximum: 1e8)
    }
    let base = FailureConditionTests.result
    let svg = LoadPlot(
      report: try report(
        LoadResult(
          total: base.total, seconds: seconds, length: 5, server: nil, ownProcessorTime: 0,
          isInterrupted: false, isServerGone: false))
    ).svg
    #expect(svg.components(separatedBy: "<polyline").count == 5)
    #expect(svg.contains("unix:/a&lt;b"))
    #expect(svg.contains(">1 ms</text>"))
    #expect(svg.contains(">99 %</text>"))
    #expect(!svg.contains("nan") && !svg.contains("inf"))
  }

  @Test("a run without calls has a report and a plot")
  func empty() throws {
    let empty = LoadResult(
      total: Tally(), seconds: [], length: 0, server: nil, ownProcessorTime: 0,
      isInterrupted: true, isServerGone: false)
    let report = try report(empty)
    for form in LoadReport.Form.allCases { #expect(try report.text(as: form) != "") }
    // The log was written during the run.
    #expect(try report.text(as: .hdr) == nil)
    let svg = LoadPlot(report: report).svg
    #expect(!svg.contains("nan") && !svg.contains("inf"))
  }

  @Test("latencies have three digits and a unit")
  func latencies() {
    #expect(LatencyText.of(12) == "12 ns")
    #expect(LatencyText.of(8_312) == "8.31 µs")
    #expect(LatencyText.of(12_380_000) == "12.4 ms")
    #expect(LatencyText.of(999_499_000) == "999 ms")
    #expect(LatencyText.of(999_600_000) == "1.00 s")
    #expect(LatencyText.of(61e9) == "61.0 s")
  }
}
