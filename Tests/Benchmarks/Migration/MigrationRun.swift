import EntitlementDomain
import Foundation
import Framing
import PostgresBulkLoader
import RPCClient
import StoreSimulator
import TestSupport
import Wire

/// Imports of one file into new databases.
struct MigrationRun {
  let accounts: SimulatedAccounts
  let folder: TemporaryFolder
  /// Nil: the databases are of SQLite.
  let cluster: EphemeralPostgres?

  private static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .sandbox)
  private static let name = "move"
  /// Between two looks at how far an import is. Each counts all its rows.
  private static let interval = Duration.milliseconds(200)

  /// - Parameter kills: so often the server is killed, after equal parts of the rows. A new one continues,
  ///   and the same command is given again.
  func measure(kills: Int = 0) async throws -> MeasuredImport {
    var result = MeasuredImport(store: try database("\(kills)"))
    let rows = accounts.accounts.count
    let start = ContinuousClock.now
    for number in 0..<kills {
      let server = try await self.server(result.store)
      let command = try command(on: server.address, errors: .hidden)
      let client = EntitlementClient(server.address)
      try await wait(for: rows * (number + 1) / (kills + 1), client)
      result.take(server)
      server.kill()
      await client.close()
      _ = command.readOutput()
      guard (try? command.end()) == nil else {
        throw MigrationFailure(description: "the import was done before the server was killed")
      }
    }
    let server = try await self.server(result.store)
    result.memoryAtStart = server.residentMemory
    let command = try command(on: server.address, errors: .shown)
    var summary = ""
    while let line = command.readLine() { summary = line }
    result.seconds = (ContinuousClock.now - start) / .seconds(1)
    result.take(server)
    try command.end()
    guard summary.contains("\"done\":\"\(rows)\""), summary.contains("\"duplicates\":\"0\"") else {
      throw MigrationFailure(description: "not all rows were done: \(summary)")
    }
    try server.stop()
    return result
  }

  // MARK: The comparison

  /// Compares what servers with two databases say of all accounts.
  func compare(_ first: String, _ second: String) async throws {
    let servers = [try await server(first), try await server(second)]
    let clients = servers.map { EntitlementClient($0.address) }
    let names = accounts.accounts.map { AccountID($0) }
    let size = BatchGetCustomerStateRequest.maximumCustomers
    for start in stride(from: 0, to: names.count, by: size) {
      let batch = Array(names[start..<min(start + size, names.count)])
      let states = (
        try await Self.states(of: batch, clients[0]), try await Self.states(of: batch, clients[1])
      )
      guard states.0 == states.1 else {
        let index = zip(states.0, states.1).enumerated().first { $1.0 != $1.1 }?.offset ?? 0
        throw MigrationFailure(description: "the states of \(batch[index]) differ")
      }
      for account in batch {
        let links = (
          try await Self.links(of: account, clients[0]),
          try await Self.links(of: account, clients[1])
        )
        guard links.0 == links.1, !links.0.isEmpty else {
          throw MigrationFailure(description: "the links of \(account) differ")
        }
      }
    }
    for client in clients { await client.close() }
    for server in servers { try server.stop() }
  }

  private static func states(
    of accounts: [AccountID], _ client: EntitlementClient
  ) async throws -> [CustomerState] {
    let answer = try await client.customerStates(
      BatchGetCustomerStateRequest(
        customers: accounts.map { .account($0) }, scope: scope, consistency: .fullyConsistent))
    return try answer.results.map { result in
      guard case .state(var state) = result, state.revision > 0 else {
        throw MigrationFailure(description: "an account is not known")
      }
      state.revision = 0
      state.evaluatedAt = 0
      return state
    }
  }

  private static func links(
    of account: AccountID, _ client: EntitlementClient
  ) async throws -> Set<LinkTarget> {
    let answer = try await client.links(ListLinksRequest(scope: scope, accountID: account))
    return Set(answer.links.map(\.target))
  }

  // MARK: Processes

  /// The value of `--store` for a new database.
  private func database(_ name: String) throws -> String {
    guard let cluster else { return "sqlite:\(folder.file("store-\(name).sqlite"))" }
    let connection = try cluster.makeDatabase()
    let migration = try Subprocess(
      [
        EntitledProcess.path(of: "entitlectl"), "database", "migrate", "--database", connection,
      ], errors: .hidden)
    _ = migration.readOutput()
    try migration.end()
    return connection
  }

  private func server(_ store: String) async throws -> EntitledProcess {
    try await EntitledProcess(
      store: store, listener: .tcp,
      arguments: ["--config", accounts.settings, "--cache-megabytes", "16"])
  }

  private func command(
    on address: ServerAddress, errors: Subprocess.Errors
  ) throws -> Subprocess {
    try Subprocess(
      [
        EntitledProcess.path(of: "entitlectl"), "import", "accounts", accounts.file, "--app",
        SimulatedApp.bundleID.rawValue, "--environment", "sandbox", "--id", Self.name, "--server",
        "\(address)", "--timeout", "60", "--output", "jsonl",
      ], errors: errors)
  }

  /// Waits until so many rows are done.
  private func wait(for rows: Int, _ client: EntitlementClient) async throws {
    while true {
      do throws(RPCClientError) {
        let found = try await client.getImport(
          GetImportRequest(importID: Self.name, bundleID: SimulatedApp.bundleID))
        let done = found.accountImport.counts.reduce(0) { $0 + ($1.state == .done ? $1.count : 0) }
        if done >= rows { return }
      } catch {
        // No row is stored yet.
        guard case .status(.notFound) = error.code else { throw error }
      }
      try await Task.sleep(for: Self.interval)
    }
  }
}

extension MeasuredImport {
  fileprivate mutating func take(_ server: EntitledProcess) {
    memoryAtMost = max(memoryAtMost, server.peakMemory)
    processorTime += server.processorTime
  }
}
