import EntitlementDomain
import LoadClient
import NIOCore
import RPCClient
import Wire

/// A server at twice the load that it can serve. It must refuse the excess at once, answer the rest
/// as quickly as before, and recover when the load ends.
struct Overload {
  let plan: StressPlan

  /// The kind of calls of the overload.
  enum Calls: CaseIterable {
    /// GetCustomerState, read from the store.
    case cold
    /// Cached batches, which need processor time only.
    case batches

    /// Calls in flight on each connection of the closed loop: enough to keep the server busy,
    /// without a long queue.
    fileprivate var inFlight: Int {
      switch self {
      case .cold: 8
      case .batches: 1
      }
    }

    var name: String {
      switch self {
      case .cold: "reads from the store"
      case .batches: "batches of \(Overload.batchSize) from memory"
      }
    }
  }

  fileprivate static let batchSize = 128
  private static let connections = 8
  /// The customers in the batches.
  private static let heldCustomers = 2_000
  /// After this time the overload is steady.
  private static let warmUp = Duration.seconds(1)
  /// How long the latency is watched before the load. It includes interruptions by the machine
  /// itself.
  private static let quiet = Duration.seconds(1)

  func measure() async throws -> [Figure] {
    let store = try await plan.sharedStore()
    var figures: [Figure] = []
    for calls in Calls.allCases { figures += try await measure(calls, store: store) }
    return figures
  }

  private func measure(_ calls: Calls, store: String) async throws -> [Figure] {
    // A server that shares the processors with its store shares them with the callers too. A server
    // that does all the work itself has one processor, and the callers have the others.
    let processors = ProcessorAffinity.available
    let server = try await EntitledProcess(
      store: store, listener: .tcp,
      processor: calls == .batches && processors.count > 1 ? processors[0] : nil)
    try await CustomerCalls.warm(Self.heldCustomers, at: server.address)
    var figures = OverloadFigures(name: calls.name)
    plan.progress.start("overload with \(calls.name), rounds", of: plan.rounds)
    for round in 1...plan.rounds {
      let most = try await load(calls, .closed(inFlight: calls.inFlight), at: server, round)
      let rate = most.answeredPerSecond
      figures.capacity.add(rate)
      let half = try await load(calls, .open(rate: rate / 2), at: server, round)
      let probe = try await LatencyProbe(request(calls), to: server.address)
      try await Task.sleep(for: Self.quiet)
      let begun = NIODeadline.now()
      let ended = begun + TimeAmount(Self.warmUp + plan.duration)
      let memory = MemoryWatch(of: server)
      let twice = try await load(calls, .open(rate: 2 * rate), at: server, round)
      let growth = await memory.stop()
      try await Task.sleep(for: Self.quiet * 2)
      let probed = try await probe.calls()
      try await probe.stop()
      figures.add(twice, of: rate, besideHalf: half)
      figures.growth.add(Double(growth) / 1e6)
      figures.recovery.add(
        Self.recovery(in: probed, begun: begun, ended: ended) / 1e6)
      plan.progress.advance(by: 1)
    }
    plan.progress.end()
    try server.stop()
    return figures.all
  }

  private func load(
    _ calls: Calls, _ shape: MeasuredLoad.Shape, at server: EntitledProcess, _ round: Int
  ) async throws -> MeasuredLoad.Outcome {
    let customers =
      calls == .cold
      ? plan.customers : try BulkCustomers(count: Self.heldCustomers, seed: plan.customers.seed)
    var load = MeasuredLoad(
      of: calls == .cold ? .cold : .batch, for: customers, shape, connections: Self.connections,
      duration: plan.duration)
    load.batchSize = Self.batchSize
    load.warmUp = Self.warmUp
    load.seed = UInt64(round)
    return try await load.run(against: RPCTarget(server.address))
  }

  private func request(_ calls: Calls) throws -> RPCRequest {
    switch calls {
    case .cold: try CustomerCalls.state(of: 0, .fullyConsistent)
    case .batches: try CustomerCalls.states(of: 0..<Self.batchSize)
    }
  }

  /// From the end of the load until the calls of the probe are as quick as before it, in
  /// nanoseconds; the whole watched time if they never are.
  private static func recovery(
    in calls: [LatencyProbe.Call], begun: NIODeadline, ended: NIODeadline
  ) -> Double {
    let before = calls.windows(from: begun - TimeAmount(quiet), to: begun)
    let slowest = before.max() ?? .zero
    let after = calls.windows(from: ended, to: calls.last?.start ?? ended)
    let first = after.firstIndex { $0 <= slowest } ?? after.count
    return Double(first) * Double(LatencyProbe.window.nanoseconds)
  }
}

/// The results of one kind of calls.
private struct OverloadFigures {
  var capacity: Figure
  var half: Figure
  var ratio: Figure
  var served: Figure
  var refused: Figure
  var refusals: Figure
  var unanswered: Figure
  var growth: Figure
  var recovery: Figure

  init(name: String) {
    capacity = Figure("\(name): served, closed loop", unit: "calls/s")
    half = Figure("\(name): p99 at half of that", unit: "µs")
    ratio = Figure("\(name): p99 of answers at twice, over half", unit: "×", target: .atMost(3))
    served = Figure("\(name): answered at twice, over closed loop", unit: "×")
    refused = Figure("\(name): refused at twice", unit: "%")
    refusals = Figure("\(name): p99 of refusals", unit: "µs")
    unanswered = Figure("\(name): neither answered nor refused", unit: "calls", target: .atMost(0))
    growth = Figure("\(name): the server's memory grew by", unit: "MB")
    recovery = Figure("\(name): until p99 is as before", unit: "ms", target: .atMost(1_000))
  }

  var all: [Figure] {
    [capacity, half, ratio, served, refused, refusals, unanswered, growth, recovery]
  }

  mutating func add(
    _ twice: MeasuredLoad.Outcome, of rate: Double, besideHalf half: MeasuredLoad.Outcome
  ) {
    self.half.add(half.latencies.percentile(99) / 1_000)
    ratio.add(twice.latencies.percentile(99) / half.latencies.percentile(99))
    served.add(twice.answeredPerSecond / rate)
    let refusedCount = twice.errors["RESOURCE_EXHAUSTED", default: 0]
    refused.add(100 * Double(refusedCount) / Double(max(1, twice.calls)))
    refusals.add(twice.refusals.percentile(99) / 1_000)
    unanswered.add(Double(twice.calls - twice.answered - refusedCount))
  }
}

/// The maximum growth of a server's private memory.
private struct MemoryWatch {
  private let task: Task<Int, Never>

  private static let interval = Duration.milliseconds(50)

  init(of server: EntitledProcess) {
    let process = server.identifier
    task = Task {
      let before = ProcessMemory.own(of: process)
      var most = before
      while !Task.isCancelled {
        most = max(most, ProcessMemory.own(of: process))
        try? await Task.sleep(for: Self.interval)
      }
      return most - before
    }
  }

  /// - Returns: in bytes.
  func stop() async -> Int {
    task.cancel()
    return await task.value
  }
}
