import Foundation

/// Draws the results of a run: latency over time, and latency by percentile.
struct LoadPlot {
  let report: LoadReport

  private static let width = 960.0
  private static let header = 76.0
  private static let gap = 16.0

  /// The contents of an SVG file.
  var svg: String {
    let height = Self.header + 2 * LatencyPanel.height + Self.gap
    var svg = SVGDocument(width: Self.width, height: height)
    svg.text("entitle-load, \(report.server)", at: (24, 24), size: 16, color: "#111111")
    svg.text(report.load, at: (24, 44))
    svg.text(outcome, at: (24, 62))
    overTime.draw(in: &svg)
    percentiles.draw(in: &svg)
    return svg.text
  }

  private var outcome: String {
    let all = report.result.total.all
    return "\(LatencyText.digits(report.result.rate)) calls/s, "
      + "\(all.errorCount) errors, \(report.result.total.wrong) wrong answers"
  }

  private var overTime: LatencyPanel {
    let seconds = report.result.seconds.filter { $0.calls > 0 }
    func series(
      _ name: String, _ color: String, _ value: (LoadResult.Second) -> Double
    ) -> LatencyPanel.Series {
      LatencyPanel.Series(
        name: name, color: color, points: seconds.map { ($0.end, value($0)) })
    }
    return LatencyPanel(
      title: "Latency over time", axis: "seconds",
      series: [
        series("p50", "#1f77b4") { $0.median }, series("p99", "#ff7f0e") { $0.p99 },
        series("max", "#d62728") { $0.maximum },
      ],
      ticks: Self.timeTicks(until: seconds.last?.end ?? 1), top: Self.header,
      width: Self.width)
  }

  /// About ten ticks, at round numbers of seconds.
  private static func timeTicks(until end: Double) -> [LatencyPanel.Tick] {
    let rough = max(end / 10, 0.1)
    let power = pow(10, log10(rough).rounded(.down))
    let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= rough * 0.999 } ?? rough
    // The last second ends slightly after its tick.
    let count = Int((end / step - 0.05).rounded(.up))
    return (0...max(count, 1)).map { number in
      let x = Double(number) * step
      return LatencyPanel.Tick(
        x: x, label: x == x.rounded() ? "\(Int(x))" : String(format: "%.1f", x))
    }
  }

  /// Each step to the right has a tenth of the remaining calls.
  private var percentiles: LatencyPanel {
    let latencies = report.result.total.all.latencies
    // The axis ends where a single call is left.
    let nines = min(max(log10(Double(max(latencies.count, 10))).rounded(.up), 1), 6)
    let points = stride(from: 0, through: nines, by: 0.02).map { x in
      (x: x, latency: latencies.percentile(100 * (1 - pow(10, -x))))
    }
    let labels = ["0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %"]
    return LatencyPanel(
      title: "Latency by percentile", axis: "percentile",
      series: [LatencyPanel.Series(name: "all", color: "#1f77b4", points: points)],
      ticks: (0...Int(nines)).map { LatencyPanel.Tick(x: Double($0), label: labels[$0]) },
      top: Self.header + LatencyPanel.height + Self.gap, width: Self.width)
  }
}
