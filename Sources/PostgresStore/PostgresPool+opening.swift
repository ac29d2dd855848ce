import EntitlementStore
import Logging

extension PostgresPool {
  /// What the store's statements are planned with. Each names its rows by keys of indexes: one plan,
  /// made once, fits all values, and nothing is gained by joining in another way than from row to
  /// row, nor by several processes. Said here, so that it holds also while the server knows nothing of
  /// tables that have just been filled.
  private static let planning =
    [
      "plan_cache_mode=force_generic_plan", "max_parallel_workers_per_gather=0", "jit=off",
      "enable_seqscan=off", "enable_hashjoin=off", "enable_mergejoin=off",
      // The server's default may be something else in an old database.
      "default_transaction_isolation=read\\ committed",
    ].map { "-c \($0)" }.joined(separator: " ")

  static func forStore(
    _ configuration: PostgresStoreConfiguration, logger: Logger
  ) throws(StoreError) -> PostgresPool {
    var limits = poolLimits(configuration.limits)
    limits.sessions = max(1, configuration.limits.writingConnections) + spareSessions
    return try make(
      configuration.connection, limits: limits, target: .primary, planning: planning,
      logger: logger)
  }

  /// Beside those of writers: for what is done now and then.
  private static let spareSessions = 1

  static func forReplica(
    _ connection: String, _ configuration: PostgresStoreConfiguration, logger: Logger
  ) throws(StoreError) -> PostgresPool {
    try make(
      connection, limits: poolLimits(configuration.limits), target: .any, planning: planning,
      logger: logger)
  }

  static func forMigration(_ connection: String) throws(StoreError) -> PostgresPool {
    var limits = PostgresPoolLimits()
    limits.readingConnections = 1
    limits.sessions = 1
    limits.statementTimeout = Migrator.stepLimit
    limits.lockTimeout = .seconds(60)
    return try make(
      connection, limits: limits, target: .primary, planning: nil,
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
    target: PostgresPoolConfiguration.Target, planning: String?, logger: Logger
  ) throws(StoreError) -> PostgresPool {
    do throws(PostgresFailure) {
      var string = try PostgresConnectionString(connection)
      if let planning { string.prependServerOptions(planning) }
      return try PostgresPool(
        PostgresPoolConfiguration(
          connection: string, target: target, limits: limits, logger: logger))
    } catch {
      throw StoreError(.internalFault, error.message)
    }
  }
}
