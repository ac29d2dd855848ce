import EntitlementStore
import Glibc
import Logging
import NIOCore
import PostgresStore
import SQLiteStore
import Verification

/// File descriptors: raises the limit of the process, and reserves what everything but connections
/// needs, so that connections never take the last one. Without a descriptor the store cannot write,
/// and libdispatch ends the process when it cannot open a file.
enum FileDescriptors {
  /// For standard streams, the log, the catalog, the files of the runtime, and connections that are
  /// accepted only to be closed.
  private static let reservedForProcess = 64
  /// An event loop has an epoll descriptor, an event descriptor and a timer.
  private static let forEachEventLoop = 3
  /// A connection to SQLite has the file, its log and its shared memory; some more are open for
  /// moments, as for the lock or for temporary files.
  private static let forEachSQLiteConnection = 4
  /// Fewer connections are not worth a start.
  private static let fewestConnections = 16

  /// The limit of open connections: the setting, or what the limit of the process allows.
  ///
  /// - Throws: ``StartFailure`` if too few connections fit.
  static func connections(for settings: Settings, logger: Logger) throws(StartFailure) -> Int {
    let reserved = reserved(for: settings)
    let limit = raiseLimit(to: settings.maximumConnections + reserved)
    let connections = min(settings.maximumConnections, limit - reserved)
    let fewest = min(fewestConnections, settings.maximumConnections)
    guard connections >= fewest else {
      throw StartFailure(
        .badConfiguration,
        "the process may open \(limit) files; \(reserved) are reserved and \(fewest) more are "
          + "needed for connections: raise the hard limit (ulimit -Hn, LimitNOFILE)")
    }
    if connections < settings.maximumConnections {
      logger.warning(
        "the limit of open files allows fewer connections than the setting",
        metadata: [
          "maximum_connections": .stringConvertible(settings.maximumConnections),
          "connections": .stringConvertible(connections),
          "open_files": .stringConvertible(limit), "reserved": .stringConvertible(reserved),
        ])
    }
    return connections
  }

  /// What everything but connections of clients needs.
  static func reserved(for settings: Settings) -> Int {
    var count = reservedForProcess + settings.addresses.count
    count += forEachEventLoop * (System.coreCount + 1 + HTTPListeners.eventLoops)
    if settings.certificateStatus != .off {
      // One request in flight for each, at most.
      count += 32
    }
    switch settings.store {
    case .sqlite:
      // And one for each thread that reads large customers.
      count +=
        forEachSQLiteConnection
        * (SQLiteStoreLimits().maximumReaders + EvaluationPool.defaultWidth + 1)
    case .postgres(let configuration):
      let limits = configuration.limits
      // Twice, as a lost connection may be replaced before it is closed; two for listening and
      // health checks.
      count += 2 * (limits.readingConnections + limits.writingConnections + 2)
      count += 2 * configuration.replicas.count * limits.readingConnections
    }
    return count
  }

  /// Raises the soft limit as far as the hard limit allows.
  ///
  /// - Returns: The soft limit.
  private static func raiseLimit(to wanted: Int) -> Int {
    let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(files, &limit) == 0 else {
      return wanted
    }
    if limit.rlim_cur < rlim_t(wanted) {
      var raised = limit
      raised.rlim_cur = min(limit.rlim_max, rlim_t(wanted))
      if setrlimit(files, &raised) == 0 { limit = raised }
    }
    return Int(clamping: limit.rlim_cur)
  }
}
