import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import StoreSimulator

struct SubmitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit",
    abstract: "Sign the histories of many customers and hand them to a server.",
    discussion: """
      Customers are named customer-001 and so on, take turns in the life cycles, and each is in \
      the state that its life cycle is named after. It may be repeated: within a day (UTC) the \
      same seed gives the same payloads, later the same purchases at later dates.
      """)

  @OptionGroup var authority: AuthorityOption
  @OptionGroup var server: ServerOption

  @Option(help: "How many customers.")
  var customers = 12

  @OptionGroup var clock: ClockOptions

  @Option(
    help: """
      How facts arrive: as transactions, in notifications, or mixed (every other event as a \
      notification).
      """)
  var via = Delivery.mixed

  @Option(help: "Calls under way at once, from 1 to 256.")
  var concurrency = 8

  @Option(
    help: ArgumentHelp(
      "Write what must be said of each customer, one JSON object a line.", valueName: "file|-"))
  var expectations: String?

  func validate() throws {
    guard (0...Population.maximumCount).contains(customers) else {
      throw ValidationError("--customers is a number from 0 to \(Population.maximumCount).")
    }
    guard (1...256).contains(concurrency) else {
      throw ValidationError("--concurrency is a number from 1 to 256.")
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
    let client = try await EntitlementClient.connect(
      to: server.address, configuration: PopulationSubmitter.client)
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
