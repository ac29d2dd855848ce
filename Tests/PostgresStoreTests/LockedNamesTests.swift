import TestSupport
import Testing

@testable import PostgresStore

@Suite("Locks that others were found to have")
struct LockedNamesTests {
  private let now = ContinuousClock.now

  @Test("One job at a time tries them, after pauses that double up to the longest")
  func pauses() {
    var names = LockedNames()
    #expect(names.turn(of: ["a"], at: now) == .shared)
    var time = now
    var pauses: [Duration] = []
    for _ in 0..<7 {
      names.wereLocked(["a", "b"], at: time)
      var pause: Duration = .zero
      while names.turn(of: ["b", "c"], at: time + pause) == .refused { pause += .milliseconds(10) }
      pauses.append(pause)
      time += pause
      #expect(names.turn(of: ["b"], at: time) == .alone)
      names.willBeTried(["b"], at: time)
      #expect(names.turn(of: ["b"], at: time) == .refused)
      // The other one is another customer's, for all that is known.
      #expect(names.turn(of: ["a"], at: time) == .alone)
      #expect(names.turn(of: ["a", "b"], at: time) == .refused)
    }
    #expect(
      pauses == [100, 200, 400, 800, 1_600, 2_000, 2_000].map { .milliseconds($0) })
    names.becameFree(["a", "b"])
    #expect(names.turn(of: ["a", "b"], at: time) == .shared)
  }

  @Test("They are forgotten when nothing has tried them for long")
  func memory() {
    var names = LockedNames()
    for _ in 0..<3 { names.wereLocked(["a"], at: now) }
    let later = now + .milliseconds(400) + LockedNames.memory
    #expect(names.turn(of: ["a"], at: later - .milliseconds(1)) == .alone)
    #expect(names.turn(of: ["a"], at: later) == .shared)
    names.wereLocked(["a"], at: later)
    #expect(names.turn(of: ["a"], at: later + LockedNames.firstPause) == .alone)
  }

  @Test("They are bounded: the memory is given up when it is full")
  func bound() {
    var names = LockedNames()
    for number in 0..<LockedNames.maximumCount { names.wereLocked(["\(number)"], at: now) }
    #expect(names.turn(of: ["0"], at: now) == .refused)
    names.wereLocked(["x"], at: now)
    #expect(names.turn(of: ["x"], at: now) == .refused)
    #expect(names.turn(of: ["0"], at: now) == .shared)
  }
}
