import Foundation
import PostgresBulkLoader
import TestSupport

/// A running `storesim serve` whose customers bought in the past, and a file that names them. Its time
/// stands still, so that all imports are told the same.
final class SimulatedAccounts {
  /// The simulator has 200,000 customers at most.
  static let maximumRows = 150_000

  /// The settings of a server that asks it.
  let settings: String
  /// CSV with a transaction of each customer.
  let file: String
  /// In the order of the file.
  private(set) var accounts: [String] = []
  private let port: UInt16
  private let program: Subprocess

  /// In the Sandbox the App Store takes 5 a second of these endpoints.
  private static let rateOfApple = 5.0

  /// - Parameter rate: requests a second that it takes of each endpoint.
  init(in folder: TemporaryFolder, rows: Int, rate: Double) throws {
    let log = folder.file("storesim.log")
    program = try Subprocess(
      [
        EntitledProcess.path(of: "storesim"), "serve", "--listen", "127.0.0.1:0", "--directory",
        folder.file("sim"), "--speed", "0", "--population", "\(rows * 5 / 4 + 50)", "--past",
        "sent", "--rate-factor", "\(rate / Self.rateOfApple)",
      ], errors: .file(log))
    var lines: [String] = []
    while let line = program.readLine() {
      lines.append(line)
      if line.hasPrefix("# Other clients") { break }
    }
    settings = try folder.write(lines.joined(separator: "\n") + "\n", to: "entitled.yaml")
    let prefix = "development_clock: "
    let address = lines.first { $0.hasPrefix(prefix) }
      .flatMap { URL(string: String($0.dropFirst(prefix.count))) }
    guard let port = address?.port.flatMap({ UInt16(exactly: $0) }) else {
      let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      throw MigrationFailure(description: "storesim did not start: \(text.suffix(2_000))")
    }
    self.port = port
    file = folder.file("accounts.csv")
    _ = try folder.write(try table(rows: rows), to: "accounts.csv")
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

  private func table(rows: Int) throws -> String {
    var text = "account_id,transaction_id\n"
    var after = ""
    let socket = try HTTPSocket(port: port)
    func read<Value: Decodable>(_ path: String) throws -> Value {
      try socket.request("GET", "/control/\(path)")
      return try JSONDecoder().decode(Value.self, from: Data(try socket.response().body))
    }
    while accounts.count < rows {
      let position = after.isEmpty ? "" : "&after=\(after)"
      let page: Page = try read("customers?limit=200\(position)")
      guard let last = page.customers.last else { break }
      after = last.customer
      for customer in page.customers where accounts.count < rows {
        let details: Details = try read("customers/\(customer.customer)")
        guard let transaction = details.transactions.first else { continue }
        text += "\(customer.customer),\(transaction.transactionId)\n"
        accounts.append(customer.customer)
      }
    }
    guard accounts.count == rows else {
      throw MigrationFailure(description: "only \(accounts.count) customers bought something")
    }
    return text
  }
}
