import ArgumentParser
import EntitlementDomain
import FoundationEssentials
import StoreSimulator

/// A moment as people write it, within the range of the simulated clock.
struct MomentArgument: ExpressibleByArgument {
  let value: Milliseconds

  static var now: MomentArgument { MomentArgument(Date()) }

  private init(_ value: Milliseconds) {
    self.value = value
  }

  private init(_ date: Date) {
    self.init(Milliseconds(Int64((date.timeIntervalSince1970 * 1_000).rounded())))
  }

  init?(argument: String) {
    if let number = Int64(argument) {
      self.init(Milliseconds(number))
    } else {
      let styles = [
        Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true),
      ]
      guard let date = styles.lazy.compactMap({ try? $0.parse(argument) }).first else {
        return nil
      }
      self.init(date)
    }
    guard SimulatedCalendar.range.contains(value) else { return nil }
  }

  var defaultValueDescription: String { "now" }
}

extension Milliseconds {
  /// For messages to people: ISO 8601 in UTC.
  var text: String {
    Date(timeIntervalSince1970: Double(rawValue) / 1_000).formatted(.iso8601)
  }
}
