/// The metrics of one name: what Prometheus calls a metric family.
package struct MetricFamily: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    /// A sum that only grows, until the process restarts.
    case counter
    /// A value now.
    case gauge
    /// Observations, counted by size.
    case histogram
  }

  /// Lower-case words with `_` between them. A counter's name has no `_total`: its samples have.
  package let name: String
  package let kind: Kind
  /// The last word of ``name``, such as `seconds`; nil: a number of things.
  package let unit: String?
  /// One sentence for people, on any number of lines.
  package let help: String
  package var samples: [MetricSample]

  /// - Parameter samples: with distinct labels; their values fit `kind`.
  package init(
    _ name: String, _ kind: Kind, unit: String? = nil, help: String, samples: [MetricSample]
  ) {
    self.name = name
    self.kind = kind
    self.unit = unit
    self.help = help
    self.samples = samples
  }

  /// The name that queries use: that of the samples; of a histogram the name without `_bucket`.
  package var queryName: String { kind == .counter ? name + "_total" : name }
}

/// A label of a sample.
package struct MetricLabel: Hashable, Sendable {
  package let name: String
  /// Any text.
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// The value of a family with certain labels.
package struct MetricSample: Hashable, Sendable {
  package enum Value: Hashable, Sendable {
    case number(Double)
    case histogram(HistogramValue)
  }

  /// In the order in which they are written.
  package let labels: [MetricLabel]
  package let value: Value

  package init(_ labels: [MetricLabel] = [], _ value: Double) {
    self.labels = labels
    self.value = .number(value)
  }

  package init(_ labels: [MetricLabel] = [], _ histogram: HistogramValue) {
    self.labels = labels
    self.value = .histogram(histogram)
  }
}

/// Observations by size.
package struct HistogramValue: Hashable, Sendable {
  /// An observation with the labels of its origin, such as `trace_id`.
  package struct Exemplar: Hashable, Sendable {
    package let labels: [MetricLabel]
    package let value: Double
    /// Seconds since the epoch.
    package let time: Double?

    package init(_ labels: [MetricLabel], value: Double, time: Double? = nil) {
      self.labels = labels
      self.value = value
      self.time = time
    }
  }

  /// The inclusive upper bounds of the buckets, ascending. One more bucket has no bound.
  package let bounds: [Double]
  /// The observations in each bucket alone: one more number than ``bounds``.
  package let counts: [Int]
  /// Of all observations.
  package let sum: Double
  /// By the index of their bucket.
  package let exemplars: [Int: Exemplar]

  package init(bounds: [Double], counts: [Int], sum: Double, exemplars: [Int: Exemplar] = [:]) {
    precondition(counts.count == bounds.count + 1, "a histogram has a bucket without a bound")
    self.bounds = bounds
    self.counts = counts
    self.sum = sum
    self.exemplars = exemplars
  }
}
