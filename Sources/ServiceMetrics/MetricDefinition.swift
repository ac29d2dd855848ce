package import MetricsExposition

/// A metric that is shown: its name, and the values of GetStatistics that it shows.
package struct MetricDefinition: Sendable {
  package let name: String
  package let kind: MetricFamily.Kind
  package let unit: String?
  package let help: String
  /// The names of its labels.
  package let labels: [String]
  /// Empty for a metric that GetStatistics does not have in this form.
  package let sources: [StatisticSource]

  private init(
    _ name: String, _ kind: MetricFamily.Kind, _ help: String, labels: [String],
    _ sources: [StatisticSource]
  ) {
    self.name = name
    self.kind = kind
    unit = ["seconds", "bytes"].first { name.hasSuffix("_" + $0) }
    self.help = help
    self.labels = labels
    self.sources = sources
  }

  private static func labels(of sources: [StatisticSource]) -> [String] {
    sources.first { !$0.isSum }.map { $0.fixed.map(\.name) + $0.placeholders } ?? []
  }

  static func counter(
    _ name: String, _ help: String, _ sources: StatisticSource...
  ) -> MetricDefinition {
    MetricDefinition(name, .counter, help, labels: labels(of: sources), sources)
  }

  static func gauge(
    _ name: String, _ help: String, _ sources: StatisticSource...
  ) -> MetricDefinition {
    MetricDefinition(name, .gauge, help, labels: labels(of: sources), sources)
  }

  /// A metric that is not made from values of GetStatistics.
  static func direct(
    _ name: String, _ kind: MetricFamily.Kind, _ help: String, labels: [String] = [],
    sums: [String] = []
  ) -> MetricDefinition {
    MetricDefinition(name, kind, help, labels: labels, sums.map { .sum($0) })
  }

  /// The name that queries use.
  package var queryName: String { family([]).queryName }

  package func family(_ samples: [MetricSample]) -> MetricFamily {
    MetricFamily(name, kind, unit: unit, help: help, samples: samples)
  }
}

/// A value of GetStatistics, or several whose names differ in parts in capitals, such as
/// `submissions.refused.VERDICT`. Each such part becomes a label with the part's name. The last one may
/// contain dots, as names of callers do.
package struct StatisticSource: Sendable, ExpressibleByStringLiteral {
  package let pattern: String
  let fixed: [MetricLabel]
  /// What the value is multiplied with: metrics have base units.
  let scale: Double
  /// The value is the sum of other values of its metric, or of numbers that are the metric: a query
  /// adds them up.
  package let isSum: Bool

  private init(
    _ pattern: String, fixed: [MetricLabel] = [], scale: Double = 1, isSum: Bool = false
  ) {
    self.pattern = pattern
    self.fixed = fixed
    self.scale = scale
    self.isSum = isSum
  }

  package init(stringLiteral pattern: String) {
    self.init(pattern)
  }

  /// A value with a label that its name implies.
  static func labelled(_ pattern: String, _ name: String, _ value: String) -> StatisticSource {
    StatisticSource(pattern, fixed: [MetricLabel(name, value)])
  }

  static func microseconds(_ pattern: String) -> StatisticSource {
    StatisticSource(pattern, scale: 1e-6)
  }

  static func sum(_ pattern: String) -> StatisticSource {
    StatisticSource(pattern, isSum: true)
  }

  private var parts: [Substring] { pattern.split(separator: ".") }

  private static func isPlaceholder(_ part: Substring) -> Bool {
    part.allSatisfy { $0.isUppercase || $0 == "_" }
  }

  /// The labels of the parts in capitals.
  var placeholders: [String] { parts.filter(Self.isPlaceholder).map { $0.lowercased() } }

  /// The parts of the name that are always the same, which come first.
  var prefix: String { parts.prefix { !Self.isPlaceholder($0) }.joined(separator: ".") }
}
