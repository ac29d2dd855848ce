import Glibc
import NIOPosix
import RPCClient
import Wire

/// Open connections without calls, in addition to the load.
struct IdleConnections: Sendable {
  struct Figures: Hashable, Sendable {
    let count: Int
    /// Resident memory of the server for each connection, in bytes; nil when its process is not
    /// known.
    let bytesEach: Int?
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let figures: Figures
  private let connections: [RPCConnection]

  /// Open files that a run needs in addition to its connections.
  private static let otherFiles = 128

  /// Maximum number of health checks in flight while connections are opened.
  private static let maximumChecks = 64

  /// Opens the connections.
  ///
  /// - Parameter timeout: for the first answer on each connection.
  /// - Throws: ``RPCClientError`` with `unreachable`, or when the server does not answer.
  init(
    _ count: Int, to target: RPCTarget, server: ServerProcess?,
    timeout: Duration = .seconds(10)
  ) async throws {
    let before = server?.usage?.memory
    connections = try await LoadThreads.connections(
      count, to: target, on: MultiThreadedEventLoopGroup.singleton)
    do {
      try await Self.awaitAcceptance(of: connections, timeout)
    } catch {
      for connection in connections { await connection.close() }
      throw error
    }
    let after = server?.usage?.memory
    var bytesEach: Int?
    if let before, let after, count > 0 { bytesEach = max(0, (after - before) / count) }
    figures = Figures(count: count, bytesEach: bytesEach)
  }

  /// Waits until the server has accepted each connection. A connection opens while it is still in
  /// the server's accept queue, and takes no memory of the server until then. Any answer proves
  /// that it was accepted.
  private static func awaitAcceptance(
    of connections: [RPCConnection], _ timeout: Duration
  ) async throws {
    let method = WireMethods.checkHealth
    let payload = try HealthCheckRequest(service: "").encoded()
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for (number, connection) in connections.enumerated() {
        if number >= maximumChecks { try await tasks.next() }
        tasks.addTask {
          do throws(RPCClientError) {
            _ = try await connection.call(
              service: method.service, method: method.name, payload: payload, timeout: timeout)
          } catch {
            if !error.isRefusal { throw error }
          }
        }
      }
      try await tasks.waitForAll()
    }
  }

  /// Number of connections that the server has closed.
  var closedCount: Int { connections.count { !$0.isOpen } }

  func close() async {
    for connection in connections { await connection.close() }
  }

  /// Raises the limit of open files for this number of connections.
  ///
  /// - Throws: ``Failure`` when the hard limit is too low.
  static func allow(_ connections: Int) throws(Failure) {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    let needed = rlim_t(connections + otherFiles)
    if limit.rlim_cur >= needed { return }
    guard limit.rlim_max >= needed else {
      throw Failure(
        description: "\(connections) connections need \(needed) open files, and this process may "
          + "have \(limit.rlim_max): raise the hard limit (ulimit -Hn)")
    }
    limit.rlim_cur = needed
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      throw Failure(description: "the limit of open files cannot be raised to \(needed)")
    }
  }
}
