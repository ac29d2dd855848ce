import Foundation

/// A condition under which a run fails: `p99>5ms`, `errors>0.1%`, `calls/s<10000`.
struct FailureCondition: Hashable, Sendable {
  enum Metric: String, CaseIterable, Hashable, Sendable {
    case p50, p90, p99
    case p999 = "p99.9"
    case max
    case errors
    case rate = "calls/s"

    var isLatency: Bool {
      switch self {
      case .p50, .p90, .p99, .p999, .max: true
      case .errors, .rate: false
      }
    }
  }

  enum Comparison: String, CaseIterable, Hashable, Sendable {
    // Longer operators come first: shorter ones are their prefixes.
    case atLeast = ">="
    case atMost = "<="
    case above = ">"
    case below = "<"
  }

  struct ParseError: Error, CustomStringConvertible {
    let description: String
  }

  /// The condition as it was written.
  let text: String
  let metric: Metric
  let comparison: Comparison
  /// In nanoseconds, errors, calls a second, or percent of the calls.
  let limit: Double
  /// For errors: the limit is a percentage of the calls.
  let isPercentage: Bool

  init(parsing text: String) throws(ParseError) {
    self.text = text
    guard let index = text.firstIndex(where: { $0 == "<" || $0 == ">" }),
      let comparison = Comparison.allCases.first(where: { text[index...].hasPrefix($0.rawValue) })
    else {
      throw ParseError(
        description: "\"\(text)\" has no comparison: "
          + "a condition is a metric, >, <, >= or <=, and a value")
    }
    let name = text[..<index].trimmingCharacters(in: .whitespaces)
    guard let metric = Metric(rawValue: name) else {
      let names = Metric.allCases.map(\.rawValue).joined(separator: ", ")
      throw ParseError(description: "\"\(name)\" is not a metric; the metrics are \(names)")
    }
    let value = text[index...].dropFirst(comparison.rawValue.count)
      .trimmingCharacters(in: .whitespaces)
    let digits = value.prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "-") }
    let unit = value[digits.endIndex...].trimmingCharacters(in: .whitespaces)
    guard let number = Double(digits), number >= 0, number.isFinite else {
      throw ParseError(description: "\"\(value)\" does not begin with a number of 0 or more")
    }
    self.metric = metric
    self.comparison = comparison
    isPercentage = unit == "%"
    guard let factor = Self.factor(of: unit, for: metric) else {
      throw ParseError(description: "\(metric.rawValue) takes \(Self.units(of: metric))")
    }
    limit = number * factor
  }

  private static func factor(of unit: String, for metric: Metric) -> Double? {
    switch (metric.isLatency, unit) {
    case (true, "us"), (true, "µs"): 1e3
    case (true, "ms"): 1e6
    case (true, "s"): 1e9
    case (false, ""): 1
    case (false, "%"): metric == .errors ? 1 : nil
    default: nil
    }
  }

  private static func units(of metric: Metric) -> String {
    switch metric {
    case .errors: "a number, with or without %"
    case .rate: "a number without a unit"
    default: "a number with us, ms or s"
    }
  }

  /// - Returns: the condition and the measured value, when the condition is met; otherwise nil.
  func violation(by result: LoadResult) -> String? {
    let all = result.total.all
    let value =
      switch metric {
      case .p50: all.latencies.percentile(50)
      case .p90: all.latencies.percentile(90)
      case .p99: all.latencies.percentile(99)
      case .p999: all.latencies.percentile(99.9)
      case .max: all.latencies.maximum
      case .rate: result.rate
      case .errors:
        isPercentage
          ? 100 * Double(all.errorCount) / Double(Swift.max(all.calls, 1)) : Double(all.errorCount)
      }
    let isMet =
      switch comparison {
      case .above: value > limit
      case .atLeast: value >= limit
      case .below: value < limit
      case .atMost: value <= limit
      }
    guard isMet else { return nil }
    let measured =
      metric.isLatency
      ? LatencyText.of(value) : LatencyText.digits(value) + (isPercentage ? " %" : "")
    return "\(text): \(metric.rawValue) is \(measured)"
  }
}
