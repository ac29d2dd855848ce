import ArgumentParser
import EntitlementDomain
import Programs
import StoreSimulator

struct SignCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign",
    abstract: "Sign one customer's history up to a moment.",
    discussion: """
      Prints one compact JWS a line, in the order of signing, as `entitlectl submit -` reads them, \
      or writes each to a file in a directory. There is no output before the start of the life \
      cycle.
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument {
    /// One compact JWS a line.
    case jws
    /// One object a line: at, kind and signedPayload.
    case jsonl
    /// One object a line, as the App Store posts a notification: only signedPayload.
    case body
  }

  @OptionGroup var authority: AuthorityOption

  @OptionGroup var customer: LifeCycleOptions

  @Flag(
    help: """
      Sign as Xcode does: with one certificate of its own, which `storesim authority --xcode` \
      prints. Only in the environments Xcode and LocalTesting.
      """)
  var xcode = false

  @Option(help: "Kinds of payloads; transactions includes renewal infos and app transactions.")
  var include = SignedLineKinds.transactions

  @Option(
    help: """
      On standard output: compact JWS; jsonl, objects with at, kind and signedPayload; or body, what \
      the App Store posts of a notification (with --include notifications).
      """)
  var format = Format.jws

  @Option(help: ArgumentHelp("A directory, or - for standard output.", valueName: "directory|-"))
  var output = "-"

  func validate() throws {
    guard format != .body || include == .notifications else {
      throw ValidationError("--format body needs --include notifications.")
    }
    guard !xcode || customer.environment == .xcode || customer.environment == .localTesting else {
      throw ValidationError("--xcode needs --environment Xcode or LocalTesting.")
    }
  }

  func run() throws {
    let timeline = customer.timeline
    let lines = SignedLine.lines(
      of: try signer().sign(timeline.history(until: customer.at)), include: include)
    StandardError.write(
      "\(customer.summary(of: timeline)): \(lines.count) payloads")
    if output == "-" {
      for line in lines {
        switch format {
        case .jws: try SimulatorOutput.print(line.jws)
        case .jsonl: try SimulatorOutput.print(line.json.text)
        case .body: try SimulatorOutput.print(line.body.text)
        }
      }
    } else {
      try SignedLineDirectory(path: output).write(lines)
    }
  }

  private func signer() throws(SimulatorError) -> any SimulatedSigner {
    let appStore = try authority.load()
    guard xcode else { return appStore }
    return try XcodeAuthority.loadOrCreate(inDirectory: authority.directory)
  }
}
