import EntitlementDomain
import FoundationEssentials

/// A moment as it is written in a scenario: RFC 3339, or milliseconds since 1970.
enum WrittenMoment {
  static let expectation =
    "a moment is expected: RFC 3339 with an offset, such as 2026-01-10T09:00:00Z, or milliseconds"

  /// - Returns: nil for any other form.
  static func parse(_ text: String) -> Milliseconds? {
    if let number = Int64(text) { return Milliseconds(number) }
    return Milliseconds(rfc3339: text)
  }

  /// The years 1 to 9999, for which RFC 3339 has a form.
  private static let shownRange = Milliseconds(-62_135_596_800_000)...253_402_300_799_999

  /// RFC 3339 in UTC, with milliseconds where there are any.
  static func text(_ moment: Milliseconds) -> String {
    guard shownRange.contains(moment) else { return "\(moment)" }
    let fraction = ((moment.rawValue % 1_000) + 1_000) % 1_000
    // Whole seconds, which a Double holds exactly.
    let seconds = (moment.rawValue - fraction) / 1_000
    let text = Date(timeIntervalSince1970: Double(seconds)).formatted(Date.ISO8601FormatStyle())
    guard fraction > 0 else { return text }
    let digits = String(fraction)
    return text.dropLast() + "." + String(repeating: "0", count: 3 - digits.count) + digits + "Z"
  }
}
