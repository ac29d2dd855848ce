import EntitlementDomain
import EntitlementStore
import Foundation
import RPCClient
import StoreSimulator
import TestSupport
import Wire

/// Several servers on one PostgreSQL database, and the calls that tests make.
final class NodesBench: Sendable {
  private let bench: Bench
  private let cluster: EphemeralPostgres
  /// The name of the database in the cluster.
  private let database: String
  let servers: [RunningServer]
  let clients: [EntitlementClient]
  /// Customers with several calls each.
  let customers: [SubmissionPlan.Customer]

  static let scope = Bench.scope
  private static let customerCount = 40
  /// Long, so that only announcements, and the polls every second, refresh cached answers.
  static let staleness = Duration.seconds(60)

  /// Starts three servers on a new database.
  ///
  /// - Parameter standby: the replica of the last server.
  static func start(
    on cluster: EphemeralPostgres, standby: EphemeralPostgres? = nil
  ) async throws -> NodesBench {
    let connection = try await Bench.migratedDatabase(of: cluster)
    let path = connection.split(separator: "?")[0]
    let database = path.split(separator: "/").last.map(String.init) ?? ""
    let bench = try Bench()
    var servers: [RunningServer] = []
    var clients: [EntitlementClient] = []
    for index in 0..<3 {
      var arguments = [
        "--staleness-seconds", "\(staleness.components.seconds)",
      ]
      if index == 2, let standby {
        arguments += ["--store-replica", standby.connectionString(database: database)]
      }
      let server = try await RunningServer.start(
        bench.serverArguments(store: connection) + arguments)
      servers.append(server)
      clients.append(try await server.client())
    }
    return try NodesBench(
      bench: bench, cluster: cluster, database: database, servers: servers, clients: clients)
  }

  private init(
    bench: Bench, cluster: EphemeralPostgres, database: String, servers: [RunningServer],
    clients: [EntitlementClient]
  ) throws {
    self.bench = bench
    self.cluster = cluster
    self.database = database
    self.servers = servers
    self.clients = clients
    let population = Bench.population(Self.customerCount)
    customers = try population.customers.map { customer in
      let events = try bench.authority.sign(customer.timeline.history(until: population.now))
      return SubmissionPlan.Customer(
        accountID: customer.accountID,
        // Each call has new facts, so it moves the revision.
        steps: Delivery.transactions.steps(for: events, factsPerCall: 2))
    }.filter { $0.steps.count > 1 }
  }

  /// Closes the connections. The servers are killed when this object is released.
  func close() async {
    for client in clients { await client.close() }
  }

  /// Submits one call to one server.
  ///
  /// - Returns: the revision of the customer's account after the call.
  func write(
    _ step: Int, of customer: SubmissionPlan.Customer, at server: Int
  ) async throws -> Int64 {
    guard case .facts(let payloads) = customer.steps[step] else {
      throw HarnessFailure("\(customer.accountID) has a notification")
    }
    let answer = try await clients[server].submitSignedTransactions(
      SubmitSignedTransactionsRequest(signedPayloads: payloads, accountID: customer.accountID))
    let own = answer.customers.first { $0.subject == .account(customer.accountID) }
    guard let own else { throw HarnessFailure("\(customer.accountID) is not in the answer") }
    return own.revision
  }

  func revision(
    of customer: SubmissionPlan.Customer, at server: Int, _ consistency: ReadConsistency
  ) async throws -> Int64 {
    try await clients[server].customerState(
      GetCustomerStateRequest(
        customer: .account(customer.accountID), scope: Self.scope, consistency: consistency)
    ).revision
  }

  /// Reads the cached answer until it has a revision.
  ///
  /// - Returns: the time until then.
  /// - Throws: ``HarnessFailure`` when it takes longer than `limit`.
  func becomes(
    _ revision: Int64, of customer: SubmissionPlan.Customer, at server: Int,
    within limit: Duration = NodesBench.staleness
  ) async throws -> Duration {
    let start = ContinuousClock.now
    while true {
      let seen = try await self.revision(of: customer, at: server, .minimizeLatency)
      let time = ContinuousClock.now - start
      if seen >= revision { return time }
      guard time < limit else {
        throw HarnessFailure(
          "server \(server) still says \(seen) of \(customer.accountID) after \(time)")
      }
    }
  }

  /// A counter of one server.
  func counter(_ name: String, at server: Int) async throws -> Int64 {
    let counters = try await clients[server].statistics().counters
    guard let counter = counters.first(where: { $0.name == name }) else {
      throw HarnessFailure("there is no counter \(name)")
    }
    return counter.value
  }

  /// Changes an account like a server that fails before it announces its commit.
  ///
  /// - Returns: the new revision.
  func changeSilently(_ customer: SubmissionPlan.Customer) throws -> Int64 {
    let sequence = try cluster.execute(
      """
      WITH change AS (
        INSERT INTO changes (sequence, committed_at, scope, kinds, account)
        SELECT ((pg_current_xact_id()::text::bigint + sequence_offset) << 16) + 1, changed_at,
          scope, \(ChangeKinds.facts.rawValue), account
        FROM meta, accounts WHERE account = '\(customer.accountID)'
        RETURNING sequence)
      UPDATE accounts SET revision = change.sequence FROM change
      WHERE account = '\(customer.accountID)' RETURNING revision
      """, database: database)
    guard let sequence = Int64(sequence) else {
      throw HarnessFailure("\(customer.accountID) was not changed: \(sequence)")
    }
    return sequence
  }

  /// Ends the connections on which servers listen for announcements.
  ///
  /// - Returns: the number of ended connections.
  func endListeners() throws -> Int {
    try cluster.execute(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND query ILIKE 'LISTEN%'
      """, database: database
    ).split(separator: "\n").count
  }

  /// Reads states of other dates, which are not cached, until the replica has answered another
  /// read.
  ///
  /// - Throws: ``HarnessFailure`` when it does not.
  func awaitReplicaReads(of customers: [SubmissionPlan.Customer], at server: Int) async throws {
    let before = try await counter("store.replica_reads", at: server)
    let deadline = ContinuousClock.now + .seconds(ProcessJournal.patience)
    while try await counter("store.replica_reads", at: server) == before {
      guard ContinuousClock.now < deadline else {
        throw HarnessFailure("the replica is never asked")
      }
      for customer in customers {
        _ = try await clients[server].customerState(
          GetCustomerStateRequest(
            customer: .account(customer.accountID), scope: Self.scope, at: Bench.population(0).now))
      }
    }
  }
}
