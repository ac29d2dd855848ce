import ArgumentParser
import EntitlementDomain
import FoundationEssentials
import StoreSimulator

/// A moment as people write it, within the range of the simulated clock.
struct MomentArgument: ExpressibleByArgument {
  let value: Milliseconds

  static var now: MomentArgument {
    MomentArgument(Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000)))
  }

  private init(_ value: Milliseconds) {
    self.value = value
  }

  init?(argument: String) {
    guard let value = Milliseconds(written: argument), SimulatedCalendar.range.contains(value)
    else { return nil }
    self.init(value)
  }

  var defaultValueDescription: String { "now" }
}
