package import EntitlementDomain
package import EntitlementStore
package import Logging
import Synchronization

/// The store for many nodes: a PostgreSQL database that any number of processes share.
///
/// Writes share transactions (``WriteQueue``). Each transaction locks what it reads, and is
/// acknowledged after the server has flushed its log. A read is one statement on one snapshot.
package final class PostgresStore: EntitlementStore {
  let primary: PostgresPool
  /// One connection to the primary for ``checkHealth()``, so that a probe does not wait behind reads.
  private let probe: PostgresPool
  let replicas: ReplicaSet
  let limits: PostgresStoreLimits
  let scopes: ScopeCache
  let headers: HeaderCache
  /// Compresses and expands payloads.
  let vault = PayloadVault()
  let trail: AuditTrail
  private let queue: WriteQueue
  private let listener: PostgresListener
  private let hub = AnnouncementHub()
  let evaluations: EvaluationPool
  private let counters: PostgresCounters

  /// Connects to a database whose schema `entitlectl database migrate` has created.
  ///
  /// - Parameters:
  ///   - trail: the chain of the audit trail that this process writes.
  ///   - evaluations: decodes the rows of large customers.
  /// - Throws: ``StoreError/Code/olderSchema`` or ``StoreError/Code/newerSchema`` when the version
  ///   of the schema is not the program's; ``StoreError/Code/unavailable`` when the database cannot
  ///   be reached; ``StoreError/Code/internalFault`` when the connection string is malformed or a
  ///   server setting is not supported.
  package static func open(
    _ configuration: PostgresStoreConfiguration, trail: AuditTrail = AuditTrail(node: "localhost"),
    logger: Logger, evaluations: EvaluationPool = EvaluationPool()
  ) async throws(StoreError) -> PostgresStore {
    let pool = try PostgresPool.forStore(configuration, logger: logger)
    do throws(StoreError) {
      try await ServerCheck.check(pool, limit: configuration.limits.readTimeLimit, logger: logger)
      try await PostgresSchema.requireCurrent(pool, limit: configuration.limits.readTimeLimit)
      try await SequenceOffset.raise(
        pool, limit: configuration.limits.writeTimeLimit, logger: logger)
      let counters = PostgresCounters()
      let probe = try PostgresPool.forProbe(configuration)
      var replicas: [PostgresPool] = []
      for replica in configuration.replicas {
        replicas.append(try .forReplica(replica, configuration, logger: logger))
      }
      let store = PostgresStore(
        pool, probe: probe,
        replicas: ReplicaSet(
          replicas, evaluations: evaluations, counters: counters, logger: logger),
        limits: configuration.limits, trail: trail, evaluations: evaluations, counters: counters,
        logger: logger)
      try await store.scopes.load()
      return store
    } catch {
      await pool.close()
      throw error
    }
  }

  private init(
    _ primary: PostgresPool, probe: PostgresPool, replicas: ReplicaSet,
    limits: PostgresStoreLimits, trail: AuditTrail, evaluations: EvaluationPool,
    counters: PostgresCounters, logger: Logger
  ) {
    self.trail = trail
    self.primary = primary
    self.probe = probe
    self.replicas = replicas
    self.limits = limits
    self.evaluations = evaluations
    self.counters = counters
    scopes = ScopeCache(pool: primary, limits: limits)
    headers = HeaderCache(pool: primary, limits: limits)
    let listener = primary.listener(on: "entitle_changes")
    let hub = hub
    let writer = BatchWriter(
      pool: primary, limits: limits, vault: vault, trail: trail, logger: logger,
      counters: counters,
      announce: {
        listener.announce()
        // Subscribers of this process are notified without a round trip through the server.
        hub.broadcast()
      })
    queue = WriteQueue(limits: limits, alarm: StorageAlarm(logger: logger)) {
      await writer.commit($0)
    }
    self.listener = listener
    let announcements = listener.announcements
    Task {
      for await _ in announcements { hub.broadcast() }
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
        // Facts of one document share its bytes. Counting them for each fact overestimates.
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
    if let caller = submission.caller ?? submission.importedBy {
      add(HeaderKey(LinkAuthor(caller).encoded))
    }
    return try await write(
      LedgerKey.expected(by: submission), in: wanted, headers: headers, byteCount: byteCount
    ) { ledger in try ledger.commit(submission) }
  }

  package func addGrant(_ grant: Grant, by caller: AuditCaller) async throws(StoreError)
    -> GrantReceipt
  {
    try await write(LedgerKey.expected(by: grant), in: [grant.scope]) { ledger in
      try ledger.add(grant, by: caller)
    }
  }

  package func withdrawGrant(
    _ id: GrantID, in scope: AppScope, _ withdrawal: GrantWithdrawal, by caller: AuditCaller
  ) async throws(StoreError) -> GrantReceipt? {
    guard try await scopes.id(of: scope) != nil else { return nil }
    return try await write(LedgerKey.expected(byWithdrawing: id, in: scope), in: [scope]) {
      ledger in
      let receipt = try ledger.withdraw(id, in: scope, withdrawal, by: caller)
      return { numbering in receipt?(numbering) }
    }
  }

  package func perform(_ request: LinkRequest) async throws(StoreError) -> LinkAnswer {
    try await write(
      LedgerKey.expected(by: request), in: [request.scope],
      headers: [HeaderKey(LinkAuthor(request.caller).encoded)]
    ) { ledger in
      try ledger.perform(request)
    }
  }

  /// Runs `decide` within a transaction that other writes may share. Returns after the commit, or
  /// throws at the deadline of the call (``CallContext``), when the outcome may be unknown.
  ///
  /// - Parameters:
  ///   - keys: what the ledger will probably read.
  ///   - wanted: every app and environment that the write may touch.
  func write<Value: Sendable>(
    _ keys: Set<LedgerKey>, in wanted: Set<AppScope>, headers: [HeaderKey] = [],
    byteCount: Int = 0,
    _ decide:
      @escaping @Sendable (inout Ledger<LoadedRows>) throws ->
      @Sendable (ChangeNumbering) -> Value
  ) async throws(StoreError) -> Value {
    let deadline = CallContext.writeDeadline(within: limits.writeTimeLimit)
    for _ in 0..<Self.maximumIDLookups {
      let scopeIDs = try await scopes.interned(wanted, by: deadline)
      let headerIDs = try await self.headers.interned(headers, by: deadline)
      let written: Value? = try await queue.commit { complete in
        WriteJob(
          of: CallContext.source, keys: keys, scopes: scopeIDs, headers: headerIDs,
          byteCount: byteCount,
          deadline: deadline,
          decide: { ledger in
            let receipt = try decide(&ledger)
            return { numbering in complete(.success(receipt(numbering))) }
          },
          fail: { complete(.failure($0)) },
          refreshIDs: { complete(.success(nil)) })
      }
      if let written { return written }
      // A failover has lost ids of apps or headers that were cached: see `WriteTransaction`.
      scopes.forget()
      self.headers.forget()
    }
    throw StoreError(.unavailable, "the database keeps losing the ids of apps or headers")
  }

  /// Attempts to look up ids for one write: the first, and one after each failover that lost ids.
  /// Every write of the shared transaction can cause one.
  private static let maximumIDLookups = 4

  // MARK: Life cycle

  package func announcements() -> AsyncStream<Void> { hub.subscribe() }

  /// Asks the primary within ``PostgresStoreLimits/probeTimeLimit``.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` once the primary has reported damaged data; otherwise an
  ///   error of the database.
  package func checkHealth() async throws(StoreError) {
    if let state = primary.statistics.damage {
      throw StoreError(
        .corrupt, "PostgreSQL reported damaged data (SQLSTATE \(state.code)); restore a backup")
    }
    _ = try await probe.query(Self.health, [], within: limits.probeTimeLimit)
  }

  private static let health = PostgresStatement(
    "SELECT sequence_offset FROM meta", name: "health")

  package func close() async {
    await queue.close()
    hub.close()
    await probe.close()
    await primary.close()
    await replicas.close()
  }

  /// Writes that wait for a transaction or are in flight.
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
    statistics.readingConnectionsLimit = limits.readingConnections
    statistics.writingConnectionsLimit = limits.writingConnections
    statistics.pendingWrites = waitingWrites
    statistics.pendingWritesLimit = limits.maximumWaitingCommits
    statistics.waitingReadsLimit = limits.maximumWaitingReads
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
    statistics.replicaFallbacks = counters.replicaFallbacks.load(ordering: .relaxed)
    return statistics
  }
}

