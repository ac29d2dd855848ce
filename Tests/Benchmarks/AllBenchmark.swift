import ArgumentParser
import Glibc

/// Runs all comparing benchmarks in turn.
struct AllBenchmark: AsyncParsableCommand, ReportingBenchmark {
  static let configuration = CommandConfiguration(
    commandName: "all", abstract: "Reads from memory, stress, verification and the store, in turn.")

  @Option(help: "How many rounds to measure.")
  var rounds: Int?

  @Option(help: "How long a measurement in a round lasts, in seconds.")
  var seconds: Int?

  @Option(help: "Customers in the database.")
  var customers: Int?

  @Option(help: "URI of a PostgreSQL database; its role must be able to create others.")
  var postgres: String

  @OptionGroup var output: ReportOptions

  func validate() throws {
    // Parses the options of all benchmarks before the first one runs.
    _ = try benchmarks
  }

  func run() async throws { try await output.write(self) }

  func measure() async throws -> [Report.Part] {
    var parts: [Report.Part] = []
    for benchmark in try benchmarks {
      parts += try await benchmark.measure()
      // The next benchmark takes long, so the tables so far are printed.
      fflush(nil)
    }
    return parts
  }

  private var benchmarks: [any ReportingBenchmark] {
    get throws {
      let length = Self.option("--rounds", rounds) + Self.option("--seconds", seconds)
      return [
        try ReadBenchmark.parse(length),
        try StressBenchmark.parse(length + ["--postgres", postgres]),
        try VerifyBenchmark.parse(length),
        try StoreBenchmark.parse(
          length + ["--postgres", postgres] + Self.option("--customers", customers)),
      ]
    }
  }

  /// Empty without a value: the benchmarks have different defaults.
  private static func option(_ name: String, _ value: (some CustomStringConvertible)?) -> [String] {
    value.map { [name, $0.description] } ?? []
  }
}
