/// Measurements of the store, compared with a baseline.
struct StoreTable {
  let title: String
  /// The unit of each row's rate per second, or, for `p50`, of its microseconds.
  let unit: String
  /// The baseline of the ratios.
  let bound: String
  var rows: [StoreRow]

  init(title: String, unit: String, bound: String, rows: [StoreRow]) {
    self.title = title
    self.unit = unit
    self.bound = bound
    self.rows = rows
  }

  func print() {
    Swift.print(title)
    Swift.print(
      TableText.left("", 42)
        + [
          ("\(unit), median", 20), ("lowest", 10), ("highest", 10), ("× \(bound)", 14),
          ("lowest", 8),
        ]
        .map { TableText.right($0.0, $0.1) }.joined()
        + TableText.right("highest", 8) + TableText.right("µs CPU: client", 16)
        + TableText.right("server", 8) + TableText.right("database", 10) + "  target")
    for row in rows { Swift.print(row.line) }
    Swift.print()
  }

  /// The table as part of a JSON report.
  var part: Report.Part { Report.Part(title, rows.flatMap { $0.figures(unit, beside: bound) }) }
}

/// One of the compared ways.
struct StoreRow {
  let name: String
  /// The target of the ratio; nil without one.
  let target: Target?
  /// A rate per second, or microseconds.
  var figures = Measurement()
  /// To the baseline of the same round; empty for the baseline itself.
  var ratios = Measurement()
  /// Microseconds of processor time per operation.
  var clientTimes = Measurement()
  var serverTimes = Measurement()
  var databaseTimes = Measurement()

  init(_ name: String, target: Target? = nil) {
    self.name = name
    self.target = target
  }

  var line: String {
    let hasRatio = !ratios.times.isEmpty
    return TableText.left(name, 42)
      + TableText.right(TableText.rounded(figures.median), 20)
      + TableText.right(TableText.rounded(figures.lowest), 10)
      + TableText.right(TableText.rounded(figures.highest), 10)
      + TableText.right(hasRatio ? TableText.decimals(ratios.median) : "", 14)
      + TableText.right(hasRatio ? TableText.decimals(ratios.lowest) : "", 8)
      + TableText.right(hasRatio ? TableText.decimals(ratios.highest) : "", 8)
      + TableText.right(Self.time(clientTimes), 16) + TableText.right(Self.time(serverTimes), 8)
      + TableText.right(Self.time(databaseTimes), 10) + verdict
  }

  func figures(_ unit: String, beside bound: String) -> [Figure] {
    [
      Figure(name, unit: unit, values: figures),
      Figure(name, unit: "× \(bound)", target: target, values: ratios),
      Figure("\(name): processor time of the client", unit: "µs", values: clientTimes),
      Figure("\(name): processor time of the server", unit: "µs", values: serverTimes),
      Figure("\(name): processor time of the database", unit: "µs", values: databaseTimes),
    ].filter { !$0.values.times.isEmpty }
  }

  private var verdict: String {
    guard let target else { return "" }
    return "  \(target)" + (target.isMet(by: ratios.median) ? "  met" : "  missed")
  }

  private static func time(_ measurement: Measurement) -> String {
    measurement.times.isEmpty ? "" : TableText.rounded(measurement.median)
  }
}
