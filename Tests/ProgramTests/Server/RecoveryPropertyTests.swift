import EntitlementDomain
import Foundation
import RPCClient
import StoreSimulator
import Synchronization
import TestSupport
import Testing
import Wire

/// R79–R81: what was lost is there in the end.
@Suite("Recovery of what was missed", .timeLimit(.minutes(20)))
struct RecoveryPropertyTests {
  @Test("A third of the notifications is lost, late or doubled, and the server is killed: SQLite")
  func sqlite() async throws {
    let bench = try Bench()
    try await RecoveryRun.of(
      "RecoveryPropertyTests.sqlite", bench, nodes: 1,
      store: ["--store", "sqlite:\(bench.databasePath)", "--create"])
  }

  @Test(
    "The same with three servers on one PostgreSQL, which are killed one by one",
    .enabled(if: EphemeralPostgres.isAvailable, "no PostgreSQL server on this machine"))
  func postgres() async throws {
    let connection = try await Bench.migratedDatabase(of: try EphemeralPostgres.shared)
    try await RecoveryRun.of(
      "RecoveryPropertyTests.postgres", try Bench(), nodes: 3, store: ["--store", connection])
  }
}

/// A random history of an App Store, and servers that hear only some of it.
private final class RecoveryRun: Sendable {
  private static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .sandbox)
  private static let population = 12
  private static let customers = (0..<6).map { "customer\($0)" }
  private static let rounds = 9
  /// The App Store lists 30 days in the Sandbox: within these rounds, what was missed is fetched.
  private static let roundsUntilRest = 3

  private struct State {
    var random: SeededRandom
    var servers: [RunningServer?]
    /// Servers that got SIGKILL. Their processes may still run.
    var killed: [RunningServer] = []
    var transactions: [String] = []
  }

  private let bench: Bench
  private let relay: NotificationRelay
  private let simulator: RunningSimulator
  private let port: UInt16
  private let arguments: [String]
  private let store: [String]
  private let state: Mutex<State>

  /// - Parameter store: the options of servers for their database.
  static func of(_ name: String, _ bench: Bench, nodes: Int, store: [String]) async throws {
    let random = SeededRandom(for: name)
    let relay = try await NotificationRelay.start(random)
    let simulator = try await RunningSimulator(
      bench.folder.file("sim"), "--notify", relay.url, "--population", "\(population)", "--seed",
      "\(random.seed)", "--rate-factor", "1000")
    let config = try bench.folder.write(try await simulator.settings(), to: "entitled.yaml")
    let run = try RecoveryRun(
      bench, relay, simulator, random, nodes: nodes,
      arguments: [
        "--config", config, "--catalog", bench.catalogPath, "--listen", "127.0.0.1:0",
        "--webhook-listen", "127.0.0.1:0", "--log-format", "json", "--verification-workers", "2",
        "--cache-megabytes", "16",
      ], store: store)
    do {
      try await run.play()
      try await run.compare()
    } catch {
      await relay.stop()
      throw error
    }
    await relay.stop()
  }

  private init(
    _ bench: Bench, _ relay: NotificationRelay, _ simulator: RunningSimulator,
    _ random: SeededRandom, nodes: Int, arguments: [String], store: [String]
  ) throws {
    self.bench = bench
    self.relay = relay
    self.simulator = simulator
    self.arguments = arguments
    self.store = store
    guard let port = URL(string: simulator.url)?.port.flatMap(UInt16.init(exactly:)) else {
      throw HarnessFailure("no port in \(simulator.url)")
    }
    self.port = port
    state = Mutex(State(random: random, servers: Array(repeating: nil, count: nodes)))
  }

  private func random(below count: Int) -> Int {
    state.withLock { Int.random(in: 0..<count, using: &$0.random) }
  }

  // MARK: Servers

  /// Starts the servers that do not run.
  private func startServers() async throws {
    // The file of a database is locked until its process has ended.
    let killed = state.withLock { state in
      defer { state.killed = [] }
      return state.killed
    }
    for server in killed { #expect(try await server.exit() == .signal(SIGKILL)) }
    let missing = state.withLock { state in
      state.servers.indices.filter { state.servers[$0] == nil }
    }
    for index in missing {
      let server = try await RunningServer.start(arguments + store, listeners: 2)
      state.withLock { $0.servers[index] = server }
      passToServers()
    }
  }

  private func passToServers() {
    relay.pass(
      to: state.withLock(\.servers).compactMap { server in
        guard case .tcp(_, let port)? = server?.webhookAddresses.first else { return nil }
        return port
      })
  }

  /// Kills a server at once.
  private func kill() {
    let server = state.withLock { state -> RunningServer? in
      let running = state.servers.indices.filter { state.servers[$0] != nil }
      guard let index = running.randomElement(using: &state.random) else { return nil }
      let server = state.servers[index]
      state.servers[index] = nil
      state.killed += [server].compactMap(\.self)
      return server
    }
    server?.signal(SIGKILL)
    passToServers()
  }

  // MARK: The App Store

  /// Asks the control interface.
  ///
  /// - Returns: nil when it refuses.
  @discardableResult
  private func control(
    _ path: String, _ body: String?, method: String = "POST"
  ) throws -> JSONTree? {
    let socket = try HTTPSocket(port: port)
    try socket.request(
      method, "/control/\(path)", [("content-type", "application/json")],
      Array((body ?? "").utf8))
    let response = try socket.response()
    guard response.status == 200 else {
      // A customer may not do what was drawn.
      #expect([400, 404, 409].contains(response.status), "\(path): \(response.text)")
      return nil
    }
    return try JSONTree(parsing: response.body)
  }

  /// The virtual time.
  private func now() throws -> Milliseconds {
    guard let now = try control("clock", nil, method: "GET")?["now"]?.integer else {
      throw HarnessFailure("the clock does not tell the time")
    }
    return Milliseconds(now)
  }

  /// Advances the virtual time.
  ///
  /// - Returns: the virtual time.
  @discardableResult
  private func advance(hours: Int64) throws -> Milliseconds {
    var target = "\"advanceMs\":\(hours * Milliseconds.hourLength)"
    while true {
      guard let answer = try control("clock", "{\(target)}"), let now = answer["now"]?.integer,
        let end = answer["target"]?.integer
      else { throw HarnessFailure("the clock was not advanced") }
      if answer["isComplete"] == .boolean(true) { return Milliseconds(now) }
      target = "\"setMs\":\(end)"
    }
  }

  private func act() throws {
    let customer = Self.customers[random(below: Self.customers.count)]
    let other = Self.customers[random(below: Self.customers.count)]
    let product = SimulatedApp.products[random(below: SimulatedApp.products.count)].id
    let transaction = state.withLock { $0.transactions.randomElement(using: &$0.random) } ?? "1"
    func about(_ more: String = "") -> String { "{\"customer\":\"\(customer)\"\(more)}" }
    let answer =
      switch random(below: 13) {
      case 0...3: try control("buy", about(",\"productId\":\"\(product)\""))
      case 4: try control("cancel", about())
      case 5: try control("resume", about())
      case 6: try control("change", about(",\"productId\":\"\(product)\""))
      case 7: try control("card", about(",\"works\":false"))
      case 8: try control("card", about(",\"works\":true"))
      case 9, 10: try control("refund", "{\"transactionId\":\"\(transaction)\"}")
      case 11: try control("share", about(",\"with\":\"\(other)-family\""))
      default: try control("refund-reverse", "{\"transactionId\":\"\(transaction)\"}")
      }
    let bought = answer?["transactions"]?.elements.compactMap { $0["transactionId"]?.text } ?? []
    state.withLock { $0.transactions += bought }
  }

  // MARK: The history

  func play() async throws {
    try await startServers()
    // The past of the population is heard: the App Store does not list all of it any more.
    try advance(hours: 1)
    await relay.open()
    relay.setFaulty(true)
    for round in 1...Self.rounds {
      if random(below: 3) == 0 {
        try control("faults", #"{"on":"api","kind":"error","errorCode":5000001,"probability":0.5}"#)
      }
      if random(below: 2) == 0 { relay.after(1 + random(below: 19)) { [self] in kill() } }
      for _ in 0..<6 {
        try act()
        try advance(hours: Int64(1 + random(below: 39)))
      }
      try await startServers()
      if random(below: 2) == 0 { await relay.passDelayed() }
      if round.isMultiple(of: Self.roundsUntilRest) { try await rest() }
    }
  }

  /// Waits until the servers know that nothing is missing.
  private func rest() async throws {
    try control("faults", nil, method: "DELETE")
    relay.cancelAlarm()
    try await startServers()
    await relay.passDelayed()
    let moment = try advance(hours: 2)
    let server = state.withLock { $0.servers.compactMap(\.self).randomElement(using: &$0.random) }
    guard let server else { throw HarnessFailure("no server runs") }
    let client = try await server.client()
    try await eventually("jobs are open", within: .seconds(240)) {
      var jobs: [JobEntry] = []
      for try await job in client.jobs(ListJobsRequest()) { jobs.append(job) }
      guard jobs.allSatisfy({ $0.state == .done }) else {
        #expect(!jobs.contains { $0.state == .givenUp }, "\(jobs)")
        return false
      }
      return jobs.contains { $0.kind == .reconciliation && ($0.completeUntil ?? 0) >= moment }
    }
    await client.close()
  }

  // MARK: The comparison

  /// Compares the servers with one that hears everything, now and as of a moment in the past. What
  /// was lost on its way, only jobs can have brought: each server knows it.
  func compare() async throws {
    let reference = try await RunningServer.start(
      arguments + ["--store", "sqlite:\(bench.folder.file("reference.sqlite"))", "--create"],
      listeners: 2)
    let all = try await reference.client()
    for payload in relay.everything {
      let response = try await all.submitNotification(
        SubmitNotificationRequest(signedPayload: payload))
      #expect(response.verdict == .ok)
    }
    let chains = try self.chains()
    #expect(chains.count > Self.population)
    let lost = relay.lost
    #expect(!lost.isEmpty)
    // Time stands still: the reference would not hear of what happens meanwhile.
    let now = try self.now()
    let past = now.advanced(by: -5 * Milliseconds.dayLength)
    for server in state.withLock(\.servers).compactMap(\.self) {
      let client = try await server.client()
      try await eventually { try await client.health().developmentClock ?? 0 >= now }
      for chain in chains {
        for moment in [nil, past] {
          let expected = try await state(of: chain, at: moment, by: all)
          let found = try await state(of: chain, at: moment, by: client)
          #expect(found == expected, "\(chain), at \(moment?.description ?? "present")")
        }
      }
      for payload in lost {
        let response = try await client.submitNotification(
          SubmitNotificationRequest(signedPayload: payload))
        #expect(response.isDuplicate, "\(response)")
      }
      await client.close()
      #expect(try await server.stop() == .code(0))
    }
    await all.close()
    #expect(try await reference.stop() == .code(0))
    #expect(try await simulator.stop() == .code(0))
  }

  private func chains() throws -> Set<String> {
    var chains: Set<String> = []
    let list = try control("customers?limit=1000", nil, method: "GET")
    for customer in list?["customers"]?.elements ?? [] {
      let name = customer["customer"]?.text ?? ""
      let transactions = try control("customers/\(name)", nil, method: "GET")?["transactions"]
      chains.formUnion(
        transactions?.elements.compactMap { $0["originalTransactionId"]?.text } ?? [])
    }
    return chains
  }

  private func state(
    of chain: String, at moment: Milliseconds?, by client: EntitlementClient
  ) async throws -> CustomerState {
    let answer = try await client.customerState(
      GetCustomerStateRequest(
        customer: .originalTransaction(OriginalTransactionID(chain)), scope: Self.scope,
        at: moment))
    guard case .state(var state) = answer else { throw HarnessFailure("no state") }
    state.evaluatedAt = 0
    state.revision = 0
    return state
  }
}
