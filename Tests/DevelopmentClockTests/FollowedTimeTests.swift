import EntitlementDomain
import TestSupport
import Testing

@testable import DevelopmentClock

@Suite("The virtual time, computed from readings")
struct FollowedTimeTests {
  private static let start = Milliseconds(1_772_366_400_000)
  private static let second: Int64 = 1_000_000_000

  private static func reading(_ seconds: Int64, speed: Double = 1) -> ClockReading {
    ClockReading(now: start.advanced(by: seconds * 1_000), speed: speed, revision: 1)
  }

  private func seconds(_ time: FollowedTime, at uptime: Int64) -> Int64 {
    (time.now(at: uptime * Self.second).rawValue - Self.start.rawValue) / 1_000
  }

  @Test func `it runs at the speed of the latest reading`() {
    var time = FollowedTime(Self.reading(0), at: 0)
    #expect(seconds(time, at: 10) == 10)
    time.follow(Self.reading(10, speed: 8_928), at: 10 * Self.second)
    #expect(seconds(time, at: 11) == 10 + 8_928)
    time.follow(Self.reading(9_000, speed: 0), at: 11 * Self.second)
    #expect(seconds(time, at: 1_000_000) == 9_000)
  }

  @Test func `a jump counts at once`() {
    var time = FollowedTime(Self.reading(0, speed: 0), at: 0)
    time.follow(Self.reading(31 * 86_400, speed: 0), at: 1)
    #expect(seconds(time, at: 0) == 31 * 86_400)
    #expect(time.lead(at: 0) == 0)
  }

  @Test func `it stands still until an earlier time has caught up`() {
    var time = FollowedTime(Self.reading(100), at: 0)
    time.follow(Self.reading(50), at: 10 * Self.second)
    #expect(seconds(time, at: 10) == 110)
    #expect(time.lead(at: 10 * Self.second) == 60_000)
    #expect(seconds(time, at: 69) == 110)
    #expect(time.lead(at: 70 * Self.second) == 0)
    #expect(seconds(time, at: 71) == 111)
  }

  @Test func `it never goes back, and ends with the range`() {
    var random = SeededRandom(for: "FollowedTime")
    var uptime: Int64 = 0
    var time = FollowedTime(Self.reading(0), at: 0)
    var last = time.now(at: 0)
    for _ in 0..<1_000 {
      uptime += Int64.random(in: 0...(100 * Self.second), using: &random)
      if Bool.random(using: &random) {
        time.follow(
          Self.reading(
            .random(in: -1_000_000...1_000_000_000, using: &random),
            speed: .random(in: 0...ClockReading.maximumSpeed, using: &random)),
          at: uptime)
      }
      let now = time.now(at: uptime)
      #expect(now >= last && now <= ClockReading.range.upperBound)
      last = now
    }
    #expect(time.now(at: .max) <= ClockReading.range.upperBound)
  }

  @Test("An answer that no simulator gives is no reading")
  func readings() {
    #expect(
      ClockReading(json: Array(#"{"now":1772366400000,"time":"","speed":0.5,"revision":7}"#.utf8))
        == ClockReading(now: Self.start, speed: 0.5, revision: 7))
    for text in [
      "", "{}", "[]", #"{"now":1772366400000,"speed":-1,"revision":1}"#,
      #"{"now":1772366400000,"speed":1e7,"revision":1}"#,
      #"{"now":1,"speed":1,"revision":1}"#, #"{"now":9999999999999,"speed":1,"revision":1}"#,
      #"{"now":"1772366400000","speed":1,"revision":1}"#, #"{"now":1772366400000,"speed":1}"#,
    ] {
      #expect(ClockReading(json: Array(text.utf8)) == nil, "\(text)")
    }
  }
}
