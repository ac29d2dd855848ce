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
