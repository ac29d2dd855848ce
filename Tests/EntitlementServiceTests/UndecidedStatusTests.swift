import EntitlementDomain
import EntitlementService
import StoreSimulator
import Testing
import Verification

@Suite("Unknown certificate status (R48)")
struct UndecidedStatusTests {
  private typealias Bench = ServiceBench

  /// Queries a responder that is down.
  private struct Silence: StatusResponder, Error {
    func answer(to request: [UInt8], at url: String) async throws -> [UInt8] { throw self }
  }

  /// The verdicts of each kind of submission, in a fixed order.
  private func verdicts(_ bench: ServiceBench) async throws -> [Verdict] {
    let events = try bench.signed(.firstPurchase)
    let fact = try #require(events.flatMap(\.transactions).first)
    let notification = try #require(events.compactMap(\.notification).first)
    let transaction = try await bench.submit([fact], account: "anna")
    let notified = try await bench.submit(notification: notification)
    let receipt = try await bench.submit(receipt: Bench.receipt(["1"]), account: "anna")
    #expect(receipt.items.isEmpty == (receipt.verdict != .ok))
    return transaction.items.map(\.verdict) + [notified.verdict, receipt.verdict]
  }

  @Test("strict: all payloads are RETRYABLE, and nothing is stored")
  func strict() async throws {
    let checker = StatusChecker(policy: .strict, responder: Silence())
    try await Bench.run(status: checker) { bench async throws in
      #expect(try await verdicts(bench) == [.retryable, .retryable, .retryable])
      #expect(try await bench.changeCount() == 0)
      #expect(bench.counters[.refused(.retryable)] == 3)
      #expect(bench.counters[.receiptAccepted] == 0)
    }
  }

  @Test("soft: payloads are accepted")
  func soft() async throws {
    let checker = StatusChecker(policy: .soft, responder: Silence())
    try await Bench.run(status: checker) { bench async throws in
      #expect(try await verdicts(bench) == [.ok, .ok, .ok])
    }
  }
}
