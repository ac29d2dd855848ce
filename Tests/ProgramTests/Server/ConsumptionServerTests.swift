import EntitlementDomain
import Foundation
import RPCClient
import StoreSimulator
import TestSupport
import Testing
import Wire

/// R88: a server that is killed before, during or after a call tells the App Store once, or not at all.
@Suite("Consumption and servers that are killed", .timeLimit(.minutes(10)))
struct ConsumptionServerTests {
  private static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .sandbox)
  private static let path = "/inApps/v2/transactions/consumption"

  @Test func `a killed server tells it once, or not at all`() async throws {
    let bench = try Bench()
    let relay = try await NotificationRelay.start(SeededRandom(for: "consumption"))
    do {
      try await run(bench, relay)
      await relay.stop()
    } catch {
      await relay.stop()
      throw error
    }
  }

  private func run(_ bench: Bench, _ relay: NotificationRelay) async throws {
    let simulator = try await RunningSimulator(
      bench.folder.file("sim"), "--notify", relay.url, "--rate-factor", "1000")
    let config = try bench.folder.write(try await simulator.settings(), to: "entitled.yaml")
    let catalog = try bench.folder.write(
      SimulatedApp.catalogYAML.replacing(
        "type: non_consumable", with: "type: non_consumable\n    consumption: {}"),
      to: "consumption.yaml")
    let arguments = [
      "--config", config, "--catalog", catalog, "--listen", "127.0.0.1:0", "--webhook-listen",
      "127.0.0.1:0", "--log-format", "json", "--verification-workers", "2", "--cache-megabytes",
      "16", "--store", "sqlite:\(bench.databasePath)", "--create",
    ]
    var server = try await start(arguments, relay)
    await relay.open()

    // Before the call: Apple cannot be told, and the server is killed between two attempts.
    let first = try await buy("anna", simulator, server)
    _ = try await simulator.json(
      "fault", "api", "error", "--code", "5000001", "--path", Self.path)
    _ = try await simulator.json("request-consumption", first)
    try await eventually("a call", within: .seconds(120)) {
      try await request(first, server)?.detail != nil
    }
    server.signal(SIGKILL)
    #expect(try await server.exit() == .signal(SIGKILL))
    _ = try await simulator.json("fault", "clear")
    server = try await start(arguments, relay)
    try await eventually("the first one is sent", within: .seconds(240)) { [server] in
      try await request(first, server)?.state == .sent
    }
    #expect(try await received(simulator) == [first])

    // After the call, whose answer nobody hears.
    let second = try await buy("boris", simulator, server)
    _ = try await simulator.json(
      "fault", "api", "slow", "--delay", "40s", "--path", Self.path, "--count", "1")
    _ = try await simulator.json("request-consumption", second)
    try await eventually("a second call", within: .seconds(120)) {
      try await received(simulator).contains(second)
    }
    server.signal(SIGKILL)
    #expect(try await server.exit() == .signal(SIGKILL))
    _ = try await simulator.json("fault", "clear")
    server = try await start(arguments, relay)
    try await eventually("the second one has ended", within: .seconds(240)) { [server] in
      try await request(second, server)?.cause == .outcomeUncertain
    }
    #expect(try await received(simulator) == [first, second])
    #expect(try await server.stop() == .code(0))
    #expect(try await simulator.stop() == .code(0))
  }

  private func start(
    _ arguments: [String], _ relay: NotificationRelay
  ) async throws -> RunningServer {
    let server = try await RunningServer.start(arguments, listeners: 2)
    guard case .tcp(_, let port)? = server.webhookAddresses.first else {
      throw HarnessFailure("no webhook")
    }
    relay.pass(to: [port])
    return server
  }

  /// A purchase of a customer who consents.
  private func buy(
    _ name: String, _ simulator: RunningSimulator, _ server: RunningServer
  ) async throws -> String {
    let answer = try await simulator.json("buy", "adfree", "--customer", name)
    let transaction = try #require(
      answer["transactions"]?.elements.first?["transactionId"]?.text)
    let client = try await server.client()
    _ = try await client.linkAccount(
      LinkAccountRequest(
        scope: Self.scope, target: .chain(OriginalTransactionID(transaction)),
        accountID: AccountID(name), reason: "a test"))
    _ = try await client.setConsumptionConsent(
      SetConsumptionConsentRequest(
        scope: Self.scope, accountID: AccountID(name), isConsented: true))
    await client.close()
    return transaction
  }

  private func request(
    _ transaction: String, _ server: RunningServer
  ) async throws -> ConsumptionRequestEntry? {
    let client = try await server.client()
    let response = try await client.listConsumptionRequests(
      ListConsumptionRequestsRequest(
        scope: Self.scope, transactionID: TransactionID(transaction)))
    await client.close()
    return response.requests.first
  }

  /// The transactions that the App Store was told about, in the order of the calls.
  private func received(_ simulator: RunningSimulator) async throws -> [String] {
    guard let url = URL(string: simulator.url + "/control/consumption"),
      let port = url.port.flatMap(UInt16.init(exactly:))
    else { throw HarnessFailure("no port in \(simulator.url)") }
    let socket = try HTTPSocket(port: port)
    try socket.request("GET", "/control/consumption", [], [])
    let response = try socket.response()
    let list = try JSONTree(parsing: response.body)["consumption"]?.elements ?? []
    return list.compactMap { $0["transactionId"]?.text }
  }
}
