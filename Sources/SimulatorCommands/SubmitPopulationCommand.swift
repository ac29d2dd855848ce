import ArgumentParser
import ClientOptions
import EntitlementDomain
import FoundationEssentials
import Framing
import Programs
import RPCClient
import StoreSimulator
import Wire

struct SubmitPopulationCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit",
    abstract: "Sign the histories of many customers and submit them to a server.",
    discussion: """
      Customers are named customer-001 and so on. They take the life cycles in turn, and each is \
      in the state that its life cycle is named after. The command can be repeated: within a day \
      (UTC) the same seed gives the same payloads, later the same purchases at later dates.
      """)

  @OptionGroup var authority: AuthorityOption
  @OptionGroup var server: ServerOption

  @Option(help: "Number of customers.")
  var customers = 12

  @OptionGroup var clock: ClockOptions

  @Option(
    help: """
      How facts arrive: as transactions, in notifications, or mixed (every other event as a \
      notification).
      """)
  var via = Delivery.mixed

  @Option(help: "Customers in flight, from 1 to 256.")
  var concurrency = 8

  @Option(
    help: ArgumentHelp(
      "Write the expected state of each customer, one JSON object a line.", valueName: "file|-"))
  var expectations: String?

  func validate() throws {
    guard (0...Population.maximumCount).contains(customers) else {
      throw ValidationError("--customers takes 0 to \(Population.maximumCount).")
    }
    guard (1...256).contains(concurrency) else {
      throw ValidationError("--concurrency takes 1 to 256.")
    }
  }

  func run() async throws {
    let population = Population(
      seed: clock.seed, count: customers, now: clock.at.value,
      environment: clock.environment.value)
    let authority = try authority.load()
    StandardError.write(
      "\(customers) customers, seed \(clock.seed), at \(population.now.rfc3339), root "
        + "\(authority.rootFingerprint)")
    let tally: SubmissionTally
    do {
      tally = try await submit(population, signedBy: authority)
    } catch let error as RPCClientError {
      throw CommandFailure(error)
    }
    for refusal in tally.refusals { StandardError.write(refusal) }
    StandardError.write(tally.summary)
    guard tally.refusedCount == 0 else { throw CommandFailure(.refused, nil) }
    if let expectations { try ExpectationFile(path: expectations).write(population) }
  }

  private func submit(
    _ population: Population, signedBy authority: SigningAuthority
  ) async throws -> SubmissionTally {
    let client = try await server.client(PopulationSubmitter.client)
    let submitter = PopulationSubmitter(
      client: client, authority: authority, population: population, delivery: via,
      concurrency: concurrency)
    do {
      let tally = try await submitter.run()
      await client.close()
      return tally
    } catch {
      await client.close()
      throw error
    }
  }
}

struct ServerOption: ParsableArguments {
  @Option(
    name: .customLong("server"),
    help: ArgumentHelp(
      "Address of the server: host:port, [::1]:port, tls:host:port or unix:/path.",
      valueName: "address"))
  var argument: ServerArgument

  @OptionGroup var tls: TLSOptions
  @OptionGroup var token: TokenOptions

  func validate() throws {
    _ = try tls.address(argument.address)
  }

  func client(
    _ configuration: EntitlementClientConfiguration
  ) async throws -> EntitlementClient {
    var configuration = configuration
    configuration.tls = tls.settings
    let address = try tls.address(argument.address)
    configuration.token = try token.token(for: address)
    return try await EntitlementClient.connect(to: address, configuration: configuration)
  }
}

/// The expected state of each customer of a population, one JSON object a line: accountId,
/// lifeCycle, bundleId, environment, at (milliseconds) and expected.
struct ExpectationFile {
  /// `-` is stdout.
  let path: String

  /// - Throws: ``CommandFailure``.
  func write(_ population: Population) throws(CommandFailure) {
    var text = ""
    for customer in population.customers {
      var writer = JSONObjectWriter()
      writer.set("accountId", customer.accountID.rawValue)
      writer.set("lifeCycle", customer.timeline.lifeCycle.rawValue)
      writer.set("bundleId", SimulatedApp.bundleID.rawValue)
      writer.set("environment", population.environment.rawValue)
      writer.set("at", population.now.rawValue)
      writer.set("expected", customer.timeline.expectation(at: population.now).json)
      text += writer.text + "\n"
    }
    if path == "-" {
      try SimulatorOutput.print(text, terminator: "")
    } else {
      try CommandFailure.writing(path) {
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
      }
    }
  }
}

extension Delivery: ExpressibleByArgument {}
