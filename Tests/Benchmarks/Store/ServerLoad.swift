import EntitlementDomain
import LoadClient
import RPCClient
import StoreSimulator
import Wire

/// An `entitled` on the database, called over its protocol on a Unix socket. Every answer is read
/// from the database: FULLY_CONSISTENT.
final class ServerLoad {
  private let server: EntitledProcess
  private let client: EntitlementClient
  private let customers: Int

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Starts it.
  init(on database: BenchmarkDatabase) async throws {
    customers = database.customers.count
    server = try await EntitledProcess(store: database.uri)
    client = try await EntitlementClient.connect(to: server.address)
  }

  /// The processor time of the server process.
  var processorTime: Double { server.processorTime }

  /// - Returns: the number of answers.
  func run(inFlight: Int, for duration: Duration, seed: UInt64) async throws -> Int {
    let end = ContinuousClock.now + duration
    let (client, customers) = (client, customers)
    return try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<inFlight {
        group.addTask {
          var generator = SeededGenerator(seed: seed, label: "calls", index: UInt64(task))
          var count = 0
          while ContinuousClock.now < end {
            let account = BulkCustomers.account(at: generator.number(below: customers))
            let answer = try await client.customerState(
              GetCustomerStateRequest(
                customer: .account(account), scope: BulkCustomers.scope,
                consistency: .fullyConsistent))
            guard case .state(let state) = answer, state.revision > 0 else {
              throw Failure(description: "a loaded customer is not found")
            }
            count += 1
          }
          return count
        }
      }
      return try await group.reduce(0, +)
    }
  }

  func stop() async throws {
    await client.close()
    try server.stop()
  }
}
