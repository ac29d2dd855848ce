import LoadClient

/// What honest clients feel of hostile ones: a tenth of all connections sends garbage, half frames,
/// huge frames or slow bytes, or nothing, and comes again at once when it is closed.
struct HostileClients {
  let plan: StressPlan

  private static let honest = 90
  private static let customers = 500
  /// Of the rate that the server serves, so that there is room for the rest.
  private static let share = 0.25

  func measure() async throws -> [Figure] {
    let store = try await plan.sqlite(Self.customers)
    let server = try await EntitledProcess(store: store, listener: .tcp)
    try await CustomerCalls.warm(Self.customers, at: server.address)
    let rate = Self.share * (try await load(.closed(inFlight: 1), at: server)).answeredPerSecond

    let name = "\(Self.honest) honest connections, \(Int(rate)) calls/s: p99"
    let hostile = HostileClient.Manner.allCases.count
    var alone = Figure(name, unit: "µs")
    var beside = Figure("\(name) beside \(hostile) hostile ones", unit: "µs")
    var ratio = Figure("\(name) beside hostile ones, over without", unit: "×", target: .atMost(1.2))
    var failed = Figure("honest calls that failed", unit: "calls", target: .atMost(0))
    var opened = Figure("connections of hostile ones", unit: "a second")
    plan.progress.start("hostile clients, rounds", of: plan.rounds)
    for round in 1...plan.rounds {
      let without = try await load(.open(rate: rate), at: server, seed: round)
      let clients = try HostileClient.Manner.allCases.map {
        try HostileClient($0, to: server.address, seed: UInt64(round))
      }
      let with = try await load(.open(rate: rate), at: server, seed: round)
      opened.add(Double(clients.reduce(0) { $0 + $1.connections }) / with.seconds)
      for client in clients { client.stop() }
      alone.add(without.latencies.percentile(99) / 1_000)
      beside.add(with.latencies.percentile(99) / 1_000)
      ratio.add(with.latencies.percentile(99) / without.latencies.percentile(99))
      failed.add(Double(with.calls - with.answered))
      plan.progress.advance(by: 1)
    }
    plan.progress.end()
    try server.stop()
    return [alone, beside, ratio, failed, opened]
  }

  private func load(
    _ shape: MeasuredLoad.Shape, at server: EntitledProcess, seed: Int = 0
  ) async throws -> MeasuredLoad.Outcome {
    let customers = try BulkCustomers(count: Self.customers, seed: plan.customers.seed)
    var load = MeasuredLoad(
      of: .hot, for: customers, shape, connections: Self.honest, duration: plan.duration)
    load.seed = UInt64(seed)
    return try await load.run(against: server.address)
  }
}
