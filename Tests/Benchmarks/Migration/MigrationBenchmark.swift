import ArgumentParser
import Foundation
import PostgresBulkLoader
import StoreSimulator
import TestSupport

/// Accounts that are imported by the programs, from a simulated App Store, into a new database.
struct MigrationBenchmark: AsyncParsableCommand, ReportingBenchmark {
  static let configuration = CommandConfiguration(
    commandName: "migration", abstract: "An import of accounts, and the memory of the server.")

  @Option(help: "Rows of the file, each another customer.")
  var rows = 10_000

  @Option(help: "Requests a second that the App Store takes of each endpoint.")
  var rate = 2_000

  @Option(help: "The database of the server: sqlite, or postgres for a new cluster.")
  var store = MigrationStore.sqlite

  @Option(
    help: """
      Import the same file once more, into a second database, with a server that is killed so often; \
      and compare the two.
      """)
  var kills = 0

  @OptionGroup var output: ReportOptions

  func validate() throws {
    guard (10...SimulatedAccounts.maximumRows).contains(rows) else {
      throw ValidationError("--rows takes 10 to \(SimulatedAccounts.maximumRows)")
    }
    guard (1...100_000).contains(rate) else { throw ValidationError("--rate takes 1 to 100000") }
    guard (0...100).contains(kills) else { throw ValidationError("--kills takes 0 to 100") }
    guard store == .sqlite || EphemeralPostgres.isAvailable else {
      throw ValidationError("no PostgreSQL server is installed")
    }
  }

  func run() async throws { try await output.write(self) }

  func measure() async throws -> [Report.Part] {
    let folder = try TemporaryFolder()
    let cluster = store == .postgres ? try EphemeralPostgres.start() : nil
    let accounts = try SimulatedAccounts(in: folder, rows: rows, rate: Double(rate))
    let run = MigrationRun(accounts: accounts, folder: folder, cluster: cluster)
    let whole = try await run.measure()
    var parts = [Report.Part(title(""), whole.figures(rows: rows, rate: rate))]
    parts[0].print()
    if kills > 0 {
      // The next part takes as long, so the table so far is printed.
      fflush(nil)
      let killed = try await run.measure(kills: kills)
      parts.append(
        Report.Part(
          title(", with a server that is killed \(kills) times"),
          killed.figures(rows: rows, rate: rate)))
      parts[1].print()
      fflush(nil)
      try await run.compare(whole.store, killed.store)
      print("All \(rows) accounts have the same states and the same links in both databases.")
    }
    withExtendedLifetime(cluster) {}
    return parts
  }

  private func title(_ suffix: String) -> String {
    "Accounts imported from a simulated App Store, \(store.title)\(suffix)"
  }
}

enum MigrationStore: String, CaseIterable, ExpressibleByArgument {
  case sqlite
  case postgres

  fileprivate var title: String {
    switch self {
    case .sqlite: "SQLite"
    case .postgres: "PostgreSQL"
    }
  }
}

struct MigrationFailure: Error, CustomStringConvertible {
  let description: String
}

/// What was measured of one import.
struct MeasuredImport {
  /// The value of `--store`.
  let store: String
  var seconds = 0.0
  /// Of the last server, in bytes.
  var memoryAtStart = 0
  /// Of the server that needed most, in bytes.
  var memoryAtMost = 0
  /// Of all servers, in microseconds: user and system time. That of a killed one is read just before.
  var processorTime = 0.0

  fileprivate func figures(rows: Int, rate: Int) -> [Figure] {
    [
      Figure.one("\(rows) rows, at \(rate) requests a second", "rows/s", Double(rows) / seconds),
      .one("processor time of the server for each row", "µs", processorTime / Double(rows)),
      .one("memory of the server at the start", "MB", Double(memoryAtStart) / 1e6),
      .one("at most", "MB", Double(memoryAtMost) / 1e6),
    ]
  }
}

extension Figure {
  fileprivate static func one(_ name: String, _ unit: String, _ value: Double) -> Figure {
    var figure = Figure(name, unit: unit)
    figure.add(value)
    return figure
  }
}
