import PostgresStore
import Synchronization

/// A primary with a synchronous standby, so that an answered commit is on both: the primary may be
/// lost for good, and the standby take over.
final class DatabasePair: Sendable {
  let nodes: [DatabaseNode]
  let orders: CutOrders
  private let primaryIndex = Mutex(0)

  private static let patience = Duration.seconds(90)

  private init(nodes: [DatabaseNode], orders: CutOrders) {
    self.nodes = nodes
    self.orders = orders
  }

  var primary: DatabaseNode { nodes[primaryIndex.withLock { $0 }] }
  var standby: DatabaseNode { nodes[1 - primaryIndex.withLock { $0 }] }

  /// Both nodes through their proxies: the connection string of a server.
  func connection(preferring attributes: String) -> String {
    let hosts = nodes.map { "127.0.0.1:\($0.proxy.port)" }.joined(separator: ",")
    return "postgresql://\(DatabasePrograms.superuser)@\(hosts)/\(DatabaseNode.database)"
      + "?target_session_attrs=\(attributes)"
  }

  /// Both nodes without proxies, for checks of the stored data.
  var directConnection: String {
    let hosts = nodes.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
    return "postgresql://\(DatabasePrograms.superuser)@\(hosts)/\(DatabaseNode.database)"
      + "?target_session_attrs=read-write"
  }

  /// Starts both nodes, with an empty database of the current schema.
  static func start(
    in folder: String, logs: String, programs: DatabasePrograms
  ) async throws -> DatabasePair {
    let orders = CutOrders()
    var nodes: [DatabaseNode] = []
    for name in ["a", "b"] {
      let port = try FreePort.find()
      nodes.append(
        DatabaseNode(
          name: name, port: port,
          proxy: try await CuttingProxy.start(target: port, orders: orders),
          folder: try await DataFolder.make(
            at: "\(folder)/database-\(name)", owner: programs.user),
          programs: programs, logPath: "\(logs)/database-\(name).log"))
    }
    let pair = DatabasePair(nodes: nodes, orders: orders)
    try await pair.primary.initialize()
    try await pair.primary.start()
    try await pair.primary.query("CREATE DATABASE \(DatabaseNode.database)", database: "postgres")
    _ = try await PostgresSchema.migrate(
      connection: pair.primary.connection, dryRun: false, report: { _ in })
    try await pair.addStandby(replacing: false)
    return pair
  }

  /// The primary dies for good, the standby takes over, and a new standby is made.
  ///
  /// - Parameter lag: how long the standby is stopped before, so that commits wait for it.
  func failOver(lag: Duration) async throws {
    try await awaitSynchronous()
    if lag > .zero {
      standby.freeze()
      try await Task.sleep(for: lag)
    }
    await primary.kill()
    standby.thaw()
    try await standby.query("SELECT pg_promote(true, 60)", database: "postgres")
    primaryIndex.withLock { $0 = 1 - $0 }
    // It would wait for a standby that does not exist yet.
    try await setSynchronous(false)
    try await addStandby(replacing: true)
  }

  private func addStandby(replacing isReplacing: Bool) async throws {
    if isReplacing { await standby.kill() }
    try await standby.copy(primary)
    try await standby.start()
    try await setSynchronous(true)
    try await awaitSynchronous()
  }

  private func setSynchronous(_ isSynchronous: Bool) async throws {
    let names = isSynchronous ? "*" : ""
    try await primary.query(
      "ALTER SYSTEM SET synchronous_standby_names = '\(names)'", database: "postgres")
    try await primary.query("SELECT pg_reload_conf()", database: "postgres")
  }

  /// Waits until the standby has everything that was written so far, and commits wait for it.
  func awaitSynchronous() async throws {
    let deadline = ContinuousClock.now + Self.patience
    let sql =
      "SELECT pg_current_wal_flush_lsn(), count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
    var target: Substring?
    while ContinuousClock.now < deadline {
      if let target {
        let answer = try? await primary.query(
          "SELECT flush_lsn >= '\(target)' FROM pg_stat_replication WHERE sync_state = 'sync'")
        if answer?.hasPrefix("t") == true { return }
      } else if let row = try? await primary.rows(sql).first, row.count == 2, row[1] == "1" {
        target = row[0]
      }
      try await Task.sleep(for: .milliseconds(100))
    }
    throw ChaosFailure("the standby does not catch up")
  }

  func stop() async {
    for node in nodes {
      await node.kill()
      await node.proxy.stop()
    }
  }
}
