/// An ISO 8601 duration such as `P1M` or `PT72H`.
///
/// The date part is counted on the Gregorian calendar in UTC, months before days, clamped at the
/// end of the month: Jan 31 + P1M = Feb 28 or 29 (R11).
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

  /// The longest duration that is accepted, so that sums stay far from the range of `Int64`: a
  /// thousand years.
  static let maximumDays: Int64 = 366_000

  /// Reads `P[nY][nM][nW][nD][T[nH][nM][nS]]` with whole numbers and at least one part.
  ///
  /// - Returns: nil when the text has another form or is longer than a thousand years.
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

  /// The moment at which a span of this duration ends when it begins at `start`.
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

  /// At most nine digits, so that no product of a number and a unit overflows.
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

/// A date of the proleptic Gregorian calendar.
///
/// The conversion counts days in years that begin in March, so that the leap day is a year's last
/// and 400 years are always 146,097 days.
private struct CivilDate {
  var year: Int64
  var month: Int64
  var day: Int64

  init(daysSinceEpoch: Int64) {
    // 719,468 days lie between 0000-03-01 and 1970-01-01.
    let shifted = daysSinceEpoch + 719_468
    let era = shifted.flooredDivision(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  var daysSinceEpoch: Int64 {
    let marchYear = month <= 2 ? year - 1 : year
    let era = marchYear.flooredDivision(by: 400)
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  mutating func add(months count: Int64) {
    let total = year * 12 + (month - 1) + count
    year = total.flooredDivision(by: 12)
    month = total - year * 12 + 1
    day = min(day, Self.length(ofMonth: month, year: year))
  }

  private static func length(ofMonth month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension Int64 {
  fileprivate func flooredDivision(by divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
