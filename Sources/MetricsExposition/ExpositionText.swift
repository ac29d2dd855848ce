/// Writes families as Prometheus text 0.0.4 or OpenMetrics 1.0.0. They differ in the names of
/// counters in comments, in `# UNIT`, in exemplars, in the escapes of help and in `# EOF`.
struct ExpositionText {
  private let format: ExpositionFormat
  private var text = ""

  /// OpenMetrics allows the labels of an exemplar this many characters together. A longer exemplar
  /// is left out.
  private static let exemplarLength = 128

  init(_ format: ExpositionFormat) {
    self.format = format
    text.reserveCapacity(65_536)
  }

  mutating func finish() -> [UInt8] {
    if format == .openMetrics { text += "# EOF\n" }
    return Array(text.utf8)
  }

  mutating func write(_ family: MetricFamily) {
    let name = format == .openMetrics ? family.name : family.queryName
    text += "# HELP \(name) \(escaped(help: family.help))\n"
    text += "# TYPE \(name) \(family.kind.rawValue)\n"
    if format == .openMetrics, let unit = family.unit { text += "# UNIT \(name) \(unit)\n" }
    for sample in family.samples {
      switch sample.value {
      case .number(let value):
        writeLine(family.queryName, sample.labels, Self.number(value))
      case .histogram(let value):
        write(value, family.name, sample.labels)
      }
    }
  }

  private mutating func write(
    _ histogram: HistogramValue, _ name: String, _ labels: [MetricLabel]
  ) {
    var total = 0
    for (index, count) in histogram.counts.enumerated() {
      total += count
      let bound = index < histogram.bounds.count ? histogram.bounds[index] : .infinity
      writeLine(
        name + "_bucket", labels + [MetricLabel("le", Self.bound(bound))], "\(total)",
        histogram.exemplars[index])
    }
    writeLine(name + "_sum", labels, Self.number(histogram.sum))
    writeLine(name + "_count", labels, "\(total)")
  }

  private mutating func writeLine(
    _ name: String, _ labels: [MetricLabel], _ value: String,
    _ exemplar: HistogramValue.Exemplar? = nil
  ) {
    text += name
    if !labels.isEmpty { text += Self.labelSet(labels) }
    text += " \(value)"
    if format == .openMetrics, let exemplar { write(exemplar) }
    text += "\n"
  }

  private mutating func write(_ exemplar: HistogramValue.Exemplar) {
    let length = exemplar.labels.reduce(0) {
      $0 + $1.name.unicodeScalars.count + $1.value.unicodeScalars.count
    }
    guard length <= Self.exemplarLength else { return }
    text += " # \(Self.labelSet(exemplar.labels)) \(Self.number(exemplar.value))"
    if let time = exemplar.time { text += " \(Self.number(time))" }
  }

  private static func labelSet(_ labels: [MetricLabel]) -> String {
    let pairs = labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
    return "{\(pairs.joined(separator: ","))}"
  }

  private func escaped(help: String) -> String {
    Self.escaped(help, quotes: format == .openMetrics)
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x0A || $0 == 0x22 }) else {
      return text
    }
    var escaped = ""
    // Scalars: a carriage return and a line feed are one character, but the line feed ends a line.
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// The largest number below which all whole numbers have a `Double`.
  private static let maximumWhole = 9_007_199_254_740_992.0

  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if value.magnitude < maximumWhole, value.rounded() == value { return "\(Int64(value))" }
    return "\(value)"
  }

  /// A bound has a point or an exponent in both forms, as OpenMetrics wants it, so that a server that
  /// changes the form continues its series.
  private static func bound(_ value: Double) -> String {
    value.isInfinite ? "+Inf" : "\(value)"
  }
}
