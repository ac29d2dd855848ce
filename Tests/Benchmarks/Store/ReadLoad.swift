import EntitlementDomain
import EntitlementService
import LoadClient
import NIOCore
import PostgresStore
import StoreSimulator
import Wire

/// Reads of customers with the server's reader: the work of GetCustomerState for an uncached
/// customer, without a connection.
struct ReadLoad {
  let store: PostgresStore
  let customers: BulkCustomers
  private let reader: CustomerReader

  init(store: PostgresStore, customers: BulkCustomers) {
    self.store = store
    self.customers = customers
    let clock = ServiceClock { BulkCustomers.now }
    var limits = ReadLimits(permits: PostgresStoreLimits().readsInFlight)
    // A slow machine must not shed reads.
    limits.burstPatience = .hours(1)
    reader = CustomerReader(
      store: store, catalog: CatalogHolder(customers.catalog, clock: clock), clock: clock,
      cacheBytes: 0, limits: limits,
      encode: { state throws(ServiceError) in
        do {
          return EncodedState(try GetCustomerStateResponse.state(state).encoded())
        } catch {
          throw ServiceError(.internalFault, "the state does not fit a message: \(error)")
        }
      })
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// - Returns: the number of reads, and the latency of each in microseconds.
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
    let answer = try await reader.answer(
      to: CustomerQuery(
        selector: .account(BulkCustomers.account(at: index)), scope: BulkCustomers.scope,
        consistency: .fullyConsistent))
    // Every customer was loaded with facts.
    guard answer.revision > 0 else {
      throw Failure(description: "a loaded customer is not found")
    }
  }
}
