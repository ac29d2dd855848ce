import EntitlementDomain

/// The clocks of Los Angeles, by the rule that holds since 2007: an hour ahead from 2 o'clock on the
/// second Sunday of March until 2 o'clock on the first Sunday of November. The simulated App Store
/// tells nothing of before but the day on which an app was bought.
enum PacificTime {
  /// What the clocks show at a moment, as if it were UTC.
  static func clock(at moment: Milliseconds) -> Milliseconds {
    moment.adding(hours: isSummer(at: moment) ? -7 : -8)
  }

  private static func isSummer(at moment: Milliseconds) -> Bool {
    let parts = moment.rfc3339.split(whereSeparator: { !$0.isNumber }).compactMap { Int64($0) }
    // The form has year, month, day, hour, minute and second in all years of the simulated clock.
    guard parts.count == 6 else { return false }
    let (month, day, hour) = (parts[1], parts[2], parts[3])
    switch month {
    case 4...10:
      return true
    case 3:
      // 2 o'clock is 10 o'clock in UTC.
      return (day, hour) >= (firstSunday(of: moment, day: day) + 7, 10)
    case 11:
      // 2 o'clock in summer is 9 o'clock in UTC.
      return (day, hour) < (firstSunday(of: moment, day: day), 9)
    default:
      return false
    }
  }

  /// - Parameter day: of `moment` in its month.
  /// - Returns: the day of that month, 1 to 7.
  private static func firstSunday(of moment: Milliseconds, day: Int64) -> Int64 {
    // 1970-01-01 was a Thursday; Sundays count as 0.
    let days = SimulatedCalendar.floorDay(moment).rawValue / Milliseconds.dayLength
    let weekdayOfFirst = ((days + 4 - (day - 1)) % 7 + 7) % 7
    return 1 + (7 - weekdayOfFirst) % 7
  }
}
