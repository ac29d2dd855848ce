package import Wire

/// A load for other programs than `entitle-load`: reads of simulated customers, all alike, and what
/// came of them. Answers are not compared with what they must be.
package struct MeasuredLoad: Sendable {
  package enum Shape: Sendable {
    /// As many calls at a time on each connection.
    case closed(inFlight: Int)
    /// So many calls a second, answered or not; each counts from the moment at which it was due.
    case open(rate: Double)
  }

  package struct Outcome: Sendable {
    /// How long it was measured.
    package let seconds: Double
    package let answered: Int
    /// Calls that were refused or not answered, by code.
    package let errors: [String: Int]
    /// Of calls that were answered, and of those that nobody answered.
    package let latencies: LatencyHistogram
    /// Of calls that the server refused.
    package let refusals: LatencyHistogram
    package let lostConnections: Int
    /// Of this program, in microseconds.
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

  /// The server is to be the one that turns away.
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

  /// - Throws: ``RPCClientError`` when no connection can be made.
  package func run(against address: ServerAddress) async throws -> Outcome {
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
    let result = try await LoadRun(plan, to: address, server: nil, audience: RunAudience()).run()
    let all = result.total.all
    return Outcome(
      seconds: result.length, answered: all.answered, errors: all.errors,
      latencies: all.latencies, refusals: all.refusals,
      lostConnections: result.total.lostConnections, ownProcessorTime: result.ownProcessorTime)
  }
}
