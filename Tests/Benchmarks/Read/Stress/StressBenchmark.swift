import ArgumentParser
import Glibc
import LoadClient
import PostgresStore
import TestSupport

/// A server under stress: overload, idle connections and hostile clients. Its memory and its start
/// time are parts of ``ReadBenchmark``.
struct StressBenchmark: AsyncParsableCommand, ReportingBenchmark {
  static let configuration = CommandConfiguration(
    commandName: "stress", abstract: "Overload, idle connections and hostile clients.")

  @Option(help: "How often each is measured; the median is printed.")
  var rounds = 5

  @Option(help: "How long each load lasts in a round, in seconds.")
  var seconds = 5

  @Option(help: "Customers in the databases.")
  var customers = 50_000

  @Option(
    help: "URI of a PostgreSQL server; its role may create databases. Default: one is started.")
  var postgres: String?

  @Option(help: "Measure only this.")
  var only: Part?

  @Option(help: "Only hostile clients of this manner; repeatable. Not with a storm.")
  var manner: [HostileClient.Manner] = []

  @OptionGroup var output: ReportOptions

  enum Part: String, CaseIterable, ExpressibleByArgument {
    case memory, start, overload, idle, short, hostile, storm, guessing, strangers
    case largeCustomers = "large-customers"

    /// The parts about a server in normal use.
    static let ofReads = [memory, start]
    static let ofStress = [
      overload, idle, short, hostile, storm, guessing, strangers, largeCustomers,
    ]
  }

  func validate() throws {
    guard (1...1_000).contains(rounds) else { throw ValidationError("--rounds takes 1 to 1000") }
    guard (1...60).contains(seconds) else { throw ValidationError("--seconds takes 1 to 60") }
    guard (2_000...1_000_000).contains(customers) else {
      throw ValidationError("--customers takes 2000 to 1000000")
    }
    if let refusal = postgres.flatMap({ ConnectionArgument.refusal(of: $0, as: "--postgres") }) {
      throw ValidationError(refusal)
    }
  }

  func run() async throws { try await output.write(self) }

  func measure() async throws -> [Report.Part] {
    try await measure(only.map { [$0] } ?? Part.ofStress)
  }

  func measure(_ selected: [Part]) async throws -> [Report.Part] {
    // A write to a program that has ended reports an error.
    signal(SIGPIPE, SIG_IGN)
    let needsPostgres = selected.contains(.start) || selected.contains(.overload)
    let cluster =
      needsPostgres && postgres == nil && EphemeralPostgres.isAvailable
      ? try EphemeralPostgres.start() : nil
    let plan = try await StressPlan(
      rounds: rounds, seconds: seconds, customers: customers,
      postgres: needsPostgres ? postgres ?? cluster?.connectionString() : nil,
      progress: Progress(indentation: "         "))
    var parts: [Report.Part] = []
    for part in selected {
      let measured = Report.Part(title(part), try await figures(part, plan))
      measured.print()
      // The next part takes long, so the tables so far are printed.
      fflush(nil)
      parts.append(measured)
    }
    withExtendedLifetime(cluster) {}
    return parts
  }

  private func figures(_ part: Part, _ plan: StressPlan) async throws -> [Figure] {
    switch part {
    case .memory: try await CustomerMemory(plan: plan).measure()
    case .start: try await StartTime(plan: plan).measure()
    case .overload: try await Overload(plan: plan).measure()
    case .idle: try await IdleConnectionCost(plan: plan).measure()
    case .short: try await ShortConnections(plan: plan).measure()
    case .hostile:
      try await HostileClients(plan: plan, manners: manner.isEmpty ? HostileClients.tenth : manner)
        .measure()
    case .storm:
      try await HostileClients(plan: plan, manners: HostileClient.Manner.storms).measure()
    case .guessing: try await unknown(.guessing, plan)
    case .strangers: try await unknown(.stranger, plan)
    case .largeCustomers: try await LargeCustomers(plan: plan).measure()
    }
  }

  /// Clients that the server's access control does not know.
  private func unknown(
    _ manner: HostileClient.Manner, _ plan: StressPlan
  ) async throws -> [Figure] {
    try await HostileClients(
      plan: plan, manners: [HostileClient.Manner](repeating: manner, count: 10),
      hasAccessControl: true, target: 1.5
    ).measure()
  }

  private func title(_ part: Part) -> String {
    switch part {
    case .memory: "P7: memory of customers that are held"
    case .start: "P9: start"
    case .overload: "Overload: twice the rate that is served"
    case .idle: "Idle connections"
    case .short: "Short connections, with a call on each"
    case .hostile: "Hostile clients"
    case .storm: "Storms of connections"
    case .guessing: "Clients that try tokens"
    case .strangers: "Clients without a credential"
    case .largeCustomers: "Submissions beside large customers"
    }
  }
}
