import ArgumentParser
import EntitlementDomain
import StoreSimulator

/// One customer of the simulated App Store, and the moment of interest.
struct CustomerOptions: ParsableArguments {
  @Option(help: ArgumentHelp("A name from `storesim life-cycles`.", valueName: "name"))
  var lifeCycle: LifeCycle

  @OptionGroup var clock: ClockOptions

  @Option(
    help: """
      When the life cycle starts, in the form of --at. Default: so that at --at the customer is in \
      the state that the life cycle is named after.
      """)
  var start: MomentArgument?

  var at: Milliseconds { clock.at.value }

  var environment: StoreEnvironment { clock.environment.value }

  var timeline: Timeline {
    let start =
      self.start?.value
      ?? SimulatedCalendar.floorDay(at)
      .advanced(by: -lifeCycle.characteristicDay * Milliseconds.dayLength)
    return Timeline(lifeCycle, seed: clock.seed, start: start, environment: environment)
  }

  /// For people.
  func summary(of timeline: Timeline) -> String {
    "\(lifeCycle.rawValue), seed \(clock.seed), from \(timeline.start.rfc3339) to \(at.rfc3339)"
  }
}
