package import RPCClient
import Wire

/// A load for other programs than `entitle-load`: calls of one kind for simulated customers, and
/// their results. Answers are not checked.
package struct MeasuredLoad: Sendable {
  package enum Shape: Sendable {
    /// A constant number of calls in flight on each connection.
    case closed(inFlight: Int)
    /// Calls a second, answered or not. Latency counts from the intended start time.
    case open(rate: Double)
  }

  package struct Outcome: Sendable {
    /// Length of the measurement.
    package let seconds: Double
    package let answered: Int
    /// Calls that were refused or not answered, by code.
    package let errors: [String: Int]
    /// Latencies of calls with an answer, and of calls without one.
    package let latencies: LatencyHistogram
    /// Latencies of calls that the server refused.
    package let refusals: LatencyHistogram
    package let lostConnections: Int
    /// Processor time of this program, in microseconds.
    package let ownProcessorTime: Double

    package var answeredPerSecond: Double { seconds > 0 ? Double(answered) / seconds : 0 }
    package var calls: Int { answered + errors.values.reduce(0, +) }
  }

  package var customers: BulkCustomers
  package var kind: CallKind
  package var shape: Shape
  package var connections: Int
  package var threads = 1
  /// Customers in one batch.
  package var batchSize = 1
  package var warmUp = Duration.milliseconds(500)
  package var duration: Duration
  package var seed: UInt64 = 1

  /// So large that the server sheds calls before the client delays them.
  private static let maximumInFlight = 1_000_000

  package init(
    of kind: CallKind, for customers: BulkCustomers, _ shape: Shape, connections: Int,
    duration: Duration
  ) {
    self.kind = kind
    self.customers = customers
    self.shape = shape
    self.connections = connections
    self.duration = duration
  }

  /// - Throws: ``RPCClientError`` when no connection can be opened.
  package func run(against target: RPCTarget) async throws -> Outcome {
    let calls = CallPlan(
      customers: customers, mix: CallMix([kind: 1]), choice: .uniform, batchSize: batchSize,
      timeout: .seconds(10), authority: nil, seed: seed, threads: threads)
    let loadShape: LoadShape =
      switch shape {
      case .closed(let inFlight): .closed(inFlight: inFlight)
      case .open(let rate):
        .open(rate: rate, spacing: .poisson, maximumInFlight: Self.maximumInFlight)
      }
    let plan = RunPlan(
      calls: calls, shape: loadShape, connections: connections, checks: .none, warmUp: warmUp,
      duration: duration, count: nil)
    let result = try await LoadRun(plan, to: target, server: nil, observer: RunObserver()).run()
    let all = result.total.all
    return Outcome(
      seconds: result.length, answered: all.answered, errors: all.errors,
      latencies: all.latencies, refusals: all.refusals,
      lostConnections: result.total.lostConnections, ownProcessorTime: result.ownProcessorTime)
  }
}
