/// A moment: integer milliseconds since the Unix epoch, as Apple sends it (R4).
public struct Milliseconds: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Milliseconds since the Unix epoch.
  public let rawValue: Int64

  public init(_ rawValue: Int64) {
    self.rawValue = rawValue
  }

  public var description: String { String(rawValue) }

  public static func < (left: Self, right: Self) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The moment `duration` milliseconds later, clamped to the range of `Int64`.
  public func advanced(by duration: Int64) -> Milliseconds {
    let (sum, overflow) = rawValue.addingReportingOverflow(duration)
    return Milliseconds(overflow ? (duration > 0 ? .max : .min) : sum)
  }

  /// One second, in milliseconds.
  public static let secondsLength: Int64 = 1_000
  /// One hour, in milliseconds.
  public static let hourLength: Int64 = 3_600_000
  /// One day of 24 hours, in milliseconds.
  public static let dayLength: Int64 = 86_400_000

  /// A length of time in words for a person, in whole days: "less than a day", "1 day", "4 days".
  package static func days(in length: Int64) -> String {
    switch length / dayLength {
    case ...0: "less than a day"
    case 1: "1 day"
    case let days: "\(days) days"
    }
  }
}

extension Milliseconds: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int64) {
    self.init(value)
  }
}

extension Milliseconds {
  /// Parses an RFC 3339 timestamp, or a number of milliseconds since 1970.
  ///
  /// - Returns: nil for any other form.
  package init?(written text: String) {
    if let number = Int64(text) {
      self.init(number)
    } else {
      self.init(rfc3339: text)
    }
  }

  /// Parses a timestamp such as `2026-11-21T09:30:00Z` or `2026-11-21T10:30:00.250+01:00` (RFC
  /// 3339, section 5.6). The offset is required. Fractions are truncated to milliseconds.
  ///
  /// - Returns: nil for any other form, for a day or time that does not exist, and for a leap
  ///   second, which Unix time cannot represent.
  package init?(rfc3339 text: String) {
    self.init(rfc3339: text.utf8.span)
  }

  /// As ``init(rfc3339:)-(String)``, from the bytes of the text.
  package init?(rfc3339 text: Span<UInt8>) {
    self.init(text, mayOmitColon: false)
  }

  /// Parses a timestamp as StoreKit Testing in Xcode writes it, such as `2020-10-16T14:29:30+0300`:
  /// as of ``init(rfc3339:)-(String)``, but the offset may lack its colon, as in the basic format of
  /// ISO 8601.
  package init?(xcode text: Span<UInt8>) {
    self.init(text, mayOmitColon: true)
  }

  private init?(_ text: Span<UInt8>, mayOmitColon: Bool) {
    if let usual = Self(usual: text) {
      self = usual
      return
    }
    var position = 0
    guard let year = Self.digits(4, of: text, at: &position),
      Self.skip("-", in: text, at: &position),
      let month = Self.digits(2, of: text, at: &position), (1...12).contains(month),
      Self.skip("-", in: text, at: &position),
      let day = Self.digits(2, of: text, at: &position), day >= 1,
      day <= CivilDate.length(ofMonth: month, year: year),
      Self.skip("T", or: "t", in: text, at: &position),
      let hour = Self.digits(2, of: text, at: &position), hour <= 23,
      Self.skip(":", in: text, at: &position),
      let minute = Self.digits(2, of: text, at: &position), minute <= 59,
      Self.skip(":", in: text, at: &position),
      let second = Self.digits(2, of: text, at: &position), second <= 59,
      let fraction = Self.fraction(of: text, at: &position),
      let offset = Self.offset(of: text, at: &position, mayOmitColon: mayOmitColon),
      position == text.count
    else { return nil }
    let days = CivilDate(year: year, month: month, day: day).daysSinceEpoch
    let seconds = hour * 3_600 + minute * 60 + second - offset
    // A year has four digits, so this does not overflow.
    self.init(days * Self.dayLength + seconds * Self.secondsLength + fraction)
  }

