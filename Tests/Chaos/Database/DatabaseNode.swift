import Foundation
import Glibc
import Synchronization

/// One PostgreSQL server of the run: its data, its start, and the faults that can be made.
final class DatabaseNode: Sendable {
  let name: String
  let port: Int
  let proxy: CuttingProxy
  let folder: DataFolder
  private let programs: DatabasePrograms
  private let logPath: String
  private let process = Mutex<LocalProcess?>(nil)

  static let database = "entitle"
  /// For a start with recovery on a busy machine.
  private static let startLimit = Duration.seconds(90)

  init(
    name: String, port: Int, proxy: CuttingProxy, folder: DataFolder, programs: DatabasePrograms,
    logPath: String
  ) {
    self.name = name
    self.port = port
    self.proxy = proxy
    self.folder = folder
    self.programs = programs
    self.logPath = logPath
  }

  /// A connection string without the proxy, for checks of the stored data.
  var connection: String {
    "postgresql://\(DatabasePrograms.superuser)@127.0.0.1:\(port)/\(Self.database)"
  }

  // MARK: Data

  /// Makes an empty cluster.
  func initialize() async throws {
    try await tool(
      "initdb",
      [
        "-D", folder.data, "-A", "trust", "-U", DatabasePrograms.superuser, "--encoding=UTF8",
        "--locale=C.UTF-8", "--wal-segsize=1", "--no-instructions",
      ])
  }

  /// Makes this node a standby of another running node.
  func copy(_ primary: DatabaseNode) async throws {
    if FileManager.default.fileExists(atPath: folder.data) {
      try FileManager.default.removeItem(atPath: folder.data)
    }
    try await tool(
      "pg_basebackup",
      [
        "-D", folder.data, "-R", "-X", "stream", "-c", "fast", "-d",
        "host=127.0.0.1 port=\(primary.port) user=\(DatabasePrograms.superuser)",
      ])
  }

  private func tool(_ program: String, _ arguments: [String]) async throws {
    try await Tool.run(programs.command(program, arguments), in: "/tmp")
  }

  // MARK: Start and end

  var isRunning: Bool { process.withLock { $0?.isRunning ?? false } }

  /// Starts it, again when it ends at once, and waits until it answers.
  func start() async throws {
    let deadline = ContinuousClock.now + Self.startLimit
    while true {
      try launchUnlessRunning()
      if (try? await query("SELECT 1", database: "postgres")) != nil { return }
      guard ContinuousClock.now < deadline else {
        throw ChaosFailure("database \(name) does not start; its log is \(logPath)")
      }
      try await Task.sleep(for: .milliseconds(200))
    }
  }

  private func launchUnlessRunning() throws {
    guard !isRunning else { return }
    // The shared memory of a killed server would prevent the start of a new one.
    ProcessTable.signal(SIGKILL, in: folder.data)
    let launched = try LocalProcess(
      programs.command("postgres", ["-D", folder.data] + settings), in: folder.data,
      output: (logPath, logPath))
    process.withLock { $0 = launched }
  }

  private var settings: [String] {
    [
      "port=\(port)", "listen_addresses=127.0.0.1", "unix_socket_directories=",
      "max_connections=100", "shared_buffers=64MB", "wal_level=replica", "max_wal_senders=10",
      "max_wal_size=64MB", "wal_keep_size=256MB", "checkpoint_timeout=30s",
      "wal_retrieve_retry_interval=500ms", "log_line_prefix=%m [%p] ",
    ].flatMap { ["-c", $0] }
  }

  /// Kills all of its processes at once, as a failure of the machine does.
  func kill() async {
    process.withLock { $0 }?.signal(SIGKILL)
    await ProcessTable.killAll(in: folder.data)
    await process.withLock { $0 }?.end()
  }

  func freeze() {
    // First the process that would start others.
    process.withLock { $0 }?.signal(SIGSTOP)
    ProcessTable.signal(SIGSTOP, in: folder.data)
  }

  func thaw() {
    ProcessTable.signal(SIGCONT, in: folder.data)
  }

  // MARK: Queries

  /// - Returns: the output of `psql`: one line for each row, with tabs between columns.
  @discardableResult
  func query(_ sql: String, database: String = DatabaseNode.database) async throws -> String {
    try await Tool.run(
      [
        "psql", "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", "\(port)",
        "-U", DatabasePrograms.superuser, "-d", database, "-c", sql,
      ], in: "/tmp", environment: ["PGCONNECT_TIMEOUT": "5"])
  }

  func rows(_ sql: String) async throws -> [[Substring]] {
    try await query(sql).split(separator: "\n").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false)
    }
  }
}
