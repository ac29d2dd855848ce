/// A date of the proleptic Gregorian calendar.
///
/// The conversion uses years that begin in March. The leap day is then the last day of a year, and
/// 400 years always have 146,097 days.
struct CivilDate {
  var year: Int64
  var month: Int64
  var day: Int64

  /// The caller must pass a date that exists.
  init(year: Int64, month: Int64, day: Int64) {
    self.year = year
    self.month = month
    self.day = day
  }

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

  /// Adds months, and clamps the day to the length of the month.
  mutating func add(months count: Int64) {
    let total = year * 12 + (month - 1) + count
    year = total.flooredDivision(by: 12)
    month = total - year * 12 + 1
    day = min(day, Self.length(ofMonth: month, year: year))
  }

  static func length(ofMonth month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension Int64 {
  /// - Parameter divisor: more than 0.
  func flooredDivision(by divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
