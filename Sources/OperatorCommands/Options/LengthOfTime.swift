import ArgumentParser
import EntitlementDomain

/// A length of time on the command line: an ISO 8601 duration longer than none.
struct LengthOfTime: ExpressibleByArgument {
  let duration: CalendarDuration

  init?(argument: String) {
    guard let duration = CalendarDuration(iso8601: argument), duration.end(from: 0) > 0 else {
      return nil
    }
    self.duration = duration
  }
}
