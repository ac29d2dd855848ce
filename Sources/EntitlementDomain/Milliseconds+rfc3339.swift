extension Milliseconds {
  /// Reads a moment as people write it: RFC 3339, or milliseconds since 1970.
  ///
  /// - Returns: nil for any other form.
  package init?(written text: String) {
    if let number = Int64(text) {
      self.init(number)
    } else {
      self.init(rfc3339: text)
    }
  }

  /// Reads a moment such as `2026-11-21T09:30:00Z` or `2026-11-21T10:30:00.250+01:00` (RFC 3339,
  /// section 5.6). An offset is needed. Fractions are cut to milliseconds.
  ///
  /// - Returns: nil for any other form, for a day or time that does not exist, and for a leap
  ///   second, which has no place in milliseconds since 1970.
  package init?(rfc3339 text: String) {
    var characters = Substring(text).utf8
    guard let year = Self.digits(4, from: &characters), Self.skip("-", in: &characters),
      let month = Self.digits(2, from: &characters), (1...12).contains(month),
      Self.skip("-", in: &characters),
      let day = Self.digits(2, from: &characters), day >= 1,
      day <= CivilDate.length(ofMonth: month, year: year),
      Self.skip("Tt", in: &characters),
      let hour = Self.digits(2, from: &characters), hour <= 23, Self.skip(":", in: &characters),
      let minute = Self.digits(2, from: &characters), minute <= 59, Self.skip(":", in: &characters),
      let second = Self.digits(2, from: &characters), second <= 59,
      let fraction = Self.fraction(from: &characters),
      let offset = Self.offset(from: &characters), characters.isEmpty
    else { return nil }
    let days = CivilDate(year: year, month: month, day: day).daysSinceEpoch
    let seconds = hour * 3_600 + minute * 60 + second - offset
    // Four digits of a year: far from the range of Int64.
    self.init(days * Self.dayLength + seconds * Self.secondsLength + fraction)
  }

  private static func skip(_ allowed: StaticString, in characters: inout Substring.UTF8View) -> Bool
  {
    guard let first = characters.first,
      allowed.withUTF8Buffer({ $0.contains(first) })
    else { return false }
    characters.removeFirst()
    return true
  }

  private static func digits(_ count: Int, from characters: inout Substring.UTF8View) -> Int64? {
    var value: Int64 = 0
    for _ in 0..<count {
      guard let digit = characters.popFirst(), isDigit(digit) else { return nil }
      value = value * 10 + Int64(digit - UInt8(ascii: "0"))
    }
    return value
  }

  /// Milliseconds; 0 when there is no point.
  private static func fraction(from characters: inout Substring.UTF8View) -> Int64? {
    guard skip(".", in: &characters) else { return 0 }
    var value: Int64 = 0
    var count = 0
    while let digit = characters.first, isDigit(digit) {
      if count < 3 { value = value * 10 + Int64(digit - UInt8(ascii: "0")) }
      count += 1
      characters.removeFirst()
    }
    guard count > 0 else { return nil }
    for _ in min(count, 3)..<3 { value *= 10 }
    return value
  }

  /// Seconds that local time is ahead of UTC.
  private static func offset(from characters: inout Substring.UTF8View) -> Int64? {
    if skip("Zz", in: &characters) { return 0 }
    let isBehind = characters.first == UInt8(ascii: "-")
    guard skip("+-", in: &characters), let hours = digits(2, from: &characters), hours <= 23,
      skip(":", in: &characters), let minutes = digits(2, from: &characters), minutes <= 59
    else { return nil }
    let seconds = hours * 3_600 + minutes * 60
    return isBehind ? -seconds : seconds
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
