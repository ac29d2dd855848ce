import ArgumentParser
import ClientOptions
import Glibc
import PostgresStore
import Programs
import RPCClient
import StoreSimulator

struct PrepareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prepare",
    abstract: "Fill a server or a PostgreSQL database with simulated customers.",
    discussion: """
      A server gets signed payloads, submitted as by an app. It must trust the signing authority \
      (--trust-root). A database is filled by COPY, with psql and random signatures; no server may \
      use it meanwhile. Both can be interrupted and repeated: loaded customers are skipped.
      """)

  @OptionGroup var population: PopulationOptions

  @Option(help: "Server: HOST:PORT, tls:HOST:PORT or unix:PATH.")
  var server: ServerArgument?

  @OptionGroup var tls: TLSOptions
  @OptionGroup var token: TokenOptions

  @Option(
    help: ArgumentHelp(
      "The signing authority, as `storesim authority` makes it.", valueName: "directory"))
  var authority: String?

  @Option(help: "Customers in flight, from 1 to 1024.")
  var inFlight = 64

  @Option(
    help: """
      Instead of a server: a PostgreSQL database, postgresql://USER@HOST/NAME. A password is refused \
      here: use PGPASSFILE, passfile= in the URI, or PGPASSWORD.
      """)
  var postgres: String?

  @Option(help: "Concurrent processes that load the database, from 1 to 64.")
  var workers = 2

  func validate() throws {
    guard (server == nil) != (postgres == nil) else {
      throw ValidationError("either --server or --postgres is required")
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
    if let refusal = postgres.flatMap({ ConnectionArgument.refusal(of: $0, as: "--postgres") }) {
      throw ValidationError(refusal)
    }
  }

  func run() async throws {
    let customers = try population.make()
    let progress = Progress(interval: .seconds(1))
    let target = try server.map { server in
      let address = try tls.address(server.address)
      return RPCTarget(address, tls: tls.settings, token: try token.token(for: address))
    }
    try await CommandFailure.wrapping {
      let filling = Task {
        if let postgres {
          try await DatabaseFiller(
            uri: postgres, customers: customers, workers: workers, progress: progress
          ).run()
        } else if let target, let authority {
          try await ServerFiller(
            target: target, customers: customers,
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
        throw CommandFailure(.interrupted, "interrupted: run the command again to continue")
      }
    }
  }
}
