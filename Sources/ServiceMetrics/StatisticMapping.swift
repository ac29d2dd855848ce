package import EntitlementService
import Framing
package import MetricsExposition

/// Finds the metric of each value of GetStatistics, by one look-up of its name and one for each part
/// of it.
package struct StatisticMapping: Sendable {
  private struct Target: Sendable {
    /// The index into ``definitions``.
    let metric: Int
    let source: StatisticSource
    let placeholders: [String]
  }

  private struct Key: Hashable {
    let prefix: String
    let placeholders: Int
  }

  private let definitions: [MetricDefinition]
  private let targets: [Key: Target]

  /// - Parameter definitions: no two have a source for the same value.
  package init(_ definitions: [MetricDefinition] = MetricTable.all) {
    self.definitions = definitions
    var targets: [Key: Target] = [:]
    for (index, definition) in definitions.enumerated() {
      for source in definition.sources {
        let placeholders = source.placeholders
        let key = Key(prefix: source.prefix, placeholders: placeholders.count)
        precondition(targets[key] == nil, "\(source.pattern) is shown twice")
        targets[key] = Target(metric: index, source: source, placeholders: placeholders)
      }
    }
    self.targets = targets
  }

  /// The metrics of values, in the order of the definitions.
  ///
  /// - Returns: also the names of values without a metric.
  package func families(
    of values: [StatisticValue]
  ) -> (families: [MetricFamily], unknown: [String]) {
    var samples: [[MetricSample]] = Array(repeating: [], count: definitions.count)
    var unknown: [String] = []
    for value in values {
      guard let (target, labels) = target(of: value.name) else {
        unknown.append(value.name)
        continue
      }
      if target.source.isSum { continue }
      samples[target.metric].append(
        MetricSample(target.source.fixed + labels, Double(value.value) * target.source.scale))
    }
    let families = definitions.indices.filter { !samples[$0].isEmpty }
      .map { definitions[$0].family(samples[$0]) }
    return (families, unknown)
  }

  /// Only names of callers have dots. A new counter of calls is no code.
  private static func isPossible(_ label: MetricLabel) -> Bool {
    switch label.name {
    case "caller": true
    case "code": RPCCode.allCases.contains { $0.name == label.value }
    default: !label.value.contains(".")
    }
  }

  private func target(of name: String) -> (Target, [MetricLabel])? {
    if let target = targets[Key(prefix: name, placeholders: 0)] { return (target, []) }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    // The longest prefix first: `access.refused.REASON.CALLER` has one placeholder more than
    // `access.refused.REASON`, and a caller's name may have dots.
    for length in stride(from: parts.count - 1, to: 0, by: -1) {
      let prefix = parts[..<length].joined(separator: ".")
      for count in (1...2).reversed() where length + count <= parts.count {
        guard let target = targets[Key(prefix: prefix, placeholders: count)] else { continue }
        let values = name.dropFirst(prefix.utf8.count + 1)
          .split(separator: ".", maxSplits: count - 1, omittingEmptySubsequences: false)
        let labels = zip(target.placeholders, values).map { MetricLabel($0, String($1)) }
        if labels.allSatisfy(Self.isPossible) { return (target, labels) }
      }
    }
    return nil
  }
}
