import TestSupport
import Testing

@testable import PostgresStore

@Suite("The circuit breaker of locks")
struct LockCircuitBreakerTests {
  private let now = ContinuousClock.now

  @Test("One trial at a time is admitted, after pauses that double up to a limit")
  func pauses() {
    var breaker = LockCircuitBreaker()
    #expect(breaker.admission(of: ["a"], at: now) == .shared)
    var time = now
    var pauses: [Duration] = []
    for _ in 0..<7 {
      breaker.failed(["a", "b"], at: time)
      var pause: Duration = .zero
      while breaker.admission(of: ["b", "c"], at: time + pause) == .refused {
        pause += .milliseconds(10)
      }
      pauses.append(pause)
      time += pause
      #expect(breaker.admission(of: ["b"], at: time) == .trial)
      breaker.trialStarted(["b"], at: time)
      #expect(breaker.admission(of: ["b"], at: time) == .refused)
      // The other lock may belong to another customer.
      #expect(breaker.admission(of: ["a"], at: time) == .trial)
      #expect(breaker.admission(of: ["a", "b"], at: time) == .refused)
    }
    #expect(
      pauses == [100, 200, 400, 800, 1_600, 2_000, 2_000].map { .milliseconds($0) })
    breaker.succeeded(["a", "b"])
    #expect(breaker.admission(of: ["a", "b"], at: time) == .shared)
  }

  @Test("An entry without a trial expires")
  func memory() {
    var breaker = LockCircuitBreaker()
    for _ in 0..<3 { breaker.failed(["a"], at: now) }
    let later = now + .milliseconds(400) + LockCircuitBreaker.expiry
    #expect(breaker.admission(of: ["a"], at: later - .milliseconds(1)) == .trial)
    #expect(breaker.admission(of: ["a"], at: later) == .shared)
    breaker.failed(["a"], at: later)
    #expect(breaker.admission(of: ["a"], at: later + LockCircuitBreaker.firstPause) == .trial)
  }

  @Test("The number of entries is bounded: above it all are dropped")
  func bound() {
    var breaker = LockCircuitBreaker()
    for number in 0..<LockCircuitBreaker.maximumCount { breaker.failed(["\(number)"], at: now) }
    #expect(breaker.admission(of: ["0"], at: now) == .refused)
    breaker.failed(["x"], at: now)
    #expect(breaker.admission(of: ["x"], at: now) == .refused)
    #expect(breaker.admission(of: ["0"], at: now) == .shared)
  }
}
