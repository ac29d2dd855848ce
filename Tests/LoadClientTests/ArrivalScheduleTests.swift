import NIOCore
import Testing

@testable import LoadClient

@Suite("Intended start times of calls")
struct ArrivalScheduleTests {
  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

  /// The first moments, in nanoseconds from the start.
  private func moments(
    _ count: Int, rate: Double, _ spacing: ArrivalSchedule.Spacing = .constant, part: Int = 0,
    of parts: Int = 1, seed: UInt64 = 1
  ) -> [Int64] {
    var schedule = ArrivalSchedule(
      rate: rate, spacing: spacing, from: Self.start, part: part, of: parts, seed: seed)
    return (0..<count).map { _ in
      defer { schedule.advance() }
      return (schedule.next - Self.start).nanoseconds
    }
  }

  @Test("a constant rate has constant intervals")
  func constant() {
    #expect(moments(4, rate: 1_000) == [0, 1_000_000, 2_000_000, 3_000_000])
  }

  @Test("a rate with a fraction of a nanosecond does not drift")
  func drift() {
    #expect(moments(3_001, rate: 3).last == 1_000_000_000_000)
  }

  @Test("threads take turns, and share the rate")
  func parts() {
    let all = (0..<3).flatMap { moments(4, rate: 1_000, part: $0, of: 3) }.sorted()
    #expect(all == (0..<12).map { $0 * 1_000_000 })
  }

  @Test("random intervals have the mean of the rate, and follow from the seed")
  func poisson() {
    let times = moments(20_000, rate: 1_000, .poisson, seed: 7)
    let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
    let mean = Double(gaps.reduce(0, +)) / Double(gaps.count)
    #expect(abs(mean - 1_000_000) < 30_000)
    // In an exponential distribution a share of 1 - 1/e is shorter than the mean.
    let short = Double(gaps.count { $0 < 1_000_000 }) / Double(gaps.count)
    #expect(abs(short - 0.632) < 0.02)
    #expect(times == moments(20_000, rate: 1_000, .poisson, seed: 7))
    #expect(times != moments(20_000, rate: 1_000, .poisson, seed: 8))
  }
}
