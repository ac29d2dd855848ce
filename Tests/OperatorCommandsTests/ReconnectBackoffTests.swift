import TestSupport
import Testing

@testable import OperatorCommands

@Suite("Reconnect backoff")
struct ReconnectBackoffTests {
  @Test func `the delay doubles up to 30 s, and a success resets it`() {
    var generator = SeededRandom(for: "backoff")
    var backoff = ReconnectBackoff()
    for _ in 0..<2 {
      for limit in [0.5, 1, 2, 4, 8, 16, 30, 30, 30] {
        let delay = backoff.next(using: &generator)
        #expect((Duration.seconds(limit / 2)...Duration.seconds(limit)).contains(delay))
      }
      backoff.reset()
    }
  }

  @Test func `two clients of one server do not reconnect at the same times`() {
    var generator = SeededRandom(for: "backoff of two")
    var first = ReconnectBackoff()
    var second = ReconnectBackoff()
    let delays = (0..<8).map { _ in
      (first.next(using: &generator), second.next(using: &generator))
    }
    #expect(delays.contains { $0.0 != $0.1 })
  }
}
