import NIOCore
import Testing

@testable import RPCServer

@Suite("How many connections may come to nothing in which time")
struct AcceptPaceTests {
  private static let start = NIODeadline.uptimeNanoseconds(5_000_000_000)

  /// As many come and go as are allowed at a moment.
  private static func spend(_ pace: inout AcceptPace, at now: NIODeadline) -> Int {
    var count = 0
    while count < 1_000, pace.pause(now: now) == nil {
      pace.spent(now: now)
      count += 1
    }
    return count
  }

  @Test("A burst at once, then each in its time")
  func burst() {
    var pace = AcceptPace(rate: 10, burst: 10)
    #expect(Self.spend(&pace, at: Self.start) == 10)
    #expect(pace.pause(now: Self.start) == Self.start + .milliseconds(100))
    #expect(Self.spend(&pace, at: Self.start + .milliseconds(99)) == 0)
    #expect(Self.spend(&pace, at: Self.start + .milliseconds(100)) == 1)
    #expect(Self.spend(&pace, at: Self.start + .milliseconds(350)) == 2)
  }

  @Test("A quiet time gives the burst back, and no more")
  func quiet() {
    var pace = AcceptPace(rate: 10, burst: 10)
    #expect(Self.spend(&pace, at: Self.start) == 10)
    #expect(Self.spend(&pace, at: Self.start + .milliseconds(500)) == 5)
    #expect(Self.spend(&pace, at: Self.start + .seconds(60)) == 10)
  }

  @Test("What came beyond it counts against what follows")
  func debt() {
    var pace = AcceptPace(rate: 10, burst: 10)
    for _ in 0..<15 { pace.spent(now: Self.start) }
    #expect(pace.pause(now: Self.start) == Self.start + .milliseconds(600))
    #expect(Self.spend(&pace, at: Self.start + .milliseconds(600)) == 1)
  }

  @Test("However many came at once, the next one waits for a second at most, or for its turn")
  func longestPause() {
    var pace = AcceptPace(rate: 10, burst: 10)
    for _ in 0..<10_000 { pace.spent(now: Self.start) }
    #expect(pace.pause(now: Self.start) == Self.start + .seconds(1))
    var slow = AcceptPace(rate: 1, burst: 1)
    for _ in 0..<10_000 { slow.spent(now: Self.start) }
    #expect(slow.pause(now: Self.start) == Self.start + .seconds(1))
  }
}
