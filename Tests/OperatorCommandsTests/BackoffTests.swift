import TestSupport
import Testing

@testable import OperatorCommands

@Suite("Waiting before another attempt")
struct BackoffTests {
  @Test func `it waits twice as long each time up to 30 s, and begins anew after a success`() {
    var generator = SeededRandom(for: "backoff")
    var backoff = Backoff()
    for _ in 0..<2 {
      for limit in [0.5, 1, 2, 4, 8, 16, 30, 30, 30] {
        let delay = backoff.next(using: &generator)
        #expect((Duration.seconds(limit / 2)...Duration.seconds(limit)).contains(delay))
      }
      backoff.reset()
    }
  }

  @Test func `two that lost the same server do not come back together`() {
    var generator = SeededRandom(for: "backoff of two")
    var first = Backoff()
    var second = Backoff()
    let delays = (0..<8).map { _ in
      (first.next(using: &generator), second.next(using: &generator))
    }
    #expect(delays.contains { $0.0 != $0.1 })
  }
}
