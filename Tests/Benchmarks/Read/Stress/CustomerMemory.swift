import EntitlementDomain
import LoadClient
import NIOCore
import RPCClient
import Wire

/// The memory of a server for each cached customer (P7).
struct CustomerMemory {
  let plan: StressPlan

  private static let connections = 4
  private static let inFlight = 32

  func measure() async throws -> [Figure] {
    var ratio = Figure(
      "memory for each held customer, over its encoded answer", unit: "×", target: .atMost(3))
    var each = Figure("memory for each held customer", unit: "bytes")
    var size = Figure("its encoded answer", unit: "bytes")
    let store = try await plan.sqlite(plan.customers.count)
    plan.progress.start("P7, rounds", of: plan.rounds)
    for _ in 0..<plan.rounds {
      let server = try await EntitledProcess(
        store: store, arguments: ["--cache-megabytes", "4096"])
      // Memory that every read needs is allocated first: connections, the store, threads.
      _ = try await readAll(from: server, .fullyConsistent)
      let before = server.ownMemory
      let bytes = try await readAll(from: server, .minimizeLatency)
      let after = server.ownMemory
      let count = Double(plan.customers.count)
      try await checkHeld(by: server)
      each.add(Double(after - before) / count)
      size.add(Double(bytes) / count)
      ratio.add(Double(after - before) / Double(bytes))
      try server.stop()
      plan.progress.advance(by: 1)
    }
    plan.progress.end()
    return [ratio, each, size]
  }

  /// Reads each customer once, in a call of its own.
  ///
  /// - Returns: the total length of the answers in bytes.
  private func readAll(
    from server: EntitledProcess, _ consistency: ReadConsistency
  ) async throws -> Int {
    let count = plan.customers.count
    return try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<Self.connections {
        let connection = try await RPCConnection.connect(to: server.address)
        group.addTask {
          let bytes = try await withThrowingTaskGroup(of: Int.self) { group in
            let step = Self.connections * Self.inFlight
            for place in 0..<Self.inFlight {
              group.addTask {
                var bytes = 0
                let first = number * Self.inFlight + place
                for index in stride(from: first, to: count, by: step) {
                  bytes += try await connection.answer(
                    CustomerCalls.state(of: index, consistency)
                  ).readableBytes
                }
                return bytes
              }
            }
            return try await group.reduce(0, +)
          }
          await connection.close()
          return bytes
        }
      }
      return try await group.reduce(0, +)
    }
  }

  private func checkHeld(by server: EntitledProcess) async throws {
    let client = try await EntitlementClient.connect(to: server.address)
    let counters = try await client.statistics().counters
    await client.close()
    let held = counters.first { $0.name == "cache.entries" }?.value ?? 0
    guard held == Int64(plan.customers.count) else {
      throw StressPlan.Failure(
        description: "\(held) of \(plan.customers.count) customers are cached after all were read")
    }
  }
}
