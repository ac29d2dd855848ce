/// What was measured of the store beside a bound.
struct StoreTable {
  let title: String
  /// Of what each row has so many a second, or, for `p50`, microseconds of what.
  let unit: String
  /// What the ratio is to.
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
      StoreRow.padded("", 42)
        + [
          ("\(unit), median", 20), ("lowest", 10), ("highest", 10), ("× \(bound)", 14),
          ("lowest", 8),
        ]
        .map { StoreRow.right($0.0, $0.1) }.joined()
        + StoreRow.right("highest", 8) + StoreRow.right("µs CPU: client", 16)
        + StoreRow.right("server", 8) + StoreRow.right("database", 10) + "  target")
    for row in rows { Swift.print(row.line) }
    Swift.print()
  }
}

/// One way of doing the same thing.
struct StoreRow {
  let name: String
  /// What the ratio has to be; nil for what there is no target for.
  let target: Target?
  /// A second, or microseconds.
  var figures = Measurement()
  /// To the bound, in the same round; none for the bound itself.
  var ratios = Measurement()
  /// Microseconds of processor time for each.
  var clientTimes = Measurement()
  var serverTimes = Measurement()
  var databaseTimes = Measurement()

  enum Target {
    case atLeast(Double)
    case atMost(Double)
  }

  init(_ name: String, target: Target? = nil) {
    self.name = name
    self.target = target
  }

  var line: String {
    let hasRatio = !ratios.times.isEmpty
    return Self.padded(name, 42)
      + Self.right(Self.rounded(figures.median), 20) + Self.right(Self.rounded(figures.lowest), 10)
      + Self.right(Self.rounded(figures.highest), 10)
      + Self.right(hasRatio ? Self.decimals(ratios.median) : "", 14)
      + Self.right(hasRatio ? Self.decimals(ratios.lowest) : "", 8)
      + Self.right(hasRatio ? Self.decimals(ratios.highest) : "", 8)
      + Self.right(Self.time(clientTimes), 16) + Self.right(Self.time(serverTimes), 8)
      + Self.right(Self.time(databaseTimes), 10) + verdict
  }

  private var verdict: String {
    switch target {
    case .atLeast(let bound)?: "  ≥ \(bound)" + (ratios.median >= bound ? "  met" : "  missed")
    case .atMost(let bound)?: "  ≤ \(bound)" + (ratios.median <= bound ? "  met" : "  missed")
    case nil: ""
    }
  }

  private static func time(_ measurement: Measurement) -> String {
    measurement.times.isEmpty ? "" : rounded(measurement.median)
  }

  private static func rounded(_ number: Double) -> String { String(Int(number.rounded())) }

  private static func decimals(_ number: Double) -> String {
    let hundredths = Int((number * 100).rounded())
    let digits = String(hundredths % 100)
    return "\(hundredths / 100)." + (digits.count == 1 ? "0" + digits : digits)
  }

  static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.count)) + text
  }
}
