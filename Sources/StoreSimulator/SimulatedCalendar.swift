package import EntitlementDomain

/// The calendar that gives the ends of subscription periods: Gregorian, UTC. It shares no code with
/// the durations of the catalog, so that tests can compare two implementations.
package enum SimulatedCalendar {
  /// The times that can be simulated: from 2009-07-01 to 2099-01-01. The certificates of the
  /// authority are valid for longer, so that every life cycle fits.
  package static let range = Milliseconds(1_246_406_400_000)...Milliseconds(4_070_908_800_000)

  /// The same day and time `months` later, or the month's last day where it has no such day.
  package static func adding(months: Int, to moment: Milliseconds) -> Milliseconds {
    var days = floorDay(moment).rawValue / Milliseconds.dayLength
    let timeOfDay = moment.rawValue - days * Milliseconds.dayLength
    var year: Int64 = 1970
    while days >= daysInYear(year) {
      days -= daysInYear(year)
      year += 1
    }
    while days < 0 {
      year -= 1
      days += daysInYear(year)
    }
    var month = 0
    while days >= daysInMonth(month, of: year) {
      days -= daysInMonth(month, of: year)
      month += 1
    }
    // `days` is now the day of the month, from 0. Add the days of the months in between.
    var total = floorDay(moment).rawValue / Milliseconds.dayLength - days
    for _ in 0..<months {
      total += daysInMonth(month, of: year)
      month += 1
      if month == 12 {
        month = 0
        year += 1
      }
    }
    let day = min(days, daysInMonth(month, of: year) - 1)
    return Milliseconds((total + day) * Milliseconds.dayLength + timeOfDay)
  }

  /// Midnight before or at `moment`.
  package static func floorDay(_ moment: Milliseconds) -> Milliseconds {
    let remainder = moment.rawValue % Milliseconds.dayLength
    let elapsed = remainder < 0 ? remainder + Milliseconds.dayLength : remainder
    return moment.advanced(by: -elapsed)
  }

  private static func daysInYear(_ year: Int64) -> Int64 {
    isLeap(year) ? 366 : 365
  }

  private static func daysInMonth(_ month: Int, of year: Int64) -> Int64 {
    month == 1 && isLeap(year) ? 29 : [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
  }

  private static func isLeap(_ year: Int64) -> Bool {
    year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
  }
}

extension Milliseconds {
  func adding(months: Int) -> Milliseconds { SimulatedCalendar.adding(months: months, to: self) }
  func adding(days: Int64) -> Milliseconds { advanced(by: days * Self.dayLength) }
  func adding(hours: Int64) -> Milliseconds { advanced(by: hours * Self.hourLength) }
  func adding(minutes: Int64) -> Milliseconds { advanced(by: minutes * 60 * Self.secondsLength) }
}
