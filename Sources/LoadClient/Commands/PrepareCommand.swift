import ArgumentParser
import Glibc
import Programs
import StoreSimulator

struct PrepareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prepare",
    abstract: "Fill a server or a PostgreSQL database with simulated customers.",
    discussion: """
      Into a server: signed by an authority that it trusts (--trust-root), and handed in as an app \
      does. Into a database: by COPY, with psql and without signatures; no server may be running \
      on it. Either may be interrupted and repeated: what is there is left \
      alone.
      """)

  @OptionGroup var population: PopulationOptions

  @Option(help: "Server: HOST:PORT or unix:PATH.")
  var server: ServerArgument?

  @Option(
    help: ArgumentHelp(
      "The signing authority, as `storesim authority` makes it.", valueName: "directory"))
  var authority: String?

  @Option(help: "Customers under way at a time, from 1 to 1024.")
  var inFlight = 64

  @Option(help: "In place of a server: a PostgreSQL database, postgresql://USER@HOST/NAME.")
  var postgres: String?

  @Option(help: "Processes that load the database at a time, from 1 to 64.")
  var workers = 2

  func validate() throws {
    guard (server == nil) != (postgres == nil) else {
      throw ValidationError("either --server or --postgres says where the customers go")
    }
    guard server == nil || authority != nil else {
      throw ValidationError("--server needs an --authority that the server trusts")
    }
    guard (1...1_024).contains(inFlight) else {
      throw ValidationError("--in-flight takes 1 to 1024")
    }
    guard (1...64).contains(workers) else { throw ValidationError("--workers takes 1 to 64") }
    if let postgres, !postgres.hasPrefix("postgresql://"), !postgres.hasPrefix("postgres://") {
      throw ValidationError("--postgres takes postgresql://…")
    }
  }

  func run() async throws {
    let customers = try population.make()
    let progress = Progress(interval: .seconds(1))
    try await CommandFailure.wrapping {
      let filling = Task {
        if let postgres {
          try await DatabaseFiller(
            uri: postgres, customers: customers, workers: workers, progress: progress
          ).run()
        } else if let server, let authority {
          try await ServerFiller(
            address: server.address, customers: customers,
            authority: try SigningAuthority.load(fromDirectory: authority), inFlight: inFlight,
            progress: progress
          ).run()
        }
      }
      let interruption = Interruption(by: [SIGINT, SIGTERM]) { filling.cancel() }
      defer { interruption.end() }
      do {
        try await filling.value
      } catch  where filling.isCancelled {
        throw CommandFailure(.interrupted, "interrupted: run it again to go on")
      }
    }
  }
}
