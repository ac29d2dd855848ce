import LoadClient
import RPCClient
import TestSupport

/// The effect of hostile clients, which reconnect at once, on honest ones.
struct HostileClients {
  let plan: StressPlan
  /// One client for each manner.
  let manners: [HostileClient.Manner]
  /// Whether the server has access control; the honest clients then have a token.
  var hasAccessControl = false
  /// At most, of the p99 beside hostile clients over that without.
  var target: Double?

  private static let honest = 90
  private static let customers = 500
  /// Open files that the server and the hostile clients need, at most.
  private static let files = 6_000
  /// The load as a share of the rate that the server can serve, which leaves room for the hostile
  /// clients.
  private static let share = 0.25
  /// The length of a turn with or without hostile clients. Turns alternate, since other loads of
  /// the machine change within seconds.
  private static let turn = Duration.seconds(1)

  /// A tenth of all connections; several clients have the same manner.
  static let tenth = (0..<honest / 9).map {
    HostileClient.Manner.senders[$0 % HostileClient.Manner.senders.count]
  }

  func measure() async throws -> [Figure] {
    // The server shares its processor with the honest clients, so only its own work slows them. The
    // hostile clients have another processor, so that their own work does not.
    let processors = ProcessorAffinity.available
    let areApart = processors.count > 1
    return try await ProcessorAffinity.withProcess(areApart ? processors[0] : nil) {
      try await measure(hostileOn: areApart ? processors[1] : nil)
    }
  }

  private func measure(hostileOn processor: Int?) async throws -> [Figure] {
    let store = try await plan.sqlite(Self.customers)
    let folder = try TemporaryFolder()
    let access = hasAccessControl ? try EntitledProcess.accessControl(in: folder) : nil
    try OpenFiles.allow(Self.files)
    let server = try await EntitledProcess(
      store: store, listener: .tcp,
      arguments: (access?.arguments ?? []) + ["--maximum-connections", "\(Self.files)"])
    let token = try access.map { try ClientToken($0.token) }
    let address = RPCTarget(server.address, token: token)
    try await CustomerCalls.warm(Self.customers, at: server.address, token: token)
    let rate = Self.share * (try await load(.closed(inFlight: 1), at: address)).answeredPerSecond

    // What is measured is their presence: they are connected before a turn, and gone after it.
    let held = manners.count { $0 == .stranger } * HostileClient.held
    let hostile = manners.count { $0 != .stranger } + held
    let name = "\(Self.honest) honest connections, \(Int(rate)) calls/s: p99"
    var alone = Figure(name, unit: "µs")
    var beside = Figure("\(name) beside \(hostile) hostile ones", unit: "µs")
    var ratio = Figure(
      "\(name) beside hostile ones, over without", unit: "×",
      target: target.map { .atMost($0) })
    var failed = Figure("honest calls that failed", unit: "calls", target: .atMost(0))
    var opened = Figure("connections of hostile ones", unit: "a second")
    var time = Figure("processor time of the server, without hostile ones", unit: "% of one")
    var timeBeside = Figure("processor time of the server, beside hostile ones", unit: "% of one")
    var cost = Figure(
      "processor time of the server for hostile ones", unit: "% of one", target: .atMost(50))
    let rounds = plan.rounds * plan.seconds
    plan.progress.start("hostile clients, rounds", of: rounds)
    for round in 1...rounds {
      let (without, used) = try await timed(rate, at: address, of: server, round)
      let clients = try HostileClientsProcess(
        manners, to: server.address, seed: UInt64(round), processor: processor)
      try await connections(of: address) { $0 >= held }
      let (with, usedBeside) = try await timed(rate, at: address, of: server, round)
      opened.add(Double(try clients.stop()) / with.seconds)
      if held > 0 {
        try await connections(of: address) { $0 < Self.honest }
        // What is left of thousands of closed connections is not of the next turn.
        try await Task.sleep(for: Self.turn)
      }
      alone.add(without.latencies.percentile(99) / 1_000)
      beside.add(with.latencies.percentile(99) / 1_000)
      ratio.add(with.latencies.percentile(99) / without.latencies.percentile(99))
      failed.add(Double(with.calls - with.answered))
      time.add(used)
      timeBeside.add(usedBeside)
      cost.add(usedBeside - used)
      plan.progress.advance(by: 1)
    }
    plan.progress.end()
    try server.stop()
    return [alone, beside, ratio, failed, opened, time, timeBeside, cost]
  }

  /// Waits until the number of open connections of the server is as `isReached` says.
  private func connections(of target: RPCTarget, _ isReached: (Int64) -> Bool) async throws {
    let client = EntitlementClient(
      target.address, configuration: EntitlementClientConfiguration(token: target.token))
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
      let counters = try await client.statistics().counters
      let open = counters.first { $0.name == "connections.open" }?.value ?? 0
      if isReached(open) { break }
      try await Task.sleep(for: .milliseconds(20))
    }
    await client.close()
  }

  /// - Returns: also the processor time of the server, in percent of the elapsed time.
  private func timed(
    _ rate: Double, at address: RPCTarget, of server: EntitledProcess, _ round: Int
  ) async throws -> (MeasuredLoad.Outcome, Double) {
    let began = ContinuousClock.now
    let before = server.processorTime
    let outcome = try await load(.open(rate: rate), at: address, seed: round)
    let time = began.duration(to: .now) / .microseconds(1)
    return (outcome, 100 * (server.processorTime - before) / time)
  }

  private func load(
    _ shape: MeasuredLoad.Shape, at address: RPCTarget, seed: Int = 0
  ) async throws -> MeasuredLoad.Outcome {
    let customers = try BulkCustomers(count: Self.customers, seed: plan.customers.seed)
    var load = MeasuredLoad(
      of: .hot, for: customers, shape, connections: Self.honest, duration: Self.turn)
    load.seed = UInt64(seed)
    return try await load.run(against: address)
  }
}
