import ArgumentParser
import Glibc
import LoadClient
import PostgresStore

/// The PostgreSQL store compared with `pgbench` (P5, P6), and with itself with fewer customers
/// (P8, P9).
struct StoreBenchmark: AsyncParsableCommand, ReportingBenchmark {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Reads and submissions on PostgreSQL, compared with pgbench.")

  @Option(help: "Customers in the database.")
  var customers = 1_000_000

  @Option(help: "How often each is measured, in turn; the median is printed.")
  var rounds = 7

  @Option(help: "How long a measurement in a round lasts, in seconds.")
  var seconds = 5

  @Option(help: "URI of a PostgreSQL database; its role must be able to create others.")
  var postgres: String

  @Option(help: "Measure only this.")
  var only: Part?

  enum Part: String, CaseIterable, ExpressibleByArgument {
    case reads, submissions, sizes, start
  }

  @Flag(help: "Only fill the database.")
  var fillOnly = false

  @OptionGroup var output: ReportOptions

  /// The size of the smaller database (P8).
  private static let fewCustomers = 10_000
  /// Threads that fill the database; as many processes of PostgreSQL work for them.
  private static let workers = 2

  func validate() throws {
    guard (Self.fewCustomers...BulkCustomers.maximumCount).contains(customers) else {
      throw ValidationError(
        "--customers takes \(Self.fewCustomers) to \(BulkCustomers.maximumCount)")
    }
    guard (1...1_000).contains(rounds) else { throw ValidationError("--rounds takes 1 to 1000") }
    guard (1...60).contains(seconds) else { throw ValidationError("--seconds takes 1 to 60") }
    guard postgres.hasPrefix("postgresql://") || postgres.hasPrefix("postgres://") else {
      throw ValidationError("--postgres takes postgresql://…")
    }
    if let refusal = ConnectionArgument.refusal(of: postgres, as: "--postgres") {
      throw ValidationError(refusal)
    }
  }

  func run() async throws { try await output.write(self) }

  func measure() async throws -> [Report.Part] {
    // The exit code reports a psql that has ended.
    signal(SIGPIPE, SIG_IGN)
    let progress = Progress(indentation: "         ")
    let server = BenchmarkServer(uri: postgres, progress: progress)
    let many = try await server.database(customers: customers, workers: Self.workers)
    if fillOnly { return [] }
    let plan = StorePlan(rounds: rounds, seconds: seconds, progress: progress)
    // Before other data than the customers is added.
    let bytes = only == nil ? try many.sizes() : nil
    var tables: [StoreTable] = []
    if only ?? .reads == .reads { tables.append(try await plan.measureReads(of: many)) }
    var start: Report.Part?
    if only.map({ [.sizes, .start].contains($0) }) ?? true {
      let few = try await server.database(customers: Self.fewCustomers, workers: Self.workers)
      if only != .start { tables.append(try await plan.measureSizes(few: few, many: many)) }
      if only != .sizes { start = try await plan.measureStart(few: few, many: many) }
    }
    if only ?? .submissions == .submissions {
      tables.append(try await plan.measureSubmissions(to: many, on: server))
    }
    for table in tables { table.print() }
    start?.print()
    if let bytes { print(bytes) }
    return tables.map(\.part) + (start.map { [$0] } ?? [])
  }
}
