import ArgumentParser
import EntitlementDomain
import FoundationEssentials
import StoreSimulator

/// The options that choose one simulated customer, and the moment up to which it is signed.
struct LifeCycleOptions: ParsableArguments {
  @Option(help: ArgumentHelp("A name from `storesim life-cycles`.", valueName: "name"))
  var lifeCycle: LifeCycle

  @OptionGroup var clock: ClockOptions

  @Option(
    help: """
      Start of the life cycle, in the form of --at. Default: a start at which the customer, at \
      --at, has the state that the life cycle is named after.
      """)
  var start: SimulatorMoment?

  var at: Milliseconds { clock.at.value }

  var environment: StoreEnvironment { clock.environment.value }

  var timeline: Timeline {
    let start =
      self.start?.value
      ?? SimulatedCalendar.floorDay(at)
      .advanced(by: -lifeCycle.characteristicDay * Milliseconds.dayLength)
    return Timeline(lifeCycle, seed: clock.seed, start: start, environment: environment)
  }

  /// One line for people.
  func summary(of timeline: Timeline) -> String {
    "\(lifeCycle.rawValue), seed \(clock.seed), from \(timeline.start.rfc3339) to \(at.rfc3339)"
  }
}

/// The moment and environment of the simulated App Store.
struct ClockOptions: ParsableArguments {
  @Option(
    help: """
      Sign everything up to this moment: ISO 8601, such as 2026-03-01T12:00:00Z, or milliseconds \
      since 1970.
      """)
  var at: SimulatorMoment = .now

  @Option(
    help: """
      The environment, in upper or lower case. A server accepts Production only if the roots are \
      named for it: --trust-root production=…
      """)
  var environment: EnvironmentArgument = EnvironmentArgument(value: .sandbox)

  @Option(help: "The same seed gives the same payloads.")
  var seed: UInt64 = 1
}

/// A moment within the range of the simulated clock: ISO 8601, or milliseconds since 1970.
struct SimulatorMoment: ExpressibleByArgument {
  let value: Milliseconds

  static var now: SimulatorMoment {
    SimulatorMoment(Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000)))
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

/// An environment by Apple's name, in upper or lower case.
struct EnvironmentArgument: ExpressibleByArgument {
  let value: StoreEnvironment

  init(value: StoreEnvironment) {
    self.value = value
  }

  init?(argument: String) {
    let wanted = argument.lowercased()
    guard let value = StoreEnvironment.allCases.first(where: { $0.rawValue.lowercased() == wanted })
    else { return nil }
    self.value = value
  }

  static var allValueStrings: [String] { StoreEnvironment.allCases.map(\.rawValue) }

  var defaultValueDescription: String { value.rawValue }
}

extension LifeCycle: ExpressibleByArgument {}
