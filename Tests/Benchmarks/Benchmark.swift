import ArgumentParser

/// Measures parts of the service against their targets. It reports and never fails as a test.
@main
struct Benchmark: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "benchmark", abstract: "Measures parts of the service.",
    subcommands: [
      ReadBenchmark.self, EvaluateBenchmark.self, VerifyBenchmark.self, StoreBenchmark.self,
      StressBenchmark.self, HTTPBenchmark.self, RecoveryBenchmark.self,
      MigrationBenchmark.self, AllBenchmark.self,
      EchoBenchmark.self, HTTPEchoCommand.self, HostileClientsCommand.self,
    ])
}
