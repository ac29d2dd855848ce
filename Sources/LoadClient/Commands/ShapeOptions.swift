import ArgumentParser

/// The shape of the load: concurrency or rate, and duration.
struct ShapeOptions: ParsableArguments {
  @Option(help: "Connections, from 1 to 10000.")
  var connections = 8

  @Option(help: "Closed loop: calls in flight on each connection, from 1 to 1024. Default: 8.")
  var inFlight: Int?

  @Option(
    help: """
      Open loop: calls a second over all connections, answered or not, from 0.001 to 10000000. \
      Latency counts from the intended start time of a call.
      """)
  var rate: Double?

  @Option(help: "Open loop: constant intervals, or random ones as of many independent callers.")
  var arrivals: ArrivalSchedule.Spacing?

  @Option(
    help: """
      Open loop: maximum number of calls in flight. Further calls wait, and the wait counts as \
      latency. Default: 1024 for each connection.
      """)
  var maximumInFlight: Int?

  @Option(help: "Threads that make calls, from 1 to 64. Each has a share of the connections.")
  var threads = 1

  @Option(help: "Length of the warm-up before the measurement: 30s, 500ms, 2m.")
  var warmUp = DurationArgument(.seconds(1))

  @Option(
    help: "Length of the measurement, up to 168h. Default: 10 s, or none with --count.")
  var duration: DurationArgument?

  @Option(help: "Maximum number of measured calls.")
  var count: Int?

  @Option(
    help: """
      Timeout of each call. Also how long late calls are still made at the end of an open loop, \
      and how long a run without --duration continues without a connection (at least 1 s).
      """)
  var timeout = DurationArgument(.seconds(10))

  /// The server's limit for one connection.
  static let largestInFlight = 1_024
  /// Minimum of `--duration` and `--timeout`. A timeout of 0 would mean no timeout.
  private static let shortest = Duration.milliseconds(1)
  /// Calls a second. With a lower rate the time of the next call may exceed the range of the clock.
  private static let rates = 0.001...10_000_000

  func validate() throws {
    guard (1...10_000).contains(connections) else {
      throw ValidationError("--connections takes 1 to 10000")
    }
    guard (1...64).contains(threads), threads <= connections else {
      throw ValidationError("--threads takes 1 to 64, and at most the number of connections")
    }
    if let inFlight, !(1...Self.largestInFlight).contains(inFlight) {
      throw ValidationError("--in-flight takes 1 to \(Self.largestInFlight)")
    }
    if let rate {
      guard Self.rates.contains(rate) else {
        throw ValidationError("--rate takes 0.001 to 10000000")
      }
      guard inFlight == nil else {
        throw ValidationError("--rate is for the open loop, --in-flight for the closed loop")
      }
    } else if arrivals != nil || maximumInFlight != nil {
      throw ValidationError("--arrivals and --maximum-in-flight need a --rate")
    }
    if let maximumInFlight, maximumInFlight < threads || maximumInFlight > 10_000_000 {
      throw ValidationError("--maximum-in-flight takes at least 1 for each thread, up to 10000000")
    }
    if let duration, duration.duration < Self.shortest {
      throw ValidationError("--duration takes 1ms or more")
    }
    if let count, count < 1 { throw ValidationError("--count takes 1 or more") }
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

  /// Nil when the run ends with its last call.
  var measuredDuration: Duration? {
    duration?.duration ?? (count == nil ? .seconds(10) : nil)
  }
}

/// A duration: `30s`, `500ms`, `2m`, `1h`; a number without a unit is in seconds.
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
