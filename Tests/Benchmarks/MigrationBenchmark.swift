import ArgumentParser
import EntitlementDomain
import Foundation
import PostgresBulkLoader
import StoreSimulator
import TestSupport

/// Accounts that are imported by the programs, from a simulated App Store, into a database of SQLite.
struct MigrationBenchmark: AsyncParsableCommand, ReportingBenchmark {
  static let configuration = CommandConfiguration(
    commandName: "migration", abstract: "An import of accounts, and the memory of the server.")

  @Option(help: "Rows of the file.")
  var rows = 10_000

  @Option(help: "Requests a second that the App Store takes of each endpoint.")
  var rate = 2_000

  @OptionGroup var output: ReportOptions

  func validate() throws {
    // The simulated App Store has 50,000 customers, of whom a third has a second transaction.
    guard (10...60_000).contains(rows) else { throw ValidationError("--rows takes 10 to 60000") }
    guard (1...100_000).contains(rate) else { throw ValidationError("--rate takes 1 to 100000") }
  }

  func run() async throws { try await output.write(self) }

  /// In Production the App Store takes 50 a second of these endpoints.
  private static let rateOfApple = 50.0

  func measure() async throws -> [Report.Part] {
    let folder = try TemporaryFolder()
    let store = try SimulatedStore(
      in: folder, population: rows * 4 / 5 + 50, factor: Double(rate) / Self.rateOfApple)
    let file = try folder.write(try store.table(rows: rows), to: "accounts.csv")
    let server = try await EntitledProcess(
      store: "sqlite:\(folder.file("store.sqlite"))", listener: .tcp,
      arguments: [
        "--config", try folder.write(store.settings, to: "entitled.yaml"), "--cache-megabytes",
        "16",
      ])
    let atStart = server.residentMemory
    let start = ContinuousClock.now
    let command = try Subprocess(
      [
        EntitledProcess.path(of: "entitlectl"), "import", "accounts", file, "--app",
        SimulatedApp.bundleID.rawValue, "--server", "\(server.address)", "--timeout", "60",
        "--output", "jsonl",
      ])
    var summary = ""
    while let line = command.readLine() { summary = line }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let peak = server.peakMemory
    try command.end()
    guard summary.contains("\"done\":\"\(rows)\"") else {
      throw Failure(description: "not all rows were done: \(summary)")
    }
    var rate = Figure("\(rows) rows, at \(rate) requests a second", unit: "rows/s")
    rate.add(Double(rows) / seconds)
    var figures = [rate]
    for (name, bytes) in [
      ("memory of the server at the start", atStart), ("at most", peak),
    ] {
      var figure = Figure(name, unit: "MB")
      figure.add(Double(bytes) / 1e6)
      figures.append(figure)
    }
    try server.stop()
    let part = Report.Part("Accounts imported from a simulated App Store, SQLite", figures)
    part.print()
    return [part]
  }

  fileprivate struct Failure: Error, CustomStringConvertible {
    let description: String
  }
}

/// A running `storesim serve` in Production, whose customers bought in the past.
private final class SimulatedStore {
  let settings: String
  private let port: UInt16
  private let program: Subprocess

  init(in folder: TemporaryFolder, population: Int, factor: Double) throws {
    let log = folder.file("storesim.log")
    program = try Subprocess(
      [
        EntitledProcess.path(of: "storesim"), "serve", "--listen", "127.0.0.1:0", "--directory",
        folder.file("sim"), "--environment", "production", "--clock", "real", "--population",
        "\(population)", "--past", "sent", "--rate-factor", "\(factor)",
      ], errors: .file(log))
    var lines: [String] = []
    while let line = program.readLine() {
      lines.append(line)
      if line.hasPrefix("# Other clients") { break }
    }
    settings = lines.joined(separator: "\n") + "\n"
    let prefix = "app_store_api: production="
    let address = lines.first { $0.hasPrefix(prefix) }
      .flatMap { URL(string: String($0.dropFirst(prefix.count).prefix { $0 != "," })) }
    guard let port = address?.port.flatMap({ UInt16(exactly: $0) }) else {
      let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      throw MigrationBenchmark.Failure(
        description: "storesim did not start: \(text.suffix(2_000))")
    }
    self.port = port
  }

  deinit {
    program.signal(SIGKILL)
  }

  private struct Page: Decodable {
    struct Customer: Decodable { let customer: String }
    let customers: [Customer]
  }

  private struct Details: Decodable {
    struct Transaction: Decodable { let transactionId: String }
    let transactions: [Transaction]
  }

  /// CSV with the transactions of the first customers.
  func table(rows: Int) throws -> String {
    var text = "account_id,transaction_id\n"
    var count = 0
    var after = ""
    while count < rows {
      let position = after.isEmpty ? "" : "&after=\(after)"
      let page: Page = try read("customers?limit=200\(position)")
      guard let last = page.customers.last else { break }
      after = last.customer
      for customer in page.customers where count < rows {
        let details: Details = try read("customers/\(customer.customer)")
        for transaction in Set(details.transactions.map(\.transactionId)) where count < rows {
          text += "\(customer.customer),\(transaction)\n"
          count += 1
        }
      }
    }
    guard count == rows else {
      throw MigrationBenchmark.Failure(description: "the population has only \(count) transactions")
    }
    return text
  }

  private func read<Value: Decodable>(_ path: String) throws -> Value {
    let socket = try HTTPSocket(port: port)
    try socket.request("GET", "/control/\(path)")
    return try JSONDecoder().decode(Value.self, from: Data(try socket.response().body))
  }
}
