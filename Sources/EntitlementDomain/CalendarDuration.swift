/// An ISO 8601 duration such as `P1M` or `PT72H`.
///
/// The date part is added on the Gregorian calendar in UTC. Months are added before days, and the
/// day is clamped to the length of the month: Jan 31 + P1M = Feb 28 or 29 (R11).
package struct CalendarDuration: Hashable, Sendable {
  /// Whole months, years included.
  package let months: Int64
  /// Whole days, weeks included.
  package let days: Int64
  /// The time part.
  package let milliseconds: Int64

  package init(months: Int64 = 0, days: Int64 = 0, milliseconds: Int64 = 0) {
    self.months = months
    self.days = days
    self.milliseconds = milliseconds
  }

  /// The longest accepted duration, about a thousand years. It keeps sums within `Int64`.
  static let maximumDays: Int64 = 366_000

  /// Reads `P[nY][nM][nW][nD][T[nH][nM][nS]]` with whole numbers and at least one part.
  ///
  /// - Returns: nil when the text has another form, or the duration exceeds ``maximumDays``.
  package init?(iso8601 text: String) {
    var characters = Substring(text).utf8
    guard characters.popFirst() == UInt8(ascii: "P") else { return nil }
    var months: Int64 = 0
    var days: Int64 = 0
    var milliseconds: Int64 = 0
    var units = Self.dateUnits[...]
    var hasPart = false
    while let first = characters.first {
      if first == UInt8(ascii: "T") {
        guard units.first?.isTime != true, characters.count > 1 else { return nil }
        characters.removeFirst()
        units = Self.timeUnits[...]
        continue
      }
      guard let number = Self.number(from: &characters), let letter = characters.popFirst(),
        let position = units.firstIndex(where: { $0.letter == letter })
      else { return nil }
      let unit = units[position]
      units = units[(position + 1)...]
      months += number * unit.months
      days += number * unit.days
      milliseconds += number * unit.milliseconds
      hasPart = true
    }
    let total = months * 31 + days + milliseconds / Milliseconds.dayLength
    guard hasPart, total <= Self.maximumDays else { return nil }
    self.init(months: months, days: days, milliseconds: milliseconds)
  }

  /// The end of a span that begins at `start` and has this duration.
  package func end(from start: Milliseconds) -> Milliseconds {
    guard months != 0 else {
      return start.advanced(by: days * Milliseconds.dayLength + milliseconds)
    }
    let day = start.rawValue.flooredDivision(by: Milliseconds.dayLength)
    let remainder = start.rawValue % Milliseconds.dayLength
    let timeOfDay = remainder < 0 ? remainder + Milliseconds.dayLength : remainder
    var date = CivilDate(daysSinceEpoch: day)
    date.add(months: months)
    let endDay = Milliseconds(date.daysSinceEpoch).advanced(by: days).rawValue
    let (midnight, overflow) = endDay.multipliedReportingOverflow(by: Milliseconds.dayLength)
    guard !overflow else { return Milliseconds(endDay > 0 ? .max : .min) }
    return Milliseconds(midnight).advanced(by: timeOfDay).advanced(by: milliseconds)
  }

  private struct Unit {
    let letter: UInt8
    var isTime = false
    var months: Int64 = 0
    var days: Int64 = 0
    var milliseconds: Int64 = 0
  }

  private static let dateUnits = [
    Unit(letter: UInt8(ascii: "Y"), months: 12), Unit(letter: UInt8(ascii: "M"), months: 1),
    Unit(letter: UInt8(ascii: "W"), days: 7), Unit(letter: UInt8(ascii: "D"), days: 1),
  ]

  private static let timeUnits = [
    Unit(letter: UInt8(ascii: "H"), isTime: true, milliseconds: 3_600_000),
    Unit(letter: UInt8(ascii: "M"), isTime: true, milliseconds: 60_000),
    Unit(letter: UInt8(ascii: "S"), isTime: true, milliseconds: 1_000),
  ]

  /// Reads at most nine digits, so that no product of a number and a unit overflows.
  private static func number(from characters: inout Substring.UTF8View) -> Int64? {
    var value: Int64 = 0
    var count = 0
    while let digit = characters.first, digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") {
      count += 1
      guard count <= 9 else { return nil }
      value = value * 10 + Int64(digit - UInt8(ascii: "0"))
      characters.removeFirst()
    }
    return count > 0 ? value : nil
  }
}
