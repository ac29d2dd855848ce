import Foundation

/// One chart of latencies, with a logarithmic vertical axis.
struct LatencyPanel {
  struct Series {
    let name: String
    let color: String
    /// Latencies in nanoseconds.
    let points: [(x: Double, latency: Double)]
  }

  struct Tick {
    let x: Double
    let label: String
  }

  let title: String
  let axis: String
  let series: [Series]
  /// Ticks of the horizontal axis; the first and the last are its ends.
  let ticks: [Tick]
  /// Vertical position in the drawing, in pixels.
  let top: Double
  let width: Double

  static let height = 300.0
  private static let left = 80.0
  private static let right = 44.0
  private static let header = 44.0
  private static let footer = 44.0
  private static let grid = "#e4e4e4"

  func draw(in svg: inout SVGDocument) {
    let decades = self.decades
    svg.text(title, at: (Self.left, top + 20), size: 14, color: "#111111")
    for decade in decades {
      let y = y(pow(10, Double(decade)), decades)
      svg.line((Self.left, y), (width - Self.right, y), color: Self.grid)
      svg.text(
        LatencyPanel.label(ofDecade: decade), at: (Self.left - 8, y + 4), anchor: .end)
    }
    for tick in ticks {
      let x = x(tick.x)
      svg.line((x, top + Self.header), (x, top + Self.height - Self.footer), color: Self.grid)
      svg.text(tick.label, at: (x, top + Self.height - Self.footer + 16), anchor: .middle)
    }
    svg.text(
      axis, at: ((Self.left + width - Self.right) / 2, top + Self.height - 8), anchor: .middle)
    for line in series {
      let points = line.points.filter { $0.latency > 0 }
        .map { (x: x($0.x), y: y($0.latency, decades)) }
      svg.path(points, color: line.color)
      if points.count == 1 { svg.dot(points[0], color: line.color) }
    }
    drawLegend(in: &svg)
  }

  private func drawLegend(in svg: inout SVGDocument) {
    guard series.count > 1 else { return }
    var x = width - Self.right
    for line in series.reversed() {
      svg.text(line.name, at: (x, top + 20), anchor: .end)
      x -= 8 * Double(line.name.count) + 8
      svg.line((x - 16, top + 16), (x, top + 16), color: line.color, width: 3)
      x -= 28
    }
  }

  /// Range of the vertical axis, in powers of ten nanoseconds. It contains every point, and has at
  /// least one step.
  private var decades: ClosedRange<Int> {
    let logarithms = series.flatMap(\.points).map(\.latency).filter { $0 > 0 }.map(log10)
    let low = Int((logarithms.min() ?? 3).rounded(.down))
    return low...max(low + 1, Int((logarithms.max() ?? 6).rounded(.up)))
  }

  private func x(_ value: Double) -> Double {
    let first = ticks.first?.x ?? 0
    let last = max(ticks.last?.x ?? 1, first + .leastNonzeroMagnitude)
    return Self.left + (value - first) / (last - first) * (width - Self.left - Self.right)
  }

  private func y(_ latency: Double, _ decades: ClosedRange<Int>) -> Double {
    let (low, high) = (Double(decades.lowerBound), Double(decades.upperBound))
    let bottom = top + Self.height - Self.footer
    return bottom - (log10(latency) - low) / (high - low) * (bottom - top - Self.header)
  }

  private static func label(ofDecade decade: Int) -> String {
    let units = ["ns", "µs", "ms", "s"]
    let unit = min(max(decade, 0) / 3, 3)
    return "\(Int(pow(10, Double(decade - unit * 3)))) \(units[unit])"
  }
}
