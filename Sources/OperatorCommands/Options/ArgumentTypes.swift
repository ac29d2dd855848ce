import ArgumentParser
import EntitlementDomain

/// A time on the command line: RFC 3339, or milliseconds since 1970.
struct Moment: ExpressibleByArgument {
  let milliseconds: Milliseconds

  init?(argument: String) {
    guard let milliseconds = Milliseconds(written: argument) else { return nil }
    self.milliseconds = milliseconds
  }
}

extension Milliseconds {
  /// Human-readable: `2026-11-21 09:30:00Z`, without milliseconds.
  var display: String { rfc3339.replacing("T", with: " ") }
}

/// A past time on the command line: RFC 3339, a date (its beginning in UTC), milliseconds since 1970,
/// or how long ago, as a number with a unit: `90m`, `36h`, `7d` or `2w`.
enum PastMoment: ExpressibleByArgument, Hashable {
  case at(Milliseconds)
  /// So many milliseconds ago.
  case ago(Int64)

  /// For help.
  static let forms = "RFC 3339, a date, or how long ago: 90m, 36h, 7d, 2w"

  /// In milliseconds.
  private static let units: [Character: Int64] = [
    "m": 60 * Milliseconds.secondsLength, "h": 3_600 * Milliseconds.secondsLength,
    "d": Milliseconds.dayLength, "w": 7 * Milliseconds.dayLength,
  ]
  /// Smaller numbers without a unit, of a moment before 1973, rather lack their unit.
  private static let leastNumber: Int64 = 100_000_000_000

  init?(argument: String) {
    if let unit = argument.last.flatMap({ Self.units[$0] }) {
      let digits = argument.dropLast()
      guard let count = Int64(digits), count > 0,
        digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") })
      else { return nil }
      let (length, isTooLong) = count.multipliedReportingOverflow(by: unit)
      // A longer time ago would be before the years that a date can have.
      if isTooLong || length > 2_000 * 366 * Milliseconds.dayLength { return nil }
      self = .ago(length)
    } else if let moment = Milliseconds(written: argument) {
      if Int64(argument) != nil, moment.rawValue < Self.leastNumber { return nil }
      self = .at(moment)
    } else if let day = Milliseconds(rfc3339: argument + "T00:00:00Z") {
      self = .at(day)
    } else {
      return nil
    }
  }

  func moment(from now: Milliseconds) -> Milliseconds {
    switch self {
    case .at(let moment): moment
    case .ago(let length): now.advanced(by: -length)
    }
  }
}

/// A duration on the command line: ISO 8601, longer than zero.
struct CalendarDurationArgument: ExpressibleByArgument {
  let duration: CalendarDuration

  init?(argument: String) {
    guard let duration = CalendarDuration(iso8601: argument), duration.end(from: 0) > 0 else {
      return nil
    }
    self.duration = duration
  }
}

extension DeviceIdentifier: ExpressibleByArgument {
  package init?(argument: String) {
    self.init(text: argument)
  }
}
