import EntitlementDomain
import Histogram

/// The report of a run, in several formats.
struct LoadReport: Sendable {
  let plan: RunPlan
  let server: String
  let result: LoadResult
  /// The idle connections; nil when there were none.
  let idle: IdleConnections.Figures?
  /// The conditions that are met, with the measured values. See ``FailureCondition``.
  let violations: [String]

  enum Form: String, CaseIterable, Sendable {
    case table
    case json
    /// The percentile distribution of HdrHistogram, a `.hgrm` file.
    case hgrm
    /// The interval log of HdrHistogram, which is written during the run.
    case hdr
  }

  /// Nil when the report was already written.
  func text(as form: Form) throws -> String? {
    switch form {
    case .table: table
    case .json: try LoadDocument(self).json
    case .hgrm: distribution
    case .hdr: nil
    }
  }

  /// In milliseconds, the unit that plotters expect.
  private var distribution: String {
    var text = ""
    result.total.all.latencies.values.outputPercentileDistribution(
      to: &text, outputValueUnitScalingRatio: 1e6)
    return text
  }

  var threads: String { plan.threads == 1 ? "1 thread" : "\(plan.threads) threads" }

  /// One line about the load, for people.
  var load: String {
    let shape =
      switch plan.shape {
      case .closed(let inFlight):
        "\(plan.connections) connections × \(inFlight) in flight"
      case .open(let rate, let spacing, _):
        "\(LatencyText.digits(rate)) calls/s (\(spacing.rawValue)) on \(plan.connections) "
          + "connections"
      }
    return "\(shape), \(threads), \(plan.calls.mix), "
      + "\(plan.calls.choice) of \(plan.calls.customers.count) customers"
  }
}

extension LoadReport {
  /// The report for people.
  var table: String {
    let tally = result.total
    var lines = [
      "load          \(load)",
      "measured      \(LatencyText.digits(result.length)) s after \(plan.warmUp.shortText) of "
        + "warm-up, seed \(plan.calls.seed)" + (result.isInterrupted ? ", interrupted" : "")
        + (result.isServerGone ? ", given up" : ""),
      "",
    ]
    lines += rows(tally)
    lines.append("")
    let codes = tally.all.errors.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    lines.append("errors        \(codes.isEmpty ? "none" : codes.joined(separator: ", "))")
    lines.append("answers       \(tally.checked) checked, \(tally.wrong) wrong")
    lines += tally.faults.map { "  wrong       \($0)" }
    if case .open(_, _, let limit) = plan.shape, tally.delayed > 0 {
      lines.append(
        "delayed       \(tally.delayed) times: \(limit) calls in flight, or no connection; the "
          + "wait counts as latency")
    }
    if tally.lostConnections > 0 { lines.append("connections   \(tally.lostConnections) lost") }
    lines += figures
    lines += violations.map { "failed        \($0)" }
    return lines.joined(separator: "\n")
  }

  private var figures: [String] {
    var lines: [String] = []
    if let server = result.server, let each = result.serverTimePerCall {
      lines.append(
        "server        \(LatencyText.of(each * 1e3)) of processor time a call, "
          + "\(Self.megabytes(server.before.memory)) before, "
          + "\(Self.megabytes(server.after.memory)) after, "
          + "\(Self.megabytes(server.after.peakMemory)) peak")
    }
    if let idle {
      lines.append(
        "idle          \(idle.count) connections"
          + (idle.bytesEach.map { ", \($0) bytes of the server's memory each" } ?? ""))
    }
    if result.length > 0 {
      let share = result.ownProcessorTime / 1e6 / result.length
      lines.append(
        "this program  \(LatencyText.digits(share)) processors busy on \(threads)")
    }
    return lines
  }

  private func rows(_ tally: Tally) -> [String] {
    var cells = [
      [
        "calls", "count", "calls/s", "errors", "p50", "p90", "p99", "p99.9", "max", "sent",
        "received",
      ]
    ]
    for kind in CallKind.allCases {
      if let part = tally.kinds[kind] { cells.append(row(kind.name, part)) }
    }
    if tally.kinds.count != 1 { cells.append(row("all", tally.all)) }
    let widths = cells[0].indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    return cells.map { row in
      zip(row, widths).enumerated().map { column, cell in
        let padding = String(repeating: " ", count: cell.1 - cell.0.count)
        // Names are aligned to the left, numbers to the right.
        return column == 0 ? cell.0 + padding : padding + cell.0
      }.joined(separator: "  ")
    }
  }

  private func row(_ name: String, _ part: Tally.Kind) -> [String] {
    let rate = result.length > 0 ? Double(part.calls) / result.length : 0
    return [name, "\(part.calls)", LatencyText.digits(rate), "\(part.errorCount)"]
      + [50, 90, 99, 99.9].map { LatencyText.of(part.latencies.percentile($0)) }
      + [
        LatencyText.of(part.latencies.maximum), Self.megabytes(part.sentBytes),
        Self.megabytes(part.receivedBytes),
      ]
  }

  private static func megabytes(_ bytes: Int) -> String {
    LatencyText.digits(Double(bytes) / 1e6) + " MB"
  }
}
