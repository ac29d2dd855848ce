extension LoadReport {
  /// For people.
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
    if case .open(_, _, let limit) = plan.shape, tally.held > 0 {
      lines.append(
        "held up       \(tally.held) times: \(limit) calls in flight, or no connection; what waited "
          + "is counted from its moment")
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
          + "\(Self.megabytes(server.after.peakMemory)) at most")
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
        // Names to the left, numbers to the right.
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
