import ArgumentParser
import EntitlementDomain

/// When and where the simulated App Store signs.
struct ClockOptions: ParsableArguments {
  @Option(
    help: """
      Sign everything up to this moment: ISO 8601, such as 2026-03-01T12:00:00Z, or milliseconds \
      since 1970.
      """)
  var at: MomentArgument = .now

  @Option(help: "Where it is signed, in upper or lower case.")
  var environment: EnvironmentArgument = EnvironmentArgument(value: .production)

  @Option(help: "The same seed gives the same payloads.")
  var seed: UInt64 = 1
}
