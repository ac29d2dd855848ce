import ArgumentParser
import EntitlementDomain
import StoreSimulator

struct SignCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign",
    abstract: "Sign one customer's history up to a moment.",
    discussion: """
      Prints one compact JWS a line, in the order of signing, as `entitlectl submit -` reads them; \
      or writes one file for each into a directory. Nothing is signed before the life cycle \
      starts: then there is no output.
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument {
    /// One compact JWS a line.
    case jws
    /// One object a line: at, kind and signedPayload.
    case jsonl
  }

  @OptionGroup var authority: AuthorityOption

  @Option(help: ArgumentHelp("A name from `storesim life-cycles`.", valueName: "name"))
  var lifeCycle: LifeCycle

  @OptionGroup var clock: ClockOptions

  @Option(
    help: """
      When the life cycle starts, in the form of --at. Default: so that at --at the customer is in \
      the state that the life cycle is named after.
      """)
  var start: MomentArgument?

  @Option(help: "Which payloads; transactions stands for renewal infos and app transactions too.")
  var include = SignedLineKinds.transactions

  @Option(help: "On standard output: compact JWS, or objects with at, kind and signedPayload.")
  var format = Format.jws

  @Option(help: ArgumentHelp("A directory, or - for standard output.", valueName: "directory|-"))
  var output = "-"

  func run() throws {
    let at = clock.at.value
    let start =
      self.start?.value
      ?? SimulatedCalendar.floorDay(at)
      .advanced(by: -lifeCycle.characteristicDay * Milliseconds.dayLength)
    let timeline = Timeline(
      lifeCycle, seed: clock.seed, start: start, environment: clock.environment.value)
    let lines = SignedLine.lines(
      of: try authority.load().sign(timeline.history(until: at)), include: include)
    StandardError.print(
      "\(lifeCycle.rawValue), seed \(clock.seed), from \(start.rfc3339) to \(at.rfc3339): "
        + "\(lines.count) payloads")
    if output == "-" {
      for line in lines {
        switch format {
        case .jws: try StandardOutput.print(line.jws)
        case .jsonl: try StandardOutput.print(line.json.text)
        }
      }
    } else {
      try SignedLineDirectory(path: output).write(lines)
    }
  }
}
