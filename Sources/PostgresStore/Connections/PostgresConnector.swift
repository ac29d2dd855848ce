import CPostgres
import Glibc
import Logging

/// Makes connections. Calls block.
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
    string.setDefault("tcp_user_timeout", "\(limits.tcpUserTimeout.settingMilliseconds)")
    string.setDefault("keepalives_idle", "10")
    string.setDefault("keepalives_interval", "5")
    string.setDefault("keepalives_count", "3")
    // Texts are decoded as UTF-8, so neither the string nor the environment may change the
    // encoding.
    string.set("client_encoding", "UTF8")
    string.prependServerOptions(
      """
      -c statement_timeout=\(limits.statementTimeout.settingMilliseconds) \
      -c lock_timeout=\(limits.lockTimeout.settingMilliseconds) \
      -c idle_in_transaction_session_timeout=\(limits.idleTransactionTimeout.settingMilliseconds)
      """)
    self.string = string
    notices = NoticeSink(logger: configuration.logger)
  }

  /// - Returns: a non-blocking connection in pipeline mode.
  /// - Throws: ``PostgresFailure/Kind/cannotConnect`` with libpq's reason, without secrets.
  func connect() throws(PostgresFailure) -> OwnedConnection {
    let keywords = CStringArray(string.keywords)
    let values = CStringArray(string.values)
    guard let pointer = PQconnectdbParams(keywords.pointer, values.pointer, 0) else {
      throw PostgresFailure(.cannotConnect, "out of memory")
    }
    let connection = OwnedConnection(owning: pointer, notices: notices)
    guard connection.isOpen else {
      throw PostgresFailure(.cannotConnect, string.scrub(connection.reason))
    }
    guard PQsetnonblocking(pointer, 1) == 0, PQenterPipelineMode(pointer) == 1 else {
      throw PostgresFailure(.cannotConnect, "libpq could not enter pipeline mode")
    }
    return connection
  }
}

/// Owns a libpq connection and closes it in `deinit`.
// @unchecked: made on one thread and then handed to the pool's thread, which alone uses it.
final class OwnedConnection: @unchecked Sendable {
  let pointer: OpaquePointer
  /// libpq holds only an unretained pointer to it.
  private let notices: NoticeSink

  /// Takes ownership of a connection.
  init(owning pointer: OpaquePointer, notices: NoticeSink) {
    self.pointer = pointer
    self.notices = notices
    PQsetNoticeReceiver(
      pointer,
      { context, result in
        guard let context else { return }
        // The context is the sink, which the owner retains until the connection is closed.
        Unmanaged<NoticeSink>.fromOpaque(context).takeUnretainedValue().received(result)
      }, Unmanaged.passUnretained(notices).toOpaque())
  }

  deinit { PQfinish(pointer) }

  var isOpen: Bool { PQstatus(pointer) == CONNECTION_OK }

  /// libpq's last error message.
  var reason: String { String(cString: PQerrorMessage(pointer)).trimmed }
}

/// Logs notices of the server without their texts, which may contain values.
final class NoticeSink: Sendable {
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  func received(_ result: OpaquePointer?) {
    guard let result else { return }
    logger.debug(
      "notice from the database",
      metadata: [
        "state": "\(ResultFields.text(result, .state) ?? "?")",
        "severity": "\(ResultFields.text(result, .severity) ?? "?")",
        "routine": "\(ResultFields.text(result, .routine) ?? "?")",
      ])
  }
}

/// A null-terminated array of C strings.
final class CStringArray {
  private let storage: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>

  init(_ texts: [String]) {
    storage = .allocate(capacity: texts.count + 1)
    let copies = texts.map { UnsafePointer<CChar>(strdup($0)) }
    _ = storage.initialize(from: copies + [nil])
  }

  deinit {
    for text in storage { free(UnsafeMutablePointer(mutating: text)) }
    storage.deallocate()
  }

  /// Valid for the lifetime of this object.
  var pointer: UnsafePointer<UnsafePointer<CChar>?>? { UnsafePointer(storage.baseAddress) }
}
