import ArgumentParser
import EntitlementDomain
import Foundation

/// A moment on the command line: RFC 3339, or milliseconds since 1970.
struct Moment: ExpressibleByArgument {
  let milliseconds: Milliseconds

  init?(argument: String) {
    if let number = Int64(argument) {
      milliseconds = Milliseconds(number)
      return
    }
    let withFraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    guard
      let date = (try? Date(argument, strategy: .iso8601))
        ?? (try? Date(argument, strategy: withFraction))
    else { return nil }
    milliseconds = Milliseconds(Int64((date.timeIntervalSince1970 * 1_000).rounded()))
  }
}

extension Milliseconds {
  /// For people: `2026-11-21 09:30:00Z`, without milliseconds.
  var display: String {
    let seconds = Double(rawValue) / 1_000
    return Date(timeIntervalSince1970: seconds.rounded(.down)).formatted(
      .iso8601.year().month().day().dateTimeSeparator(.space).time(
        includingFractionalSeconds: false
      )
      .timeZone(separator: .omitted))
  }
}
