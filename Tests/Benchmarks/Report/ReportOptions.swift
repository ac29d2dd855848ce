import ArgumentParser

/// A benchmark whose tables may be written for programs too.
protocol ReportingBenchmark {
  /// Measures, and prints the tables.
  func measure() async throws -> [Report.Part]
}

/// Where the report goes beside stdout.
struct ReportOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Write the figures to this file too, as JSON.", valueName: "file"))
  var json: String?

  /// Measures, prints the tables and writes the file.
  func write(_ benchmark: some ReportingBenchmark) async throws {
    // A file that cannot be written is told of before the measurement rather than after it.
    if let json { try Report().write(json: json) }
    let report = Report(parts: try await benchmark.measure())
    if let json { try report.write(json: json) }
  }
}
