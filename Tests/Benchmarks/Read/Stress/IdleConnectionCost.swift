import Foundation
import Framing
import LoadClient
import RPCClient
import Wire

/// The cost of idle connections: memory, and the time of other calls.
struct IdleConnectionCost {
  let plan: StressPlan

  private static let connections = 10_000
  /// File descriptors for the connections of the load and some more.
  private static let otherConnections = 100
  private static let customers = 500
  private static let inFlight = 64

  func measure() async throws -> [Figure] {
    // One end of each connection is in this process, the other in the server, which inherits the
    // limit.
    try OpenFiles.allow(Self.connections + 2 * Self.otherConnections)
    let with = try await server("with")
    let without = try await server("without")
    let memory = try await SystemMemory.whileIdle()
    let ownMemory = with.ownMemory
    plan.progress.start("idle connections", of: Self.connections)
    let idle = try open(to: with.address)
    plan.progress.end()
    let systemMemory = try await SystemMemory.whileIdle()
    let count = Double(Self.connections)
    var own = Figure("idle connection: the server's own memory", unit: "kB", target: .atMost(16))
    own.add(Double(with.ownMemory - ownMemory) / count / 1_000)
    var system = Figure("idle connection: the system's memory, both ends", unit: "kB")
    system.add(Double(systemMemory.kernel - memory.kernel) / count / 1_000)
    var buffers = Figure("idle connection: of that, bytes in TCP's buffers", unit: "kB")
    buffers.add(Double(systemMemory.buffers - memory.buffers) / count / 1_000)
    let times = try await measureCalls(with: with, without: without)
    withExtendedLifetime(idle) {}
    try with.stop()
    try without.stop()
    return [own, system, buffers] + times
  }

  /// P1 with and without idle connections, in turn.
  private func measureCalls(
    with: EntitledProcess, without: EntitledProcess
  ) async throws -> [Figure] {
    let name = "1 connection, \(Self.inFlight) in flight"
    var alone = Figure("\(name): server", unit: "µs/call")
    var beside = Figure("\(name), beside \(Self.connections) idle ones: server", unit: "µs/call")
    var ratio = Figure("\(name), beside idle ones, over without", unit: "×", target: .atMost(1.1))
    plan.progress.start("calls beside idle connections, rounds", of: plan.rounds)
    for round in 0..<plan.rounds {
      let first = try await time(of: without, round)
      let second = try await time(of: with, round)
      alone.add(first)
      beside.add(second)
      ratio.add(second / first)
      plan.progress.advance(by: 1)
    }
    plan.progress.end()
    return [alone, beside, ratio]
  }

  private func time(of server: EntitledProcess, _ round: Int) async throws -> Double {
    let customers = try BulkCustomers(count: Self.customers, seed: plan.customers.seed)
    var load = MeasuredLoad(
      of: .hot, for: customers, .closed(inFlight: Self.inFlight), connections: 1,
      duration: plan.duration)
    load.warmUp = .zero
    load.seed = UInt64(round)
    let before = server.processorTime
    let outcome = try await load.run(against: RPCTarget(server.address))
    return (server.processorTime - before) / Double(outcome.answered)
  }

  private func server(_ name: String) async throws -> EntitledProcess {
    let store = try await plan.sqlite(Self.customers, name: name)
    let server = try await EntitledProcess(
      store: store, listener: .tcp,
      arguments: [
        "--maximum-connections", "\(Self.connections + Self.otherConnections)", "--idle-seconds",
        "3600",
      ])
    try await CustomerCalls.warm(Self.customers, at: server.address)
    _ = try await time(of: server, 0)
    return server
  }

  /// Each connection makes one call and then stays idle.
  private func open(to address: ServerAddress) throws -> [RawConnection] {
    let call = try CustomerCalls.firstFrame()
    return try (0..<Self.connections).map { _ in
      let connection = try RawConnection(to: address)
      guard connection.send(call), connection.receive() > 0 else {
        throw StressPlan.Failure(description: "a connection got no answer")
      }
      plan.progress.advance(by: 1)
      return connection
    }
  }
}

/// The memory of the operating system itself.
private struct SystemMemory {
  /// The size of kernel objects in bytes (proc(5), `Slab` of `/proc/meminfo`).
  let kernel: Int
  /// The size of the buffers of all TCP connections in bytes (`mem` in pages, of
  /// `/proc/net/sockstat`).
  let buffers: Int

  /// - Throws: when the system does not provide the numbers.
  static func whileIdle() async throws -> SystemMemory {
    // Recently closed sockets still count.
    try await Task.sleep(for: .milliseconds(500))
    let memory = try String(contentsOfFile: "/proc/meminfo", encoding: .utf8)
    let sockets = try String(contentsOfFile: "/proc/net/sockstat", encoding: .utf8)
    let pages = number(after: "mem", in: line("TCP:", in: sockets))
    return SystemMemory(
      kernel: number(after: "Slab:", in: line("Slab:", in: memory)) * 1_024, buffers: pages * 4_096)
  }

  private static func line(_ name: String, in text: String) -> [Substring] {
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    return line?.split(separator: " ") ?? []
  }

  private static func number(after name: Substring, in words: [Substring]) -> Int {
    words.firstIndex(of: name).flatMap { words.dropFirst($0 + 1).first }.flatMap { Int($0) } ?? 0
  }
}
