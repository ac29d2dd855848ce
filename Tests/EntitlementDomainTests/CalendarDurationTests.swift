import EntitlementDomain
import Foundation
import TestSupport
import Testing

@Suite("Calendar durations")
struct CalendarDurationTests {
  @Test(
    "R11: months are clamped at the end of the month",
    arguments: [
      ("2026-01-31T10:00:00Z", "P1M", "2026-02-28T10:00:00Z"),
      ("2028-01-31T10:00:00Z", "P1M", "2028-02-29T10:00:00Z"),
      ("2028-02-29T00:00:00Z", "P1Y", "2029-02-28T00:00:00Z"),
      ("2026-03-31T23:59:59Z", "P1M", "2026-04-30T23:59:59Z"),
      ("2026-11-30T00:00:00Z", "P3M", "2027-02-28T00:00:00Z"),
      ("2026-01-31T00:00:00Z", "P1M1D", "2026-03-01T00:00:00Z"),
      ("2026-05-05T00:00:00Z", "P2W", "2026-05-19T00:00:00Z"),
      ("2026-05-05T00:00:00Z", "PT36H", "2026-05-06T12:00:00Z"),
      ("1969-12-31T23:00:00Z", "P1M", "1970-01-31T23:00:00Z"),
      ("2100-01-31T00:00:00Z", "P1M", "2100-02-28T00:00:00Z"),
    ])
  func clamped(start: String, duration: String, end: String) throws {
    let parsed = try #require(CalendarDuration(iso8601: duration))
    #expect(try parsed.end(from: moment(start)) == moment(end))
  }

  @Test("A thousand random moments and durations end where Foundation's calendar says")
  func agreesWithFoundation() throws {
    var generator = SeededRandom(for: "calendar durations")
    let seed = generator.seed
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
    for _ in 0..<1_000 {
      let start = Int64.random(in: -2_000_000_000...8_000_000_000, using: &generator) * 1_000
      let duration = CalendarDuration(
        months: .random(in: 0...120, using: &generator),
        days: .random(in: 0...90, using: &generator))
      let date = Date(timeIntervalSince1970: Double(start / 1_000))
      let months = try #require(
        calendar.date(byAdding: .month, value: Int(duration.months), to: date))
      let expected = try #require(
        calendar.date(byAdding: .day, value: Int(duration.days), to: months))
      #expect(
        duration.end(from: Milliseconds(start)).rawValue
          == Int64(expected.timeIntervalSince1970) * 1_000,
        "start \(start), \(duration), seed \(seed)")
    }
  }

  @Test(
    "Other texts are refused",
    arguments: [
      "", "P", "PT", "1M", "P1", "PM", "P-1M", "P1.5M", "P1D1M", "P1MT", "p1m", "P1M ", "P1H",
      "PT1D", "P1Y1Y", "P9999999999D", "P999999999Y", "PT1HT1M",
    ])
  func refused(text: String) {
    #expect(CalendarDuration(iso8601: text) == nil)
  }

  @Test("A moment at the edge of the range does not trap")
  func edges() {
    let duration = CalendarDuration(months: 12, days: 40, milliseconds: 5)
    #expect(duration.end(from: Milliseconds(.max)) == Milliseconds(.max))
    _ = duration.end(from: Milliseconds(.min))
  }

  private func moment(_ text: String) throws -> Milliseconds {
    let date = try Date(text, strategy: .iso8601)
    return Milliseconds(Int64(date.timeIntervalSince1970) * 1_000)
  }
}
