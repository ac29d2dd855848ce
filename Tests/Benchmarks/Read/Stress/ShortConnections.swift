import Foundation
import Framing
import LoadClient
import Wire

/// The number of connections per second from clients that make one call on each, as a shell script
/// does, without other load.
struct ShortConnections {
  let plan: StressPlan

  private static let customers = 500

  func measure() async throws -> [Figure] {
    let server = try await EntitledProcess(
      store: try await plan.sqlite(Self.customers), listener: .tcp)
    try await CustomerCalls.warm(Self.customers, at: server.address)
    var figures: [Figure] = []
    for clients in [1, 8] {
      let name = "a call on each connection, \(clients) at once"
      var rate = Figure(name, unit: "a second", target: .atLeast(2_000))
      var time = Figure("\(name): server", unit: "µs each")
      plan.progress.start("\(name), rounds", of: plan.rounds)
      for _ in 0..<plan.rounds {
        let began = ContinuousClock.now
        let before = server.processorTime
        let answered = try await answered(by: clients, at: server.address)
        rate.add(Double(answered) / (began.duration(to: .now) / .seconds(1)))
        time.add((server.processorTime - before) / Double(max(1, answered)))
        plan.progress.advance(by: 1)
      }
      plan.progress.end()
      figures += [rate, time]
    }
    try server.stop()
    return figures
  }

  /// The number of answered connections.
  private func answered(by clients: Int, at address: ServerAddress) async throws -> Int {
    let call = try CustomerCalls.firstFrame()
    let deadline = ContinuousClock.now + plan.duration
    return await withTaskGroup(of: Int.self) { group in
      for _ in 0..<clients {
        group.addTask {
          // It blocks, so it has its own thread.
          await withCheckedContinuation { continuation in
            Thread.detachNewThread {
              var answered = 0
              while ContinuousClock.now < deadline {
                let connection = try? RawConnection(to: address)
                if let connection, connection.send(call), connection.receive() > 0 { answered += 1 }
              }
              continuation.resume(returning: answered)
            }
          }
        }
      }
      return await group.reduce(0, +)
    }
  }
}
