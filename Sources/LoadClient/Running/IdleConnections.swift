import Glibc
import NIOPosix
import RPCClient
import Wire

/// Connections that do nothing, beside the load.
struct IdleConnections: Sendable {
  struct Figures: Hashable, Sendable {
    let count: Int
    /// Of the server's resident memory; nil when its process is not known.
    let bytesEach: Int?
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let figures: Figures
  private let connections: [RPCConnection]

  /// Files that a run needs beside its connections.
  private static let otherFiles = 128

  /// Calls at a time that ask whether connections are accepted.
  private static let asking = 64

  /// Opens them.
  ///
  /// - Parameter patience: how long the server may take to answer on each of them.
  /// - Throws: ``RPCClientError`` with `unreachable`, or when the server does not answer.
  init(
    _ count: Int, to address: ServerAddress, server: ServerProcess?,
    patience: Duration = .seconds(10)
  ) async throws {
    let before = server?.usage?.memory
    connections = try await LoadThreads.connections(
      count, to: address, on: MultiThreadedEventLoopGroup.singleton)
    do {
      try await Self.awaitAcceptance(of: connections, patience)
    } catch {
      for connection in connections { await connection.close() }
      throw error
    }
    let after = server?.usage?.memory
    var bytesEach: Int?
    if let before, let after, count > 0 { bytesEach = max(0, (after - before) / count) }
    figures = Figures(count: count, bytesEach: bytesEach)
  }

  /// A connection is there for us before the server has taken it from the queue of its system: it
  /// costs the server nothing until then. Whatever it answers, it has.
  private static func awaitAcceptance(
    of connections: [RPCConnection], _ patience: Duration
  ) async throws {
    let method = WireMethods.checkHealth
    let payload = try HealthCheckRequest(service: "").encoded()
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for (number, connection) in connections.enumerated() {
        if number >= asking { try await tasks.next() }
        tasks.addTask {
          do throws(RPCClientError) {
            _ = try await connection.call(
              service: method.service, method: method.name, payload: payload, timeout: patience)
          } catch {
            if !error.isRefusal { throw error }
          }
        }
      }
      try await tasks.waitForAll()
    }
  }

  /// How many of them the other side has closed.
  var closedCount: Int { connections.count { !$0.isOpen } }

  func close() async {
    for connection in connections { await connection.close() }
  }

  /// Has the system let this process open as many connections.
  ///
  /// - Throws: ``Failure`` when it does not.
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
