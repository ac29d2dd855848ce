import EntitlementDomain
import EntitlementStore
import RPCClient
import ServiceSupport
import StoreSimulator
import Testing
import TestSupport
import Wire

@Suite("BatchGetCustomerState", .timeLimit(.minutes(2)))
struct BatchPropertyTests {
  @Test("A batch equals the single answers of its customers, whatever is cached")
  func equal() async throws {
    var random = SeededRandom(for: "batch property")
    try await ServiceBench.run { bench async throws in
      var selectors: [CustomerSelector] = [
        .account("absent"), .originalTransaction("1"), .transaction("1"), .appTransaction("1"),
        .appAccountToken("7c9e6679-7425-40de-944b-e07fc1f90ae7"),
      ]
      for lifeCycle in ServiceBench.lifeCyclesWithFacts {
        selectors.append(.account(try await bench.submit(lifeCycle)))
        let facts = try await bench.store.customer(selectors[selectors.count - 1], in: scope)
          .record.facts
        for fact in facts {
          guard case .transaction(let transaction) = fact else { continue }
          selectors.append(.transaction(transaction.transactionID))
          selectors.append(.originalTransaction(transaction.originalTransactionID))
        }
      }
      for round in Rounds(40, of: "batch property") {
        // Some customers are cached, some are not, and some occur twice.
        let customers =
          (0..<Int.random(in: 1...BatchGetCustomerStateRequest.maximumCustomers, using: &random))
          .map { _ in
            selectors[Int.random(in: selectors.indices, using: &random)]
          }
        let consistency: [ReadConsistency] = [
          .minimizeLatency, .fullyConsistent, .atLeastAsFresh(revision: 1),
        ]
        let request = BatchGetCustomerStateRequest(
          customers: customers, scope: scope,
          consistency: consistency[Int.random(in: 0..<3, using: &random)],
          at: Bool.random(using: &random)
            ? nil
            : ServiceBench.now.advanced(
              by: Int64.random(in: -400...400, using: &random) * Milliseconds.dayLength))
        let answered = await together(request, bench)
        let alone = await each(request, bench)
        #expect(answered == alone, "round \(round)")
        // Drops the cached answers of a customer.
        _ = try await bench.client.addGrant(
          AddGrantRequest(
            scope: scope, accountID: "absent", entitlementID: "pro", reason: "r", onBehalfOf: "a"))
      }
    }
  }

  private let scope = ServiceBench.scope

  /// The states, or the code of the first failure.
  private enum Outcome: Equatable {
    case states([GetCustomerStateResponse])
    case failure(RPCClientError.Code)
  }

  private func together(
    _ request: BatchGetCustomerStateRequest, _ bench: ServiceBench
  ) async -> Outcome {
    do throws(RPCClientError) {
      return .states(try await bench.client.customerStates(request).results)
    } catch {
      return .failure(error.code)
    }
  }

  private func each(
    _ request: BatchGetCustomerStateRequest, _ bench: ServiceBench
  ) async -> Outcome {
    var states: [GetCustomerStateResponse] = []
    for customer in request.customers {
      do throws(RPCClientError) {
        states.append(
          try await bench.client.customerState(
            GetCustomerStateRequest(
              customer: customer, scope: request.scope, consistency: request.consistency,
              at: request.at)))
      } catch {
        return .failure(error.code)
      }
    }
    return .states(states)
  }
}