/// Checks that the settings of a server are supported.
enum ServerCheck {
  /// - Throws: ``StoreError/Code/internalFault`` when a setting is not supported; errors of the
  ///   database.
  static func check(_ pool: PostgresPool, limit: Duration, logger: Logger) async throws(StoreError)
  {
    let rows = try await pool.query(settings, [], within: limit)
    let version = try rows.number(0, 0)
    guard version >= 14_00_00 else {
      throw StoreError(.internalFault, "PostgreSQL 14 or later is required")
    }
    guard try rows.string(0, 1) == "UTF8" else {
      throw StoreError(.internalFault, "the encoding of the database is not UTF8")
    }
    guard try rows.string(0, 2) != "off" else {
      throw StoreError(
        .internalFault,
        "synchronous_commit is off for this database or user: commits would be acknowledged "
          + "before they are on disk")
    }
    if try rows.string(0, 3) == "off" {
      logger.warning(
        "fsync is off in PostgreSQL: commits may be lost when its operating system stops")
    }
    if try rows.string(0, 4) == "off" {
      logger.warning(
        """
        data_checksums is off in PostgreSQL: pages that a disk damages may be served unnoticed; \
        enable them with pg_checksums while the server is stopped
        """)
    }
  }

  private static let settings = PostgresStatement(
    """
    SELECT current_setting('server_version_num')::bigint, current_setting('server_encoding'),
      current_setting('synchronous_commit'), current_setting('fsync'),
      current_setting('data_checksums')
    """, name: "server_settings")
}

/// Forwards the announcements of one listener to all subscribers.
final class AnnouncementHub: Sendable {
  private struct State {
    var subscribers: [Int: AsyncStream<Void>.Continuation] = [:]
    var nextNumber = 0
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Pending announcements are coalesced. The stream ends when the hub is closed.
  func subscribe() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number: Int? = state.withLock { state in
      if state.isClosed { return nil }
      state.nextNumber += 1
      state.subscribers[state.nextNumber] = continuation
      return state.nextNumber
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.subscribers.removeValue(forKey: number) }
    }
    return stream
  }

  func broadcast() {
    let subscribers = state.withLock { Array($0.subscribers.values) }
    for subscriber in subscribers { subscriber.yield() }
  }

  func close() {
    let subscribers = state.withLock { state in
      state.isClosed = true
      defer { state.subscribers = [:] }
      return Array(state.subscribers.values)
    }
    for subscriber in subscribers { subscriber.finish() }
  }
}
