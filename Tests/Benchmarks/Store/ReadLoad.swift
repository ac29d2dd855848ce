import EntitlementDomain
import EntitlementStore
import LoadClient
import PostgresStore
import StoreSimulator

/// Reads of customers through a store, each followed by the evaluation of its state: what
/// GetCustomerState does for a customer that is not in memory.
struct ReadLoad {
  let store: PostgresStore
  let customers: BulkCustomers

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// - Returns: how many there were, and how long each took, in microseconds.
  func run(inFlight: Int, for duration: Duration, seed: UInt64) async throws -> [Double] {
    let end = ContinuousClock.now + duration
    return try await withThrowingTaskGroup(of: [Double].self) { group in
      for task in 0..<inFlight {
        group.addTask {
          var generator = SeededGenerator(seed: seed, label: "reads", index: UInt64(task))
          var times: [Double] = []
          var now = ContinuousClock.now
          while now < end {
            try await read(generator.number(below: customers.count))
            let then = ContinuousClock.now
            times.append((then - now) / .microseconds(1))
            now = then
          }
          return times
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  private func read(_ index: Int) async throws {
    let customer = try await store.customer(
      .account(BulkCustomers.account(at: index)), in: BulkCustomers.scope, .primary)
    let state = Evaluation.state(
      of: customer.record, catalog: customers.catalog, at: BulkCustomers.now)
    // Every one was loaded with something.
    guard state.revision >= 0, customer.record.revision > 0 else {
      throw Failure(description: "a customer that was loaded is not there")
    }
  }
}
