package import EntitlementDomain
package import EntitlementStore
package import Logging
import Synchronization

/// The store for many nodes: a PostgreSQL database that any number of processes share.
///
/// Writes share transactions (``WriteQueue``), each under locks of what it reads, and are answered
/// when the server has flushed its log. A read is one statement, on one snapshot.
package final class PostgresStore: EntitlementStore {
  let primary: PostgresPool
  let replicas: ReplicaSet
  let limits: PostgresStoreLimits
  let scopes: ScopeDirectory
  let headers: HeaderDirectory
  private let queue: WriteQueue
  private let listener: PostgresListener
  private let hub = AnnouncementHub()
  private let counters: PostgresCounters

  /// Connects to a database that `entitlectl database migrate` has prepared.
  ///
  /// - Throws: ``StoreError/Code/olderSchema`` and ``StoreError/Code/newerSchema`` when its version is
  ///   not the program's; ``StoreError/Code/unavailable`` when it cannot be reached;
  ///   ``StoreError/Code/internalFault`` when the connection string is malformed, or the server's
  ///   settings do not suit.
  package static func open(
    _ configuration: PostgresStoreConfiguration, logger: Logger
  ) async throws(StoreError) -> PostgresStore {
    let pool = try PostgresPool.forStore(configuration, logger: logger)
    do throws(StoreError) {
      try await ServerCheck.check(pool, limit: configuration.limits.readTimeLimit, logger: logger)
      try await PostgresSchema.requireCurrent(pool, limit: configuration.limits.readTimeLimit)
      try await SequenceOffset.raise(
        pool, limit: configuration.limits.writeTimeLimit, logger: logger)
      let counters = PostgresCounters()
      var replicas: [PostgresPool] = []
      for replica in configuration.replicas {
        replicas.append(try .forReplica(replica, configuration, logger: logger))
      }
      let store = PostgresStore(
        pool,
        replicas: ReplicaSet(replicas, counters: counters, logger: logger),
        limits: configuration.limits, counters: counters, logger: logger)
      try await store.scopes.load()
      return store
    } catch {
      await pool.close()
      throw error
    }
  }

  private init(
    _ primary: PostgresPool, replicas: ReplicaSet, limits: PostgresStoreLimits,
    counters: PostgresCounters, logger: Logger
  ) {
    self.primary = primary
    self.replicas = replicas
    self.limits = limits
    self.counters = counters
    scopes = ScopeDirectory(pool: primary, limits: limits)
    headers = HeaderDirectory(pool: primary, limits: limits)
    let listener = primary.listener(on: "entitle_changes")
    let hub = hub
    let writer = BatchWriter(
      pool: primary, limits: limits, logger: logger, counters: counters,
      announce: {
        listener.announce()
        // Who listens here need not wait for the server to say so.
        hub.tell()
      })
    queue = WriteQueue(limits: limits) { await writer.commit($0) }
    self.listener = listener
    let announcements = listener.announcements
    Task {
      for await _ in announcements { hub.tell() }
      hub.close()
    }
  }

  // MARK: Writing

  package func commit(_ submission: Submission) async throws(StoreError) -> CommitReceipt {
    var wanted: Set<AppScope> = []
    var headers: [HeaderKey] = []
    var byteCount = 0
    func add(_ header: HeaderKey) {
      if !headers.contains(header) { headers.append(header) }
    }
    func add(_ signed: SignedPayload) {
      byteCount += signed.payload.count
      switch signed.proof {
      case .jws(let header, _): add(HeaderKey(header))
      case .document(let bytes):
        // All facts out of one document share it; counting it for each errs to the safe side.
        byteCount += bytes.count
        add(HeaderKey([]))
      }
    }
    for fact in submission.facts {
      wanted.insert(fact.fact.scope)
      add(fact.signed)
    }
    if let notification = submission.notification {
      if let scope = notification.record.scope { wanted.insert(scope) }
      add(notification.signed)
    }
    return try await write(
      LedgerKey.expected(by: submission), in: wanted, headers: headers, byteCount: byteCount
    ) { ledger in try ledger.commit(submission) }
  }

  package func addGrant(_ grant: Grant) async throws(StoreError) -> GrantReceipt {
    try await write(LedgerKey.expected(by: grant), in: [grant.scope]) { ledger in
      try ledger.add(grant)
    }
  }

  package func withdrawGrant(_ id: GrantID, in scope: AppScope, _ withdrawal: GrantWithdrawal)
    async throws(StoreError) -> GrantReceipt?
  {
    guard try await scopes.number(of: scope) != nil else { return nil }
    return try await write(LedgerKey.expected(byWithdrawing: id, in: scope), in: [scope]) {
      ledger in
      let receipt = try ledger.withdraw(id, in: scope, withdrawal)
      return { numbering in receipt?(numbering) }
    }
  }

  package func perform(_ request: LinkRequest) async throws(StoreError) -> LinkAnswer {
    try await write(LedgerKey.expected(by: request), in: [request.scope]) { ledger in
      try ledger.perform(request)
    }
  }

  /// Lets a ledger decide within a transaction that others may share, and returns when that is
  /// committed.
  ///
  /// - Parameters:
  ///   - keys: what the ledger will probably read.
  ///   - wanted: every app and environment that it can come to.
  private func write<Value: Sendable>(
    _ keys: Set<LedgerKey>, in wanted: Set<AppScope>, headers: [HeaderKey] = [],
    byteCount: Int = 0,
    _ decide:
      @escaping @Sendable (inout Ledger<LoadedRows>) throws ->
      @Sendable (ChangeNumbering) -> Value
  ) async throws(StoreError) -> Value {
    for _ in 0..<Self.maximumNumberings {
      let numbers = try await scopes.interned(wanted)
      let headerNumbers = try await self.headers.interned(headers)
      let written: Value? = try await queue.commit { tell in
        WriteJob(
          keys: keys, scopes: numbers, headers: headerNumbers, byteCount: byteCount,
          decide: { ledger in
            let receipt = try decide(&ledger)
            return { numbering in tell(.success(receipt(numbering))) }
          },
          fail: { tell(.failure($0)) },
          renumber: { tell(.success(nil)) })
      }
      if let written { return written }
      // The database has lost what was numbered last: see `WriteTransaction`.
      scopes.forget()
      self.headers.forget()
    }
    throw StoreError(.unavailable, "the database loses again and again what was numbered")
  }

  /// How often apps and headers are numbered for one write: once, and again after each failover that
  /// lost some. Jobs that share the transaction may each need it.
  private static let maximumNumberings = 4

  // MARK: Life cycle

  package func announcements() -> AsyncStream<Void> { hub.subscribe() }

  package func checkHealth() async throws(StoreError) {
    _ = try await primary.query(Self.health, [], within: limits.readTimeLimit)
  }

  private static let health = PostgresStatement(
    "SELECT sequence_offset FROM meta", name: "health")

  package func close() async {
    await queue.close()
    hub.close()
    await primary.close()
    await replicas.close()
  }

  /// Writes that wait for their turn or are under way.
  var waitingWrites: Int { queue.pendingCount }

  package var statistics: PostgresStatistics {
    let primary = primary.statistics
    var statistics = PostgresStatistics()
    statistics.readingConnections = primary.readingConnections
    statistics.replicaConnections = replicas.pools.reduce(0) {
      $0 + $1.statistics.readingConnections
    }
    statistics.writingConnections = primary.sessions
    statistics.writingConnectionsInUse = primary.sessionsInUse
    statistics.readsInFlight = primary.readsInFlight
    statistics.waitingReads = primary.waitingReads
    statistics.exchanges = primary.exchanges
    statistics.connects = primary.connects
    statistics.failedConnects = primary.failedConnects
    statistics.lostConnections = primary.lostConnections
    statistics.timeouts = primary.timeouts
    statistics.waitTimeouts = primary.waitTimeouts
    statistics.batches = counters.batches.load(ordering: .relaxed)
    statistics.commits = counters.jobs.load(ordering: .relaxed)
    statistics.retries = counters.retries.load(ordering: .relaxed)
    statistics.resolvedCommits = counters.resolvedCommits.load(ordering: .relaxed)
    statistics.replicaReads = counters.replicaReads.load(ordering: .relaxed)
    statistics.passedReplicas = counters.passedReplicas.load(ordering: .relaxed)
    return statistics
  }
}
