import ArgumentParser
import Glibc

/// Everything that is measured beside something else, in turn.
struct AllBenchmark: AsyncParsableCommand, ReportingBenchmark {
  static let configuration = CommandConfiguration(
    commandName: "all", abstract: "Reads from memory, stress, verification and the store, in turn.")

  @Option(help: "How often each is measured.")
  var rounds: Int?

  @Option(help: "How long each is measured in a round, in seconds.")
  var seconds: Int?

  @Option(help: "Customers in the database.")
  var customers: Int?

  @Option(help: "URI of a PostgreSQL database; its role may create others beside it.")
  var postgres: String

  @OptionGroup var output: ReportOptions

  func validate() throws {
    // Before anything is measured, what each of them takes.
    _ = try benchmarks
  }

  func run() async throws { try await output.write(self) }

  func measure() async throws -> [Report.Part] {
    var parts: [Report.Part] = []
    for benchmark in try benchmarks {
      parts += try await benchmark.measure()
      // The next one takes long: what is known is shown.
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

  /// Nothing when it is not given: each has defaults of its own.
  private static func option(_ name: String, _ value: (some CustomStringConvertible)?) -> [String] {
    value.map { [name, $0.description] } ?? []
  }
}
