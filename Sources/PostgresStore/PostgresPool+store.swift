import EntitlementStore
import Logging

extension PostgresPool {
  /// Planner settings of the store's connections. Each statement names its rows by index keys, so
  /// one generic plan fits all values: nested loops over indexes, without parallel workers. Set per
  /// connection, so that the plan is the same before statistics of newly filled tables exist.
  private static let plannerSettings =
    [
      "plan_cache_mode=force_generic_plan", "max_parallel_workers_per_gather=0", "jit=off",
      "enable_seqscan=off", "enable_hashjoin=off", "enable_mergejoin=off",
      // A statement rarely asks for a row twice.
      "enable_memoize=off",
      // The default of an existing database may differ.
      "default_transaction_isolation=read\\ committed",
    ].map { "-c \($0)" }.joined(separator: " ")

  static func forStore(
    _ configuration: PostgresStoreConfiguration, logger: Logger
  ) throws(StoreError) -> PostgresPool {
    var limits = poolLimits(configuration.limits)
    limits.sessions = max(1, configuration.limits.writingConnections) + spareSessions
    return try make(
      configuration.connection, limits: limits, target: .primary, plannerSettings: plannerSettings,
      logger: logger)
  }

  /// In addition to the sessions of writers, for occasional calls.
  private static let spareSessions = 1

  /// One connection, whose failures are returned and not logged.
  static func forProbe(
    _ configuration: PostgresStoreConfiguration
  ) throws(StoreError) -> PostgresPool {
    var limits = poolLimits(configuration.limits)
    limits.readingConnections = 1
    // The least that libpq accepts, so that an attempt does not block the next probes for long.
    limits.connectTimeout = .seconds(2)
    limits.longestBackoff = configuration.limits.probeTimeLimit / 2
    return try make(
      configuration.connection, limits: limits, target: .primary, plannerSettings: plannerSettings,
      logger: Logger(label: "probe") { _ in SwiftLogNoOpLogHandler() })
  }

  static func forReplica(
    _ connection: String, _ configuration: PostgresStoreConfiguration, logger: Logger
  ) throws(StoreError) -> PostgresPool {
    try make(
      connection, limits: poolLimits(configuration.limits), target: .any,
      plannerSettings: plannerSettings, logger: logger)
  }

  static func forMigration(_ connection: String) throws(StoreError) -> PostgresPool {
    var limits = PostgresPoolLimits()
    limits.readingConnections = 1
    limits.sessions = 1
    limits.statementTimeout = Migrator.migrationLimit
    limits.lockTimeout = .seconds(60)
    return try make(
      connection, limits: limits, target: .primary, plannerSettings: nil,
      logger: Logger(label: "migration"))
  }

  private static func poolLimits(_ limits: PostgresStoreLimits) -> PostgresPoolLimits {
    var pool = PostgresPoolLimits()
    pool.readingConnections = max(1, limits.readingConnections)
    pool.waitingReads = limits.maximumWaitingReads
    pool.lockTimeout = limits.lockTimeLimit
    return pool
  }

  private static func make(
    _ connection: String, limits: PostgresPoolLimits,
    target: PostgresPoolConfiguration.Target, plannerSettings: String?, logger: Logger
  ) throws(StoreError) -> PostgresPool {
    do throws(PostgresFailure) {
      var string = try PostgresConnectionString(connection)
      if let plannerSettings { string.prependServerOptions(plannerSettings) }
      return try PostgresPool(
        PostgresPoolConfiguration(
          connection: string, target: target, limits: limits, logger: logger))
    } catch {
      throw StoreError(.internalFault, error.message)
    }
  }

  // MARK: Calls

  /// As ``read(_:within:)``, with errors translated to ``StoreError``.
  func query(_ commands: [PostgresCommand], within limit: Duration) async throws(StoreError)
    -> [PostgresRows]
  {
    do throws(PostgresFailure) {
      return try await read(commands, within: limit)
    } catch {
      throw StoreError(translating: error)
    }
  }

  /// Runs one read-only statement.
  func query(
    _ statement: PostgresStatement, _ values: [PostgresValue], within limit: Duration
  ) async throws(StoreError) -> PostgresRows {
    let results = try await query([PostgresCommand(statement, values)], within: limit)
    guard let rows = results.first else {
      throw StoreError(.internalFault, "PostgreSQL returned an unexpected result")
    }
    return rows
  }

  /// Runs idempotent commands on a session, in one round trip and one transaction. Retries after a
  /// lost connection, a deadlock, a serialisation failure or a lock timeout.
  ///
  /// - Parameter limit: for all attempts together.
  func write(_ commands: [PostgresCommand], within limit: Duration) async throws(StoreError)
    -> [PostgresRows]
  {
    let deadline = ContinuousClock.now + limit
    var timeLeft: Duration { ContinuousClock.now.duration(to: deadline) }
    var attempts = 0
    while true {
      attempts += 1
      do {
        return try await withSession(within: timeLeft) { session throws(PostgresFailure) in
          try await session.exchange(commands, within: timeLeft)
        }
      } catch {
        let mayRetry = attempts < Self.maximumAttempts && timeLeft > .zero
        guard mayRetry, (error as? PostgresFailure)?.isRetryable == true else {
          throw StoreError(of: error)
        }
      }
    }
  }

  /// A restarting server may close several pooled connections, one after the other.
  private static let maximumAttempts = 4
}
