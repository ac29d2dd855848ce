import EntitlementDomain
import Foundation
import RPCClient
import StoreSimulator
import Synchronization
import TestSupport
import Testing
import Wire

/// R89, R90: what a team's table names is there in the end.
@Suite("Imports of accounts by programs", .timeLimit(.minutes(20)))
struct ImportPropertyTests {
  @Test("Killed ten times while it imports, a server knows what one knows that heard all: SQLite")
  func sqlite() async throws {
    let bench = try Bench()
    try await ImportRun.of(
      "ImportPropertyTests.sqlite", bench, population: 400,
      store: ["--store", "sqlite:\(bench.databasePath)", "--create"])
  }

  @Test(
    "The same on PostgreSQL",
    .enabled(if: EphemeralPostgres.isAvailable, "no PostgreSQL server on this machine"))
  func postgres() async throws {
    let connection = try await Bench.migratedDatabase(of: try EphemeralPostgres.shared)
    try await ImportRun.of(
      "ImportPropertyTests.postgres", try Bench(), population: 400, store: ["--store", connection])
  }
}

/// A population of which a server heard nothing, and a table of its accounts.
private final class ImportRun: Sendable {
  private static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .sandbox)
  private static let kills = 10

  private struct Customer {
    let account: AccountID
    let chains: Set<String>
    /// In the order in which they were bought.
    let transactions: [String]
  }

  private let bench: Bench
  private let relay: NotificationRelay
  private let simulator: RunningSimulator
  private let arguments: [String]
  private let store: [String]
  private let random: Mutex<SeededRandom>

  static func of(_ name: String, _ bench: Bench, population: Int, store: [String]) async throws {
    let random = SeededRandom(for: name)
    let relay = try await NotificationRelay.start(random)
    let simulator = try await RunningSimulator(
      bench.folder.file("sim"), "--notify", relay.url, "--population", "\(population)", "--seed",
      "\(random.seed)", "--rate-factor", "1000")
    let config = try bench.folder.write(try await simulator.settings(), to: "entitled.yaml")
    let run = ImportRun(
      bench, relay, simulator, random,
      arguments: [
        "--config", config, "--catalog", bench.catalogPath, "--listen", "127.0.0.1:0",
        "--log-format", "json", "--verification-workers", "2", "--cache-megabytes", "16",
      ], store: store)
    do {
      try await run.play()
    } catch {
      await relay.stop()
      throw error
    }
    await relay.stop()
  }

  private init(
    _ bench: Bench, _ relay: NotificationRelay, _ simulator: RunningSimulator,
    _ random: SeededRandom, arguments: [String], store: [String]
  ) {
    self.bench = bench
    self.relay = relay
    self.simulator = simulator
    self.arguments = arguments
    self.store = store
    self.random = Mutex(random)
  }

  private func random(below count: Int) -> Int {
    random.withLock { Int.random(in: 0..<count, using: &$0) }
  }

  private func play() async throws {
    // Posts the notifications of the past, which the relay keeps.
    _ = try await simulator.json("clock", "advance", "1s")
    let customers = try self.customers()
    let table = Table(customers) { random(below: $0) }
    let file = try bench.folder.write(table.text, to: "accounts.csv")
    let summary = try await importKilled(file, rows: table.sent)
    #expect(summary["rows"]?.text == "\(table.rows)")
    #expect(summary["rejected"]?.text == "\(table.nonsense)")
    #expect(summary["done"]?.text == "\(customers.count)", "\(summary)")
    #expect(summary["duplicates"]?.text == "\(table.duplicates)")
    #expect(summary["failed"]?.text == "\(table.conflicts)")
    #expect(summary["failures"]?["CONFLICT"]?.text ?? "0" == "\(table.conflicts)")
    #expect(summary["waiting"]?.text == "0")
    try await compare(customers)
    #expect(try await simulator.stop() == .code(0))
  }

  // MARK: The table

  /// A CSV of accounts, with rows that are not to be done.
  private struct Table {
    var text = "name,account_id,transaction_id,environment\r\n"
    /// All but the header.
    var rows = 0
    var nonsense = 0
    var duplicates = 0
    var conflicts = 0

    /// Rows that the server gets.
    var sent: Int { rows - nonsense }

    init(_ customers: [Customer], random: (Int) -> Int) {
      for customer in customers {
        let transaction = customer.transactions[random(customer.transactions.count)]
        let account = customer.account.rawValue
        func add(_ row: String) {
          text += row + (random(2) == 0 ? "\n" : "\r\n")
          rows += 1
        }
        add("\"A \"\"customer\"\", of\nothers\",\(account),\(transaction),sandbox")
        switch random(20) {
        case 0:
          add(",\"\(account)\",\(transaction),Sandbox")
          duplicates += 1
        case 1:
          add("x,another-\(account),\(transaction),sandbox")
          conflicts += 1
        case 2:
          add("nonsense")
          nonsense += 1
        case 3:
          add("x,\(account),\(transaction),moon")
          nonsense += 1
        default: break
        }
      }
    }
  }

  private func customers() throws -> [Customer] {
    var customers: [Customer] = []
    var after = ""
    while true {
      let position = after.isEmpty ? "" : "&after=\(after)"
      let page = try control("customers?limit=200\(position)")["customers"]?.elements ?? []
      for entry in page {
        let name = entry["customer"]?.text ?? ""
        after = name
        let transactions = try control("customers/\(name)")["transactions"]?.elements ?? []
        if transactions.isEmpty { continue }
        customers.append(
          Customer(
            account: AccountID("account-\(name)"),
            chains: Set(transactions.compactMap { $0["originalTransactionId"]?.text }),
            transactions: transactions.compactMap { $0["transactionId"]?.text }))
      }
      if page.isEmpty { return customers }
    }
  }

  private func control(_ path: String) throws -> JSONTree {
    guard let port = URL(string: simulator.url)?.port.flatMap(UInt16.init(exactly:)) else {
      throw HarnessFailure("no port in \(simulator.url)")
    }
    let socket = try HTTPSocket(port: port)
    try socket.request("GET", "/control/\(path)", [], [])
    let response = try socket.response()
    guard response.status == 200 else { throw HarnessFailure("\(path): \(response.text)") }
    return try JSONTree(parsing: response.body)
  }

  // MARK: The import

  private func command(_ file: String, on server: RunningServer) throws -> ChildProcess {
    try ChildProcess(
      .entitlectl,
      [
        "import", "accounts", file, "--app", SimulatedApp.bundleID.rawValue, "--id", "move",
        "--output", "jsonl", "--server", "\(server.address)",
      ])
  }

  /// Imports a file, and kills the server again and again. Each time, the same command goes on.
  ///
  /// - Returns: what the last command said.
  private func importKilled(_ file: String, rows: Int) async throws -> JSONTree {
    // Kills while rows were left to do.
    var interruptions = 0
    for number in 1...Self.kills {
      let server = try await RunningServer.start(arguments + store)
      let command = try command(file, on: server)
      let client = try await server.client()
      let enough = Int64(rows * number / (Self.kills + 2))
      try await eventually("\(enough) rows are not done", within: .seconds(240)) {
        do throws(RPCClientError) {
          let found = try await client.getImport(
            GetImportRequest(importID: "move", bundleID: SimulatedApp.bundleID)
          ).accountImport
          return found.counts.reduce(0) { $0 + ($1.state == .waiting ? 0 : $1.count) } >= enough
        } catch {
          if case .status(.notFound) = error.code { return false }
          throw error
        }
      }
      let found = try await client.getImport(
        GetImportRequest(importID: "move", bundleID: SimulatedApp.bundleID)
      ).accountImport
      if found.counts.contains(where: { $0.state == .waiting }) { interruptions += 1 }
      server.signal(SIGKILL)
      #expect(try await server.exit() == .signal(SIGKILL))
      await client.close()
      #expect(try await command.exit() != .code(0))
    }
    #expect(interruptions >= Self.kills / 2, "the import was done too soon")
    let server = try await RunningServer.start(arguments + store)
    let client = try await server.client()
    // The rows of the last server wait for the end of their leases.
    try await eventually("rows wait", within: .seconds(240)) {
      let found = try await client.getImport(
        GetImportRequest(importID: "move", bundleID: SimulatedApp.bundleID)
      ).accountImport
      return !found.counts.contains { $0.state == .waiting }
    }
    await client.close()
    let command = try command(file, on: server)
    // Rows of the table are not accepted.
    #expect(try await command.exit() == .code(2), "\(command.journal.contents.errorText)")
    let summary = try JSONTree(parsing: Array(command.journal.contents.outputText.utf8))
    // A further one finds nothing to do.
    let again = try self.command(file, on: server)
    #expect(try await again.exit() == .code(2))
    let second = try JSONTree(parsing: Array(again.journal.contents.outputText.utf8))
    #expect(second["known"]?.text == "\(rows)" && second["done"] == summary["done"])
    #expect(try await server.stop() == .code(0))
    return summary
  }

  // MARK: The comparison

  /// Compares the server with one that heard everything, and was told the accounts.
  private func compare(_ customers: [Customer]) async throws {
    let reference = try await RunningServer.start(
      arguments + ["--store", "sqlite:\(bench.folder.file("reference.sqlite"))", "--create"])
    let all = try await reference.client()
    for payload in relay.everything {
      let response = try await all.submitNotification(
        SubmitNotificationRequest(signedPayload: payload))
      #expect(response.verdict == .ok)
    }
    for customer in customers {
      for chain in customer.chains {
        _ = try await all.linkAccount(
          LinkAccountRequest(
            scope: Self.scope, target: .chain(OriginalTransactionID(chain)),
            accountID: customer.account, reason: "the table"))
      }
    }
    let server = try await RunningServer.start(arguments + store)
    let client = try await server.client()
    for customer in customers {
      let expected = try await state(of: customer.account, by: all)
      let found = try await state(of: customer.account, by: client)
      #expect(found == expected, "\(customer.account)")
      let links = try await client.links(
        ListLinksRequest(scope: Self.scope, accountID: customer.account))
      #expect(
        Set(
          links.links.compactMap { link -> String? in
            if case .chain(let chain) = link.target { chain.rawValue } else { nil }
          }) == customer.chains, "\(customer.account)")
    }
    await all.close()
    await client.close()
    #expect(try await server.stop() == .code(0))
    #expect(try await reference.stop() == .code(0))
  }

  private func state(
    of account: AccountID, by client: EntitlementClient
  ) async throws -> CustomerState {
    let answer = try await client.customerState(
      GetCustomerStateRequest(customer: .account(account), scope: Self.scope))
    guard case .state(var state) = answer else { throw HarnessFailure("no state") }
    state.evaluatedAt = 0
    state.revision = 0
    return state
  }
}
