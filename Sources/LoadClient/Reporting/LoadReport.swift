import EntitlementDomain
import Histogram

/// A run and what came of it, to be written in several forms.
struct LoadReport: Sendable {
  let plan: RunPlan
  let server: String
  let result: LoadResult
  /// Connections beside the load that did nothing.
  let idle: IdleConnections.Figures?
  /// Of ``FailureCondition``: those that are met, with what was measured.
  let violations: [String]

  enum Form: String, CaseIterable, Sendable {
    case table
    case json
    /// The percentile distribution of HdrHistogram, a `.hgrm` file.
    case hgrm
    /// The interval log of HdrHistogram, which is written while the run goes on.
    case hdr
  }

  /// Nil when it was written already.
  func text(as form: Form) throws -> String? {
    switch form {
    case .table: table
    case .json: try LoadDocument(self).json
    case .hgrm: distribution
    case .hdr: nil
    }
  }

  /// In milliseconds, as other programs write it and plotters read it.
  private var distribution: String {
    var text = ""
    result.total.all.latencies.values.outputPercentileDistribution(
      to: &text, outputValueUnitScalingRatio: 1e6)
    return text
  }

  var threads: String { plan.threads == 1 ? "1 thread" : "\(plan.threads) threads" }

  /// Of the load, in a line for people.
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