  /// Reads a timestamp of the form `2026-11-21T09:30:00Z`, as of ``init(rfc3339:)-(Span<UInt8>)``. All
  /// dates of receipts have it, and a receipt has hundreds.
  ///
  /// - Returns: nil for any other form, and for a day or time that does not exist.
  private init?(usual text: Span<UInt8>) {
    guard text.count == 20 else { return nil }
    // Eight bytes each, from three offsets: the last two words share four bytes.
    let words = text.withUnsafeBytes { text in
      func word(_ offset: Int) -> UInt64 {
        UInt64(littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      }
      return (word(0), word(8), word(12))
    }
    // `2026-11-`, `21T09:30` and `9:30:00Z`. What is left of a digit is its value, and of another
    // character nothing.
    let date = words.0 ^ 0x2D30_302D_3030_3030
    let time = words.1 ^ 0x3030_3A30_3054_3030
    let end = words.2 ^ 0x5A30_303A_3030_3A30
    guard Self.areDigits(date, others: 0x7F00_007F_0000_0000),
      Self.areDigits(time, others: 0x0000_7F00_007F_0000),
      Self.areDigits(end, others: 0x7F00_007F_0000_7F00)
    else { return nil }
    // A pair of digits has its number in the place of the first one.
    func pair(_ digits: UInt64, at place: UInt64) -> Int64 {
      Int64(((digits &* 10 &+ digits &>> 8) &>> (8 &* place)) & 0xFF)
    }
    let (year, month) = (pair(date, at: 0) &* 100 &+ pair(date, at: 2), pair(date, at: 5))
    let (day, hour, minute) = (pair(time, at: 0), pair(time, at: 3), pair(time, at: 6))
    let second = pair(end, at: 5)
    guard (1...12).contains(month), day >= 1, day <= CivilDate.length(ofMonth: month, year: year),
      hour <= 23, minute <= 59, second <= 59
    else { return nil }
    let days = CivilDate(year: year, month: month, day: day).daysSinceEpoch
    self.init(
      days &* Self.dayLength
        &+ (hour &* 3_600 &+ minute &* 60 &+ second) &* Self.secondsLength)
  }

  /// - Parameters:
  ///   - digits: eight bytes.
  ///   - others: 0x7F in the bytes that are no digits and must be 0; 0 in the bytes of digits, which must
  ///     be below 10.
  private static func areDigits(_ digits: UInt64, others: UInt64) -> Bool {
    // Adding sets the high bit of each byte that is too large, unless it is set already.
    let sums = digits &+ (0x7676_7676_7676_7676 | others)
    return (sums | digits) & 0x8080_8080_8080_8080 == 0
  }

  private static func skip(
    _ wanted: Unicode.Scalar, or other: Unicode.Scalar? = nil, in text: Span<UInt8>,
    at position: inout Int
  ) -> Bool {
    guard position < text.count else { return false }
    let found = Unicode.Scalar(text[position])
    guard found == wanted || found == other else { return false }
    position += 1
    return true
  }

  private static func digits(
    _ count: Int, of text: Span<UInt8>, at position: inout Int
  ) -> Int64? {
    guard count <= text.count - position else { return nil }
    var value: Int64 = 0
    for _ in 0..<count {
      guard isDigit(text[position]) else { return nil }
      value = value * 10 + Int64(text[position] - UInt8(ascii: "0"))
      position += 1
    }
    return value
  }

  /// Reads an optional fraction of a second, in milliseconds; 0 when there is none.
  private static func fraction(of text: Span<UInt8>, at position: inout Int) -> Int64? {
    guard skip(".", in: text, at: &position) else { return 0 }
    var value: Int64 = 0
    var count = 0
    while position < text.count, isDigit(text[position]) {
      if count < 3 { value = value * 10 + Int64(text[position] - UInt8(ascii: "0")) }
      count += 1
      position += 1
    }
    guard count > 0 else { return nil }
    for _ in min(count, 3)..<3 { value *= 10 }
    return value
  }

  /// Reads the offset from UTC, in seconds.
  private static func offset(
    of text: Span<UInt8>, at position: inout Int, mayOmitColon: Bool
  ) -> Int64? {
    if skip("Z", or: "z", in: text, at: &position) { return 0 }
    let isBehind = skip("-", in: text, at: &position)
    guard isBehind || skip("+", in: text, at: &position),
      let hours = digits(2, of: text, at: &position), hours <= 23,
      skip(":", in: text, at: &position) || mayOmitColon,
      let minutes = digits(2, of: text, at: &position), minutes <= 59
    else { return nil }
    let seconds = hours * 3_600 + minutes * 60
    return isBehind ? -seconds : seconds
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

extension Milliseconds {
  /// The moment in UTC, truncated to seconds, such as `2026-11-21T09:30:00Z` (RFC 3339,
  /// section 5.6). RFC 3339 has the years 0000 to 9999; other moments are written as
  /// `N ms since 1970`.
  package var rfc3339: String {
    wholeSeconds.map { $0 + "Z" } ?? "\(rawValue) ms since 1970"
  }

  /// As ``rfc3339``, with milliseconds if they are not zero. ``init(written:)`` reads it back.
  /// Moments outside the years of RFC 3339 are written as a number of milliseconds.
  package var exactRFC3339: String {
    guard let wholeSeconds else { return "\(rawValue)" }
    let fraction =
      rawValue - rawValue.flooredDivision(by: Self.secondsLength) * Self.secondsLength
    return wholeSeconds + (fraction > 0 ? ".\(Self.padded(fraction, to: 3))Z" : "Z")
  }

  /// The timestamp without fraction and offset; nil outside the years of RFC 3339.
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
