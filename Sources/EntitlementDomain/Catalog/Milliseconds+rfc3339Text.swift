extension Milliseconds {
  /// The moment in UTC, cut to seconds, such as `2026-11-21T09:30:00Z` (RFC 3339, section 5.6);
  /// outside the years 0000 to 9999, which that form cannot tell, the milliseconds since 1970.
  var rfc3339: String {
    let seconds = rawValue.flooredDivision(by: Self.secondsLength)
    let days = seconds.flooredDivision(by: Self.dayLength / Self.secondsLength)
    let date = CivilDate(daysSinceEpoch: days)
    guard (0...9_999).contains(date.year) else { return "\(rawValue) ms since 1970" }
    let second = seconds - days * (Self.dayLength / Self.secondsLength)
    return "\(Self.padded(date.year, to: 4))-\(Self.padded(date.month))-\(Self.padded(date.day))"
      + "T\(Self.padded(second / 3_600)):\(Self.padded(second / 60 % 60))"
      + ":\(Self.padded(second % 60))Z"
  }

  private static func padded(_ number: Int64, to width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
