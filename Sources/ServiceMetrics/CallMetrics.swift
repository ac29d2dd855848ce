import Framing
package import MetricsExposition
package import RPCServer

/// The metrics of finished calls, named as OpenTelemetry names those of RPC servers.
package enum CallMetrics {
  /// OpenTelemetry's name for all methods that a server does not know.
  private static let otherMethod = "_OTHER"
  private static let bounds = CallDuration.bounds.map { Double($0) / 1e6 }

  /// The bounds of buckets in seconds, for the times of libraries too.
  package static var boundsInSeconds: [Double] { bounds }

  /// - Parameter methods: the names by the index of ``CallCounts``.
  package static func families(
    of calls: CallCountsOfFronts, methods: [String]
  ) -> [MetricFamily] {
    var durations: [MetricSample] = []
    var finished: [MetricSample] = []
    for front in CallFront.allCases {
      add(calls[front], of: front, methods: methods, to: &durations, &finished)
    }
    return [MetricTable.callDuration.family(durations), MetricTable.finishedCalls.family(finished)]
  }

  private static func add(
    _ calls: CallCounts, of front: CallFront, methods: [String],
    to durations: inout [MetricSample], _ finished: inout [MetricSample]
  ) {
    let rows: [(index: Int?, name: String)] =
      methods.enumerated().map { ($0.offset, $0.element) } + [(nil, otherMethod)]
    for (index, name) in rows {
      let labels = [
        MetricLabel("rpc_system_name", front.systemName), MetricLabel("rpc_method", name),
      ]
      let (counts, nanoseconds) = calls.durations(of: index)
      // A method that was never called would have 20 lines of zeros.
      if counts.contains(where: { $0 > 0 }) {
        durations.append(
          MetricSample(
            labels, HistogramValue(bounds: bounds, counts: counts, sum: Double(nanoseconds) / 1e9)))
      }
      for code in RPCCode.allCases {
        let count = calls[index, code]
        // Successes are there from the start, so that the rate of the first ones is known.
        let isFirst = code == .ok && index != nil && front == .ttrpc
        guard count > 0 || isFirst else { continue }
        finished.append(
          MetricSample(
            labels + [MetricLabel("rpc_response_status_code", code.name)], Double(count)))
      }
    }
  }
}
