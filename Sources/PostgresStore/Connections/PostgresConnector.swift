import CPostgres
import Logging

/// Makes connections. It blocks while it does.
struct PostgresConnector: Sendable {
  private let string: PostgresConnectionString
  private let notices: NoticeSink

  init(_ configuration: PostgresPoolConfiguration) {
    let limits = configuration.limits
    var string = configuration.connection
    if configuration.target == .primary {
      string.setDefault("target_session_attrs", "read-write")
    }
    string.setDefault("application_name", configuration.applicationName)
    string.setDefault("connect_timeout", "\(max(limits.connectTimeout.components.seconds, 2))")
    string.setDefault("tcp_user_timeout", "\(limits.tcpUserTimeout.wholeMilliseconds)")
    string.setDefault("keepalives_idle", "10")
    string.setDefault("keepalives_interval", "5")
    string.setDefault("keepalives_count", "3")
    // Texts are taken for UTF-8 here, whatever the string or the environment says.
    string.set("client_encoding", "UTF8")
    string.prependServerOptions(
      """
      -c statement_timeout=\(limits.statementTimeout.wholeMilliseconds) \
      -c lock_timeout=\(limits.lockTimeout.wholeMilliseconds) \
      -c idle_in_transaction_session_timeout=\(limits.idleTransactionTimeout.wholeMilliseconds)
      """)
    self.string = string
    notices = NoticeSink(logger: configuration.logger)
  }

  /// - Returns: a connection in pipeline mode that never blocks.
  /// - Throws: ``PostgresFailure/Kind/cannotConnect`` with libpq's reason, without secrets.
  func connect() throws(PostgresFailure) -> OwnedConnection {
    let keywords = CStringArray(string.keywords)
    let values = CStringArray(string.values)
    guard let pointer = PQconnectdbParams(keywords.pointer, values.pointer, 0) else {
      throw PostgresFailure(.cannotConnect, "no memory for a connection")
    }
    let connection = OwnedConnection(owning: pointer, notices: notices)
    guard connection.isOpen else {
      throw PostgresFailure(.cannotConnect, string.scrub(connection.reason))
    }
    guard PQsetnonblocking(pointer, 1) == 0, PQenterPipelineMode(pointer) == 1 else {
      throw PostgresFailure(.cannotConnect, "libpq could not enter its pipeline mode")
    }
    return connection
  }
}
