import ArgumentParser
import EntitlementDomain
import StoreSimulator
import Wire

/// A length of time: `30s`, `500ms`, `2m`; a number alone is of seconds.
struct DurationArgument: ExpressibleByArgument, Hashable {
  let duration: Duration

  init(_ duration: Duration) {
    self.duration = duration
  }

  init?(argument: String) {
    let digits = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let seconds: [Substring: Double] = ["": 1, "s": 1, "ms": 0.001, "m": 60, "h": 3_600]
    guard let number = Double(digits), let unit = seconds[argument[digits.endIndex...]],
      number * unit <= 7 * 86_400
    else { return nil }
    duration = .seconds(number * unit)
  }

  var defaultValueDescription: String { duration.shortText }
}

/// `HOST:PORT` or `unix:PATH`.
struct ServerArgument: ExpressibleByArgument {
  let address: ServerAddress

  init?(argument: String) {
    guard let address = try? ServerAddress(parsing: argument) else { return nil }
    self.address = address
  }

  var defaultValueDescription: String { "\(address)" }
}

/// A moment within the range of the simulated clock: RFC 3339, or milliseconds since 1970.
struct MomentArgument: ExpressibleByArgument {
  let moment: Milliseconds

  init(_ moment: Milliseconds) {
    self.moment = moment
  }

  init?(argument: String) {
    guard let moment = Milliseconds(written: argument), SimulatedCalendar.range.contains(moment)
    else { return nil }
    self.moment = moment
  }

  var defaultValueDescription: String { moment.rfc3339 }
}

extension AnswerChecker.Extent: ExpressibleByArgument {}
extension LoadReport.Form: ExpressibleByArgument {}
