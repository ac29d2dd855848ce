import Logging

/// What a pool connects to, and how.
struct PostgresPoolConfiguration: Sendable {
  enum Target: Sendable {
    /// Servers that accept writes: after a failover, the new primary is looked for.
    case primary
    /// Any server that the string names.
    case any
  }

  var connection: PostgresConnectionString
  var target: Target
  /// How the server's `pg_stat_activity` names the connections, unless the string says so.
  var applicationName: String
  var limits: PostgresPoolLimits
  var logger: Logger

  init(
    connection: PostgresConnectionString, target: Target = .primary,
    applicationName: String = "entitled", limits: PostgresPoolLimits = PostgresPoolLimits(),
    logger: Logger
  ) {
    self.connection = connection
    self.target = target
    self.applicationName = applicationName
    self.limits = limits
    self.logger = logger
  }
}
