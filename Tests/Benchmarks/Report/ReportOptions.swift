import ArgumentParser

/// A benchmark whose tables can also be written as JSON.
protocol ReportingBenchmark {
  /// Measures, and prints the tables.
  func measure() async throws -> [Report.Part]
}

/// The file of the report, in addition to stdout.
struct ReportOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Also write the results to this file, as JSON.", valueName: "file"))
  var json: String?

  /// Measures, prints the tables and writes the file.
  func write(_ benchmark: some ReportingBenchmark) async throws {
    // A file that cannot be written is reported before the measurement, not after it.
    if let json { try Report().write(json: json) }
    let report = Report(parts: try await benchmark.measure())
    if let json { try report.write(json: json) }
  }
}
