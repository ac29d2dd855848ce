import TestSupport
import Testing

@testable import PostgresStore

@Suite("Waits between attempts to connect")
struct PostgresBackoffTests {
  /// Always the greatest number.
  private struct Greatest: RandomNumberGenerator {
    mutating func next() -> UInt64 { .max }
  }

  @Test("The bound doubles up to a limit, and is reset by a success")
  func bounds() {
    var backoff = PostgresBackoff(first: .milliseconds(50), longest: .seconds(5))
    var greatest = Greatest()
    let bounds = (0..<10).map { _ in backoff.failed(using: &greatest) }
    let expected = [50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]
    for (bound, milliseconds) in zip(bounds, expected) {
      let difference = bound - .milliseconds(milliseconds)
      #expect(difference <= .zero && difference > .milliseconds(-1))
    }
    backoff.succeeded()
    #expect(backoff.failed(using: &greatest) <= .milliseconds(50))
  }

  @Test("Waits are spread over everything below the bound")
  func jitter() {
    var backoff = PostgresBackoff(first: .seconds(1), longest: .seconds(1))
    var random = SeededRandom(for: "jitter")
    let waits = (0..<1_000).map { _ in backoff.failed(using: &random) }
    #expect(waits.allSatisfy { $0 >= .zero && $0 <= .seconds(1) })
    #expect(waits.contains { $0 < .milliseconds(100) })
    #expect(waits.contains { $0 > .milliseconds(900) })
  }
}
