import EntitlementDomain
import RPCClient
import StoreSimulator
import TestSupport
import Testing
import Wire

/// A full disk reveals answers that come before their commit: the commit fails, and the answered
/// data is lost.
@Suite("entitled on a full disk", .timeLimit(.minutes(5)))
struct FullDiskTests {
  private let bench: Bench
  private let plan: SubmissionPlan

  init() throws {
    bench = try Bench()
    plan = try SubmissionPlan(
      Bench.population(2 * LifeCycle.allCases.count, seed: 5), signedBy: bench.authority)
  }

  /// Sends calls until the disk is full, and then all remaining ones.
  ///
  /// - Returns: whether each call succeeded, by customer and call.
  private func fill(_ server: RunningServer) async throws -> [[Bool]] {
    let client = try await server.client()
    var outcomes: [[Bool]] = []
    for customer in plan.customers {
      var own: [Bool] = []
      for step in customer.steps {
        do {
          _ = try await SubmissionPlan.send(step, of: customer, to: client)
          own.append(true)
        } catch let error as RPCClientError {
          #expect(error.code == .status(.resourceExhausted))
          #expect(error.errorInfo?.reason == "STORAGE_FULL")
          own.append(false)
        }
      }
      outcomes.append(own)
    }
    await client.close()
    return outcomes
  }

  @Test func `what does not fit is an error, the server goes on, and what was answered stays`()
    async throws
  {
    let full = try await bench.startServer(largestFile: 1_500)
    let outcomes = try await fill(full)
    let answered = outcomes.joined().count { $0 }
    #expect(answered > 5 && answered < plan.callCount - 5)
    // Once, whatever the number of refused calls: the next line is due after a minute.
    let lines = try full.log.filter { $0.message == "the store is full: writes are refused" }
    #expect(!lines.isEmpty && lines.allSatisfy { $0.level == "error" && $0.reason != nil })
    #expect(try await Bench.control(full, "health").output.hasPrefix(Bench.serving))
    let states = try await StateList.read(from: full)
    #expect(!states.isEmpty)
    #expect(try await full.stop() == .code(0))

    let undisturbed = try await bench.startServer(
      "--store", "sqlite:\(bench.folder.file("other.sqlite"))")
    let reference = try await plan.sendFirst(to: undisturbed)

    let roomy = try await bench.startServer()
    #expect(try await StateList.read(from: roomy) == states)
    let repeated = try await plan.send(to: roomy)
    for (index, customer) in plan.customers.enumerated() {
      // Up to its first refusal; later calls may repeat facts that an earlier one did not store.
      for (number, wasAnswered) in outcomes[index].enumerated() {
        guard wasAnswered else {
          #expect(
            repeated[index][number] == reference[index][number],
            "\(customer.accountID), call \(number)")
          break
        }
        #expect(repeated[index][number].isRepeat, "\(customer.accountID), call \(number)")
      }
    }
  }
}
