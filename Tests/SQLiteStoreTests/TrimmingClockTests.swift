import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("The time by which the embedded store trims")
struct TrimmingClockTests {
  private static let day = Milliseconds.dayLength
  private static let start = Milliseconds(1_700_000_000_000)
  private static let retention = Duration.seconds(30 * 86_400)

  private func moment(_ days: Double) -> Milliseconds {
    Self.start.advanced(by: Int64(days * Double(Self.day)))
  }

  /// - Returns: the days since the start by which to trim, and whether the clock is in doubt.
  private func advance(_ clock: inout TrimmingClock, to days: Double, after elapsed: Double)
    -> (days: Double, isInDoubt: Bool)
  {
    let time = clock.advance(
      to: moment(days), elapsed: .seconds(elapsed * 86_400), retention: Self.retention)
    let now = time.now.map { Double($0.rawValue - Self.start.rawValue) / Double(Self.day) }
    return (now ?? .nan, time.doubt != nil)
  }

  @Test("A clock that runs as measured time does is trusted, also when it steps a little")
  func regular() {
    var clock = TrimmingClock(time: Self.start)
    #expect(advance(&clock, to: 1, after: 1) == (1, false))
    #expect(advance(&clock, to: 4, after: 0) == (4, false))
    // It went back.
    #expect(advance(&clock, to: 2, after: 0.5) == (2, false))
    #expect(clock.time == moment(4))
    #expect(advance(&clock, to: 8, after: 1) == (8, false))
  }

  @Test("A clock that is 31 days ahead deletes nothing early, for as long as it is wrong")
  func ahead() {
    var clock = TrimmingClock(time: Self.start)
    #expect(advance(&clock, to: 31, after: 0) == (0, true))
    for day in 1...29 {
      #expect(advance(&clock, to: 31 + Double(day), after: 1) == (Double(day), true))
    }
    // It was corrected.
    #expect(advance(&clock, to: 30, after: 1) == (30, false))
  }

  @Test("A server that was off for two months trims again when a retention was measured")
  func off() {
    var clock = TrimmingClock(time: Self.start)
    #expect(advance(&clock, to: 60, after: 0) == (0, true))
    for day in 1...29 {
      #expect(advance(&clock, to: 60 + Double(day), after: 1) == (Double(day), true))
    }
    #expect(advance(&clock, to: 90, after: 1) == (90, false))
    #expect(advance(&clock, to: 91, after: 1) == (91, false))
  }

  @Test("A second step begins the measuring again")
  func twice() {
    var clock = TrimmingClock(time: Self.start)
    #expect(advance(&clock, to: 31, after: 0) == (0, true))
    #expect(advance(&clock, to: 60, after: 29) == (29, true))
    #expect(advance(&clock, to: 400, after: 1) == (30, true))
    #expect(advance(&clock, to: 428, after: 28) == (58, true))
    #expect(advance(&clock, to: 429, after: 1) == (429, false))
  }

  @Test("Moments at the ends of their range are in doubt, and nothing overflows")
  func extremes() {
    for (time, now) in [(Int64.min, Int64.max), (.max, .min), (0, .max), (.min, .min)] {
      var clock = TrimmingClock(time: Milliseconds(time))
      for elapsed in [Duration.zero, .seconds(Int64.max), .seconds(-1)] {
        let answer = clock.advance(
          to: Milliseconds(now), elapsed: elapsed, retention: .seconds(Int64.max / 2))
        #expect(answer.now != nil)
      }
    }
  }

  @Test("The mark and the step are stored, and begin at the last entry of the feed")
  func stored() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("entitle.sqlite")
    var store = try SQLiteStore.open(at: path)
    _ = try await store.commit(
      Submission(facts: [testFact(1)], accountID: nil, receivedAt: moment(0)))
    func time(_ days: Double, after elapsed: Double) async throws -> TrimmingTime {
      try await store.trimmingTime(
        clock: moment(days), elapsed: .seconds(elapsed * 86_400), retention: Self.retention)
    }
    #expect(try await time(31, after: 0).now == moment(0))
    await store.close()
    store = try SQLiteStore.open(at: path)
    let later = try await time(50, after: 19)
    #expect(later.now == moment(19))
    #expect(later.doubt?.contains("\(31 * 86_400) s ahead") == true)
    await store.close()
    store = try SQLiteStore.open(at: path)
    #expect(try await time(61, after: 11) == TrimmingTime(now: moment(61)))
    await store.close()
  }
}
