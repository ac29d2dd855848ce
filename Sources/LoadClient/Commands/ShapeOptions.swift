import ArgumentParser

/// How many calls there are at a time, or a second, and for how long.
struct ShapeOptions: ParsableArguments {
  @Option(help: "Connections, from 1 to 10000.")
  var connections = 8

  @Option(help: "Closed loop: calls at a time on each connection, from 1 to 1024. Default: 8.")
  var inFlight: Int?

  @Option(
    help: """
      Open loop: calls a second over all connections, whether they are answered or not, from \
      0.001 to 10000000. Latency counts from the moment at which a call was meant to be made.
      """)
  var rate: Double?

  @Option(help: "Open loop: the same time between calls, or as of many independent callers.")
  var arrivals: ArrivalSchedule.Spacing?

  @Option(
    help: """
      Open loop: calls in flight at which later ones wait; the wait counts as latency. Default: \
      1024 for each connection.
      """)
  var maximumInFlight: Int?

  @Option(help: "Threads that make calls, each with a part of the connections; from 1 to 64.")
  var threads = 1

  @Option(help: "How long calls are made before anything is measured: 30s, 500ms, 2m.")
  var warmUp = DurationArgument(.seconds(1))

  @Option(
    help: "How long it is measured, up to 168h. Default: 10 s, unless there is a --count.")
  var duration: DurationArgument?

  @Option(help: "How many calls are measured at most.")
  var count: Int?

  @Option(
    help: """
      How long a call may take; how long late calls are still made at the end of an open loop; and \
      how long a run with a --count alone goes on without any connection, 1 s at least.
      """)
  var timeout = DurationArgument(.seconds(10))

  /// What a server takes on one connection.
  static let largestInFlight = 1_024
  /// A call without any time would wait for ever.
  private static let shortest = Duration.milliseconds(1)
  /// Calls a second. With fewer, the next moment may be farther away than a clock can say.
  private static let rates = 0.001...10_000_000

  func validate() throws {
    guard (1...10_000).contains(connections) else {
      throw ValidationError("--connections takes 1 to 10000")
    }
    guard (1...64).contains(threads), threads <= connections else {
      throw ValidationError("--threads takes 1 to 64, and not more than there are connections")
    }
    if let inFlight, !(1...Self.largestInFlight).contains(inFlight) {
      throw ValidationError("--in-flight takes 1 to \(Self.largestInFlight)")
    }
    if let rate {
      guard Self.rates.contains(rate) else {
        throw ValidationError("--rate takes 0.001 to 10000000")
      }
      guard inFlight == nil else {
        throw ValidationError("--rate is of the open loop, --in-flight of the closed one")
      }
    } else if arrivals != nil || maximumInFlight != nil {
      throw ValidationError("--arrivals and --maximum-in-flight need a --rate")
    }
    if let maximumInFlight, maximumInFlight < threads || maximumInFlight > 10_000_000 {
      throw ValidationError("--maximum-in-flight takes 1 for each thread, up to 10000000")
    }
    if let duration, duration.duration < Self.shortest {
      throw ValidationError("--duration takes 1ms or more")
    }
    if let count, count < 1 { throw ValidationError("--count is 1 or more") }
    guard timeout.duration >= Self.shortest else {
      throw ValidationError("--timeout takes 1ms or more")
    }
  }

  var shape: LoadShape {
    guard let rate else { return .closed(inFlight: inFlight ?? 8) }
    return .open(
      rate: rate, spacing: arrivals ?? .constant,
      maximumInFlight: maximumInFlight ?? Self.largestInFlight * connections)
  }

  /// Nil: until the calls are made.
  var measuredDuration: Duration? {
    duration?.duration ?? (count == nil ? .seconds(10) : nil)
  }
}
