extension Milliseconds {
  /// The moment in UTC, cut to seconds, such as `2026-11-21T09:30:00Z` (RFC 3339, section 5.6);
  /// outside the years 0000 to 9999, which that form cannot tell, the milliseconds since 1970.
  package var rfc3339: String {
    wholeSeconds.map { $0 + "Z" } ?? "\(rawValue) ms since 1970"
  }

  /// As ``rfc3339``, with milliseconds where there are any: what ``init(rfc3339:)`` reads back.
  /// Outside those years the milliseconds alone.
  package var exactRFC3339: String {
    guard let wholeSeconds else { return "\(rawValue)" }
    let fraction =
      rawValue - rawValue.flooredDivision(by: Self.secondsLength) * Self.secondsLength
    return wholeSeconds + (fraction > 0 ? ".\(Self.padded(fraction, to: 3))Z" : "Z")
  }

  /// Without fraction and offset; nil outside the years that RFC 3339 can tell.
  private var wholeSeconds: String? {
    let seconds = rawValue.flooredDivision(by: Self.secondsLength)
    let days = seconds.flooredDivision(by: Self.dayLength / Self.secondsLength)
    let date = CivilDate(daysSinceEpoch: days)
    guard (0...9_999).contains(date.year) else { return nil }
    let second = seconds - days * (Self.dayLength / Self.secondsLength)
    return "\(Self.padded(date.year, to: 4))-\(Self.padded(date.month))-\(Self.padded(date.day))"
      + "T\(Self.padded(second / 3_600)):\(Self.padded(second / 60 % 60))"
      + ":\(Self.padded(second % 60))"
  }

  private static func padded(_ number: Int64, to width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
